// SPDX-License-Identifier: Apache-2.0
//
// Names for the events of PMUs. A name that is known already is left as it is, so the first
// source wins: sysfs, then the kernel's generic events, then libpfm4.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "arbiter/backend/perf/perf_machine.hpp"
#include "meterbank/base/unique_fd.hpp"

namespace meterbank::arbiter {

// PERF_COUNT_HW_... of the PMU of this type; 0: the only one there is.
[[nodiscard]] EventCode generic_event(std::uint32_t pmu_type, std::uint64_t number) noexcept;

// Precondition: machine.names has a table for the PMU. `device` is its folder in sysfs.
void name_listed_events(PerfMachine& machine, PmuIndex pmu, const UniqueFd& device);
// "cycles", "instructions" and so on, those that the kernel opens on this CPU.
void name_generic_events(PerfMachine& machine, PmuIndex pmu, bool has_several_pmus,
                         std::uint32_t cpu, PerfCalls& calls);
// Events as (name, code), of the PMU that has the code's type; raw ones are of the first PMU.
void name_events(PerfMachine& machine,
                 const std::vector<std::pair<std::string, EventCode>>& events);

}  // namespace meterbank::arbiter
