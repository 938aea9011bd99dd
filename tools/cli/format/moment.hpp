// SPDX-License-Identifier: Apache-2.0
//
// Moments as text: UTC for machines, local time for people.
#pragma once

#include <cstdint>
#include <string>

namespace meterbank::cli {

// "2026-11-21T09:04:40.002Z"
[[nodiscard]] std::string print_utc(std::uint64_t realtime_ns);
// "09:04:40" where the process thinks it is; `milliseconds` adds ".002".
[[nodiscard]] std::string print_local(std::uint64_t realtime_ns, bool milliseconds = false);

}  // namespace meterbank::cli
