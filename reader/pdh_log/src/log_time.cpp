// SPDX-License-Identifier: Apache-2.0
#include "meterbank/pdh_log/log_time.hpp"

#include <algorithm>
#include <ctime>

namespace meterbank {
namespace {

// Takes a number of `digits_min` to `digits_max` digits off the front.
std::optional<unsigned> take_number(std::string_view& text, std::size_t digits_min,
                                    std::size_t digits_max) {
  unsigned number = 0;
  std::size_t digits = 0;
  while (digits < text.size() && digits < digits_max && text[digits] >= '0' &&
         text[digits] <= '9') {
    number = number * 10 + static_cast<unsigned>(text[digits] - '0');
    ++digits;
  }
  if (digits < digits_min) return std::nullopt;
  text.remove_prefix(digits);
  return number;
}

bool take(std::string_view& text, char expected) {
  if (text.empty() || text.front() != expected) return false;
  text.remove_prefix(1);
  return true;
}

void append_padded(std::int64_t number, std::size_t digits, std::string& text) {
  const std::string plain = std::to_string(number);
  text.append(digits - std::min(digits, plain.size()), '0').append(plain);
}

std::tm fields_of(std::uint64_t realtime_ns) {
  const auto seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  std::tm fields{};
  ::localtime_r(&seconds, &fields);
  return fields;
}

// What stands behind the date: nothing, or " HH:MM:SS" and perhaps ".mmm".
std::optional<std::chrono::milliseconds> parse_time_of_day(std::string_view text) {
  if (text.empty()) return std::chrono::milliseconds(0);
  if (!take(text, ' ')) return std::nullopt;
  const auto hours = take_number(text, 1, 2);
  if (!hours || *hours > 23 || !take(text, ':')) return std::nullopt;
  const auto minutes = take_number(text, 2, 2);
  if (!minutes || *minutes > 59 || !take(text, ':')) return std::nullopt;
  const auto seconds = take_number(text, 2, 2);
  // 60 is a leap second.
  if (!seconds || *seconds > 60) return std::nullopt;
  unsigned milliseconds = 0;
  if (!text.empty()) {
    if (!take(text, '.')) return std::nullopt;
    const auto number = take_number(text, 3, 3);
    if (!number || !text.empty()) return std::nullopt;
    milliseconds = *number;
  }
  return std::chrono::hours(*hours) + std::chrono::minutes(*minutes) +
         std::chrono::seconds(*seconds) + std::chrono::milliseconds(milliseconds);
}

}  // namespace

std::string print_log_time(LogTime time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const auto of_day = std::chrono::duration_cast<std::chrono::milliseconds>(time - day).count();
  std::string text;
  append_padded(static_cast<unsigned>(date.month()), 2, text);
  append_padded(static_cast<unsigned>(date.day()), 2, text.append("/"));
  append_padded(static_cast<int>(date.year()), 4, text.append("/"));
  append_padded(of_day / 3'600'000, 2, text.append(" "));
  append_padded(of_day / 60'000 % 60, 2, text.append(":"));
  append_padded(of_day / 1000 % 60, 2, text.append(":"));
  append_padded(of_day % 1000, 3, text.append("."));
  return text;
}

std::optional<LogTime> parse_log_time(std::string_view text) {
  const auto month = take_number(text, 1, 2);
  if (!month || !take(text, '/')) return std::nullopt;
  const auto day = take_number(text, 1, 2);
  if (!day || !take(text, '/')) return std::nullopt;
  const auto year = take_number(text, 4, 4);
  // The first year of Windows' clocks; and room for a leap second and a move to another zone.
  if (!year || *year < 1601 || *year > 9998) return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(*month), std::chrono::day(*day));
  if (!date.ok()) return std::nullopt;
  const auto of_day = parse_time_of_day(text);
  if (!of_day) return std::nullopt;
  return LogTime(std::chrono::local_days(date)) + *of_day;
}

LogTime log_time_of(std::uint64_t realtime_ns) {
  const auto fields = fields_of(realtime_ns);
  const std::chrono::milliseconds utc(realtime_ns / 1'000'000);
  return LogTime(utc) + std::chrono::seconds(fields.tm_gmtoff);
}

LogZone log_zone_at(std::uint64_t realtime_ns) {
  const auto fields = fields_of(realtime_ns);
  return {fields.tm_zone, static_cast<int>(-fields.tm_gmtoff / 60)};
}

}  // namespace meterbank
