// SPDX-License-Identifier: Apache-2.0
//
// Times in PDH text logs: what a clock on the wall showed, without the zone that it hung in.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace meterbank {

using LogTime = std::chrono::local_time<std::chrono::milliseconds>;

// Name and bias as the header of a log has them: UTC is local time plus bias.
struct LogZone {
  std::string name;
  int bias_minutes = 0;

  friend bool operator==(const LogZone&, const LogZone&) = default;
};

// "11/21/2026 09:04:39.002"
[[nodiscard]] std::string print_log_time(LogTime time);

// "M/D/YYYY", "M/D/YYYY HH:MM:SS" or the same with ".mmm", from 1601 to 9998; nothing for days and
// hours that do not exist.
[[nodiscard]] std::optional<LogTime> parse_log_time(std::string_view text);

// Of this process (TZ), at the moment `realtime_ns`.
[[nodiscard]] LogTime log_time_of(std::uint64_t realtime_ns);
[[nodiscard]] LogZone log_zone_at(std::uint64_t realtime_ns);

}  // namespace meterbank
