// SPDX-License-Identifier: Apache-2.0
//
// Which events are on a PMU of a CPU when the kernel serves all events anew, as it does whenever a
// pinned event comes: CPU-wide pinned events, pinned events of the task that runs, then the same
// two of flexible ones; in each class the oldest first. Once one was left out, no event after it in
// its class gets on.
//
// An exclusive event gets on where no event of its class is on, and shuts out all after it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arbiter/backend/simulated/counter_packing.hpp"
#include "arbiter/core/topology.hpp"

namespace meterbank::arbiter {

enum class ServiceClass : std::uint8_t { kCpuPinned, kTaskPinned, kCpuFlexible, kTaskFlexible };

struct Candidate {
  CounterMask counters = 0;  // any of these
  ServiceClass service = ServiceClass::kCpuPinned;
  bool is_exclusive = false;
};

// Candidates stand in the order of their classes, and of their age. Answers for each of them the
// counter that it is on; nothing: left out.
[[nodiscard]] std::vector<std::optional<std::uint32_t>> serve(std::span<const Candidate> candidates,
                                                              Packing packing);

}  // namespace meterbank::arbiter
