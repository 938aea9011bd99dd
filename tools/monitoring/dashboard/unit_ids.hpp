// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "monitoring/monitored_set.hpp"

namespace meterbank::monitoring {

// How Grafana shows the numbers of a panel.
struct PanelUnit {
  std::string_view id;     // "binBps", "percentunit", "short"
  std::string axis_label;  // "{order}/s" where Grafana has no such unit; may be empty
};

// Of what the panel of the family shows: the rate of a count, the level of a gauge.
[[nodiscard]] PanelUnit panel_unit_of(const MonitoredFamily& family);

}  // namespace meterbank::monitoring
