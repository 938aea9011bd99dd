// SPDX-License-Identifier: Apache-2.0
//
// Which slots of a directory changed since a reader looked at it, by the provider's own log.
//
// Pure, and bounded by kChangesKept: reads the log once, checks its copy, and follows nothing. What
// a hostile provider writes there is a wrong answer about its own slots at worst. Registrations and
// slots in the answer are numbers to be checked like all others.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "meterbank/shm/segment.hpp"

namespace meterbank {

struct ChangedSlot {
  std::uint32_t registration = 0;  // index in SegmentHeader::registrations, below kRegistrationsMax
  std::uint32_t slot = 0;          // counted through the groups of the registration

  friend constexpr auto operator<=>(const ChangedSlot&, const ChangedSlot&) noexcept = default;
};

// What changed after version `known` of the directory, up to version `now`, which the caller has
// loaded; in rising order, each slot once. Nothing: the log does not reach back so far, has been
// written on since, has a change that concerns more than a slot, or the segment has no log.
[[nodiscard]] std::optional<std::vector<ChangedSlot>> read_log(const MappedSegment& segment,
                                                               std::uint64_t known,
                                                               std::uint64_t now);

}  // namespace meterbank
