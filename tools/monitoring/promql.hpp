// SPDX-License-Identifier: Apache-2.0
//
// Queries in PromQL over the metrics of one family.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "monitoring/monitored_set.hpp"

namespace meterbank::monitoring {

// Of histograms, in per cent.
inline constexpr std::array kPercentiles = {50U, 90U, 99U};

// Which series a query takes, and what it makes one series of.
struct Scope {
  std::string selector;     // {label=~"..."}, or empty: all series
  std::string_view window;  // "5m"
  std::string by;           // labels that tell the results apart: "job, instance"
};

// Of a counter: units a second, added up.
[[nodiscard]] std::string rate_of(const MonitoredFamily& counter, const Scope& scope);
// Of a counter of idle time: the share of the time that was not idle, on average.
[[nodiscard]] std::string busy_share_of(const MonitoredFamily& counter, const Scope& scope);
// Of a counter and the one that it is a part of.
[[nodiscard]] std::string ratio_of(const MonitoredFamily& hits, const MonitoredFamily& base,
                                   const Scope& scope);
// Of a summary: the mean of what was observed in the window.
[[nodiscard]] std::string mean_of(const MonitoredFamily& summary, const Scope& scope);
// Of a native histogram: the value that `percent` of the observations do not exceed.
[[nodiscard]] std::string percentile_of(const MonitoredFamily& histogram, unsigned percent,
                                        const Scope& scope);
// Of a native histogram: observations a second.
[[nodiscard]] std::string observations_of(const MonitoredFamily& histogram, const Scope& scope);
// The buckets themselves.
[[nodiscard]] std::string buckets_of(const MonitoredFamily& histogram, const Scope& scope);

// A series that each row has.
[[nodiscard]] std::string sample_of(const MonitoredFamily& family);

}  // namespace meterbank::monitoring
