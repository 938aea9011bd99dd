// SPDX-License-Identifier: Apache-2.0
#include "arbiter/backend/simulated/breakpoint_slots.hpp"

#include <algorithm>
#include <map>

namespace meterbank::arbiter {
namespace {

[[nodiscard]] bool fits_on(std::span<const BreakpointSlot> held, const BreakpointSlot& wanted,
                           std::uint32_t cpu, std::uint32_t slots) {
  std::uint32_t of_cpu = 0;
  std::map<std::uint32_t, std::uint32_t> of_tasks;
  for (const BreakpointSlot& slot : held) {
    if (slot.cpu.value_or(cpu) != cpu) continue;
    ++(slot.task == 0 ? of_cpu : of_tasks[slot.task]);
  }
  std::uint32_t beside = 0;
  if (wanted.task != 0) {
    beside = of_tasks[wanted.task];
  } else {
    for (const auto& [task, count] : of_tasks) beside = std::max(beside, count);
  }
  return of_cpu + beside < slots;
}

}  // namespace

bool has_slot(std::span<const BreakpointSlot> held, const BreakpointSlot& wanted,
              const CpuSet& cpus, std::uint32_t slots) {
  if (wanted.cpu) return fits_on(held, wanted, *wanted.cpu, slots);
  for (const std::uint32_t cpu : cpus.numbers()) {
    if (!fits_on(held, wanted, cpu, slots)) return false;
  }
  return true;
}

}  // namespace meterbank::arbiter
