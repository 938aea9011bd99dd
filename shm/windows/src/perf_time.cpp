// SPDX-License-Identifier: Apache-2.0
#include "meterbank/windows/perf_time.hpp"

#include <chrono>
#include <ratio>

namespace meterbank {
namespace {

using std::chrono::days;
using std::chrono::sys_days;

using Steps = std::chrono::duration<std::int64_t, std::ratio<1, 10'000'000>>;

constexpr sys_days kBegin = sys_days(std::chrono::year_month_day(
    std::chrono::year(1601), std::chrono::month(1), std::chrono::day(1)));
static_assert(std::chrono::weekday(kBegin) == std::chrono::Monday);

template <typename T>
constexpr std::uint16_t part(T value) noexcept {
  return static_cast<std::uint16_t>(value);
}

}  // namespace

std::int64_t windows_time_of(std::uint64_t nanoseconds_since_1970) noexcept {
  const Steps to_1970 = sys_days() - kBegin;
  return to_1970.count() + static_cast<std::int64_t>(nanoseconds_since_1970 / 100);
}

SystemTimeParts system_time_of(std::int64_t windows_time) noexcept {
  const Steps time(windows_time);
  const auto whole_days = std::chrono::duration_cast<days>(time);
  const std::chrono::year_month_day date(kBegin + whole_days);
  const std::chrono::hh_mm_ss of_day(
      std::chrono::duration_cast<std::chrono::milliseconds>(time - whole_days));
  return {part(static_cast<int>(date.year())),
          part(static_cast<unsigned>(date.month())),
          part(std::chrono::weekday(kBegin + whole_days).c_encoding()),
          part(static_cast<unsigned>(date.day())),
          part(of_day.hours().count()),
          part(of_day.minutes().count()),
          part(of_day.seconds().count()),
          part(of_day.subseconds().count())};
}

std::optional<std::int64_t> windows_time_of(const SystemTimeParts& parts) noexcept {
  const auto [year, month, weekday, day, hour, minute, second, millisecond] = parts;
  static_cast<void>(weekday);
  if (year < 1601 || year > 30827 || month > 12 || day > 31) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(month),
                                         std::chrono::day(day)};
  if (!date.ok()) return std::nullopt;
  if (hour > 23 || minute > 59 || second > 59 || millisecond > 999) return std::nullopt;
  const Steps time = sys_days(date) - kBegin + std::chrono::hours(hour) +
                     std::chrono::minutes(minute) + std::chrono::seconds(second) +
                     std::chrono::milliseconds(millisecond);
  return time.count();
}

}  // namespace meterbank
