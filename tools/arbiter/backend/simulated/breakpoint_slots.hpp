// SPDX-License-Identifier: Apache-2.0
//
// Debug registers are given out when a breakpoint is opened, not when it is put on a CPU: on each
// CPU, those of that CPU and the largest number that any one task has must fit. A slot lasts until
// the last descriptor of its event is closed, disabled or not, its task alive or not.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "arbiter/core/cpu_set.hpp"

namespace meterbank::arbiter {

struct BreakpointSlot {
  std::optional<std::uint32_t> cpu;  // nothing: any, which takes `task`
  std::uint32_t task = 0;            // 0: whatever runs on the CPU
};

// Whether `wanted` fits beside `held`, on CPUs that have `slots` each. A breakpoint of a task is
// measured against its own task, one of a CPU against the task that has most.
[[nodiscard]] bool has_slot(std::span<const BreakpointSlot> held, const BreakpointSlot& wanted,
                            const CpuSet& cpus, std::uint32_t slots);

}  // namespace meterbank::arbiter
