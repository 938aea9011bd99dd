// SPDX-License-Identifier: Apache-2.0
//
// The one thing that the Windows functions have no word for.
#pragma once

#include <chrono>

namespace meterbank {

// A change in a provider that is attached shows in memory: new and closed instances, new sets, its
// death. A provider that has just started does not, so PerfQueryCounterData looks into the runtime
// directory when it has not done so for this long. That look is the only system call of a read
// without changes. The setting holds for the whole process; one second unless set.
void set_scan_interval(std::chrono::nanoseconds interval) noexcept;

// Reads never look. New providers are found by PerfAddCounters, and when another one changes.
inline constexpr std::chrono::nanoseconds kNeverScan = std::chrono::nanoseconds::max();

}  // namespace meterbank
