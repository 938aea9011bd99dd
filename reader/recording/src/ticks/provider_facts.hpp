// SPDX-License-Identifier: Apache-2.0
//
// What a recording keeps of a provider.
#pragma once

#include <cstdint>

#include "../frames/bytes.hpp"
#include "meterbank/reader/replay.hpp"

namespace meterbank::recording {

struct RecordedFacts {
  ReplayedProvider provider;
  // As they were when anything else of the provider changed last.
  std::uint64_t heartbeat_age_ns = 0;
  std::uint64_t refused = 0;
};

// What changes without an event: the directory with each instance, the age all the time.
struct MovingFacts {
  std::uint64_t directory_version = 0;
  std::uint64_t heartbeat_age_ns = 0;
};
[[nodiscard]] MovingFacts moving_facts_of(const ProviderView& provider) noexcept;

void append_facts(const ProviderView& provider, const MovingFacts& moving, ByteWriter& out);
// Meaningless if `in` has failed afterwards.
[[nodiscard]] RecordedFacts read_facts(ByteReader& in);

}  // namespace meterbank::recording
