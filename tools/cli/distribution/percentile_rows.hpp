// SPDX-License-Identifier: Apache-2.0
//
// Rows that say how a distribution's values are spread, behind the row of their count.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <utility>

#include "cli/distribution/percentiles.hpp"
#include "cli/session/selection.hpp"
#include "meterbank/reader/sample.hpp"

namespace meterbank::cli {

// A percentile of `latency` is `latency.p99`: no symbol of a counter holds a point, so no counter
// is called so. Its counter has the unit of the values and no word in any block.
class PercentileRows {
 public:
  explicit PercentileRows(Percentiles percentiles) : percentiles_(std::move(percentiles)) {}

  // Hands over the rows, and behind each of a distribution those of its percentiles. They are valid
  // during the call.
  void each(const RowWalk& rows, ValueSink take);

 private:
  [[nodiscard]] bool give(const Value& row, ValueSink take);

  Percentiles percentiles_;
  std::deque<CounterView> counters_;
  // One a counter and percentile, in the order of percentiles_, for all instances.
  std::map<const CounterView*, std::size_t> first_;  // in counters_
};

}  // namespace meterbank::cli
