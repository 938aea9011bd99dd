// SPDX-License-Identifier: Apache-2.0
//
// Rows that say how a distribution's values are spread, behind the row of their count.
#pragma once

#include <deque>
#include <utility>
#include <vector>

#include "cli/distribution/percentiles.hpp"
#include "meterbank/reader/cook.hpp"

namespace meterbank::cli {

// A percentile of `latency` is `latency.p99`: no symbol of a counter holds a point, so no counter
// is called so. Its counter has the unit of the values and no word in any block.
class PercentileRows {
 public:
  explicit PercentileRows(Percentiles percentiles) : percentiles_(std::move(percentiles)) {}

  // The rows, and behind each of a distribution those of its percentiles. Valid until the next
  // call, and no longer than `rows`.
  [[nodiscard]] const std::vector<CookedRow>& of(const std::vector<CookedRow>& rows);

 private:
  Percentiles percentiles_;
  std::deque<CounterView> counters_;
  std::vector<CookedRow> rows_;
};

}  // namespace meterbank::cli
