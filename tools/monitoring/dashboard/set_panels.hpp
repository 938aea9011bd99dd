// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "monitoring/dashboard/panels.hpp"
#include "monitoring/monitored_set.hpp"

namespace meterbank::monitoring {

// The series that the variables of the dashboard select, as {label=~"$label",...}.
[[nodiscard]] std::string chosen_series(const MonitoredSet& set);

// Whether providers run, and what is known of them.
void add_provider_panels(std::string_view prefix, PanelGrid& grid);
// A row for each group of counters that the set has.
void add_set_panels(const MonitoredSet& set, PanelGrid& grid);

}  // namespace meterbank::monitoring
