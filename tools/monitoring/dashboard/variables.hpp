// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "monitoring/dashboard/panels.hpp"
#include "monitoring/monitored_set.hpp"

namespace meterbank::monitoring {

// The variables of a dashboard: data source, instance, provider, and what the sets call their
// instances.
[[nodiscard]] Json variables_of(const MonitoredSets& sets);

}  // namespace meterbank::monitoring
