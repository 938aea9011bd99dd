// SPDX-License-Identifier: Apache-2.0
#include "cli/format/moment.hpp"

#include <fmt/format.h>

#include <ctime>

namespace meterbank::cli {

std::string print_utc(std::uint64_t realtime_ns) {
  const auto seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  std::tm fields{};
  ::gmtime_r(&seconds, &fields);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", fields.tm_year + 1900,
                     fields.tm_mon + 1, fields.tm_mday, fields.tm_hour, fields.tm_min,
                     fields.tm_sec, realtime_ns / 1'000'000 % 1000);
}

std::string print_local(std::uint64_t realtime_ns, bool milliseconds) {
  const auto seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  std::tm fields{};
  ::localtime_r(&seconds, &fields);
  const auto clock =
      fmt::format("{:02}:{:02}:{:02}", fields.tm_hour, fields.tm_min, fields.tm_sec);
  return milliseconds ? fmt::format("{}.{:03}", clock, realtime_ns / 1'000'000 % 1000) : clock;
}

}  // namespace meterbank::cli
