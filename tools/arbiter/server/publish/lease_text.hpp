// SPDX-License-Identifier: Apache-2.0
//
// What a lease has, in words.
#pragma once

#include <cstdint>
#include <string>

#include "arbiter/core/lease.hpp"
#include "arbiter/core/topology.hpp"

namespace meterbank::arbiter {

struct LeaseText {
  std::string pmus;      // "cpu_core", or several with commas between
  std::string cpus;      // "0-3", "thread 4711"
  std::string counters;  // "2 of any, 0-1, fixed 0": of the first PMU; "all": the PMU alone
  std::uint64_t counters_held = 0;
};

[[nodiscard]] LeaseText describe(const Lease& lease, const Topology& topology);

}  // namespace meterbank::arbiter
