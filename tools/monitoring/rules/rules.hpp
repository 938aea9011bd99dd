// SPDX-License-Identifier: Apache-2.0
//
// Rules of Prometheus for countersets, as a file for `rule_files`. docs/rules-and-dashboards.md
// lists them. They need native histograms for percentiles, which Prometheus has since 2.40.
//
//   group meterbank_agent:alerts  alerts about the agent and providers of any set
//   group meterbank_demo_orders   recordings of the set, then alerts about its providers
#pragma once

#include <string>

#include "monitoring/monitored_set.hpp"

namespace meterbank::monitoring {

// YAML. Ends with a line end; the same sets give the same bytes.
[[nodiscard]] std::string prometheus_rules(const MonitoredSets& sets);

}  // namespace meterbank::monitoring
