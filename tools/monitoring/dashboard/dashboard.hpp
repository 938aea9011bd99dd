// SPDX-License-Identifier: Apache-2.0
//
// A dashboard of Grafana 10 or newer for countersets. docs/rules-and-dashboards.md shows what it
// has.
#pragma once

#include <string>

#include "monitoring/monitored_set.hpp"

namespace meterbank::monitoring {

// JSON in ASCII. Ends with a line end; the same sets give the same bytes, also the same uid.
[[nodiscard]] std::string grafana_dashboard(const MonitoredSets& sets);

}  // namespace meterbank::monitoring
