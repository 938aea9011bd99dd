// SPDX-License-Identifier: Apache-2.0
//
// From the directory of an attached segment to registered sets with their instances.
//
// Pure: reads the mapped memory and nothing else. Whatever the memory contains, the decoder neither
// reads outside it nor goes on for ever: every shared field is loaded once into a local and the
// local is checked, every list has a cap, and what is visited of groups, schemas and long names may
// in sum not exceed the mapped size, which ends cycles and shared pieces. A set that does not hold
// together is left out with a reason; the others are served. What is read by the log of changes is
// checked and charged by the same rules as what is found by walking.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "meterbank/base/result.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank {

struct DecodedDirectory {
  std::uint64_t version = 0;  // of the directory; what follows is at least as new
  std::vector<RegisteredSet> sets;
  std::vector<Error> errors;  // kCorrupt, at most a few for each registration
};

// `known` is what an earlier call returned for the same segment: a schema that was decoded once is
// not decoded again, because it is constant for the life of the segment.
[[nodiscard]] DecodedDirectory decode_directory(const MappedSegment& segment,
                                                const std::vector<RegisteredSet>& known = {});

// The same, at the cost of what changed: `known` is whole, was decoded of the same MappedSegment,
// and only the slots that the provider's log of changes names since are read again. Nothing: the
// log does not tell, or what it tells does not fit what is known; then the directory has to be
// decoded.
//
// Cost  A copy of the InstancePieces that have a changed slot, and of the table of pieces of each
//       set that changed; no more than kChangesKept slots are read.
struct KnownDirectory {
  std::uint64_t version = 0;
  const std::vector<RegisteredSet>& sets;
};
[[nodiscard]] std::optional<DecodedDirectory> decode_changes(const MappedSegment& segment,
                                                             const KnownDirectory& known);

}  // namespace meterbank
