// SPDX-License-Identifier: Apache-2.0
//
// Events by the names of libpfm4. Its header brings a copy of the kernel's, so nothing that
// includes the kernel's own is included here.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "arbiter/backend/perf/events/event_format.hpp"

namespace meterbank::arbiter {

// All that libpfm4 knows of the cores of this machine, "EVENT" and "EVENT:UNIT_MASK", as counted in
// user and kernel mode. The type is PERF_TYPE_RAW where there is one PMU.
[[nodiscard]] std::vector<std::pair<std::string, EventCode>> libpfm_events();

}  // namespace meterbank::arbiter
