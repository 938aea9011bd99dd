// SPDX-License-Identifier: Apache-2.0
//
// The metrics of PCP that a counterset becomes. docs/pcp.md has the table.
#pragma once

#include <pcp/pmapi.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "exposition/family/family.hpp"

namespace meterbank::pcp {

// How one value is read from a row.
struct MetricSource {
  enum class Part : std::uint8_t {
    kNumber,
    kText,
    kCount,     // of a distribution: how many values
    kSum,       // their sum
    kQuantile,  // the value that `share` of the recent ones do not exceed; see RecentWindow
    kMost,      // the greatest
  };
  Part part = Part::kNumber;
  bool only_grows = false;               // kNumber: a value that cannot be a count is left out
  exposition::NumberSource number;       // kNumber
  std::uint64_t multiple = 1;            // kNumber without a scale of its own
  double share = 0;                      // kQuantile
  std::size_t marked_at = 0;             // kQuantile: place among the words of all distributions
  double factor = 1, divisor = 1;        // kSum, kQuantile, kMost
  const CounterView* counter = nullptr;  // in the counterset
};

struct SetMetric {
  std::string path;  // below the set: "accepted", "latency.p99"
  int type = PM_TYPE_U64;
  int semantics = PM_SEM_INSTANT;
  pmUnits units = {};
  std::string ucum;           // of a unit that PCP lacks
  std::string oneline, help;  // UTF-8 without control characters other than line ends
  MetricSource source;
};

// Of these counters, given as indexes in Counterset::counters. Paths differ.
[[nodiscard]] std::vector<SetMetric> metrics_of(const Counterset& set,
                                                std::span<const std::uint32_t> counters);

}  // namespace meterbank::pcp
