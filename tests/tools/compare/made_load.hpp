// SPDX-License-Identifier: Apache-2.0
//
// Recordings of a service under a load that wanders, made from numbers of a seed.
//
// Requests and bytes are counted as a process of Poisson would; the load is an autoregressive
// process that all instances share, and each has one of its own; latencies are log-normal and grow
// with the load; levels are queues that wander and are seen through noise. Nothing drifts.
#pragma once

#include <cstdint>
#include <string>

#include "compare/observation.hpp"

namespace meterbank::test {

struct LoadPlan {
  std::uint64_t seed = 1;
  std::uint32_t ticks = 61;
  std::uint64_t interval_ns = 1'000'000'000;
  std::uint32_t instances = 60;     // of four counters each
  double likeness = 0.8;            // of the load of one second and the next
  double values_a_second = 20'000;  // of each of two distributions
  double p99_step = 1;              // what lies above the 90th percentile is multiplied by this
  double rate_step = 1;             // of the requests of one instance
};

[[nodiscard]] std::string made_load(const LoadPlan& plan);  // the bytes of a recording

// What a comparison has to know of a whole recording.
[[nodiscard]] compare::Observation observe(const std::string& path);

}  // namespace meterbank::test
