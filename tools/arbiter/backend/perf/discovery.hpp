// SPDX-License-Identifier: Apache-2.0
//
// What this machine has to lend: its PMUs as sysfs lists them, with as many counters as the
// processor and the kernel say, and the names of their events.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "arbiter/backend/perf/core_counters.hpp"
#include "arbiter/backend/perf/perf_machine.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank::arbiter {

struct DiscoveryOptions {
  std::string topology;          // a file that says how many counters there are; empty: find out
  bool has_libpfm_names = true;  // names of libpfm4, where this program was built with it
  std::function<CoreCounters(std::uint32_t cpu)> core_counters = &core_counters_on;
};

struct Discovered {
  PerfMachine machine;
  std::string why_no_pmu;  // no PMU of a core can be used, and what to change
};

// `sysfs` is an open directory. PMUs that cannot be opened are left out. Errors: those of the
// topology file; kNotFound for a PMU of it that the kernel has not.
[[nodiscard]] Result<Discovered> discover(int sysfs, const DiscoveryOptions& options,
                                          PerfCalls& calls);

}  // namespace meterbank::arbiter
