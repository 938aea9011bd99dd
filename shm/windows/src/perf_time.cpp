// SPDX-License-Identifier: Apache-2.0
#include "meterbank/windows/perf_time.hpp"

namespace meterbank {
namespace {

constexpr std::int64_t kStepsPerMillisecond = 10'000;
constexpr std::int64_t kMillisecondsPerDay = 86'400'000;
constexpr std::int64_t kDaysFrom1601To1970 = 134'774;

struct Date {
  std::int64_t year, month, day;
};

// Eras of 400 years that begin in March, so that the leap day is the last of its year.
constexpr std::int64_t kDaysPerEra = 146'097;
constexpr std::int64_t kDaysBefore1601 = 584'694;  // from 0000-03-01

constexpr std::int64_t days_from_1601(Date date) noexcept {
  const std::int64_t year = date.month <= 2 ? date.year - 1 : date.year;
  const std::int64_t era = year / 400;
  const std::int64_t year_of_era = year % 400;
  const std::int64_t month = (date.month + 9) % 12;  // March is 0
  const std::int64_t day_of_year = (153 * month + 2) / 5 + date.day - 1;
  return era * kDaysPerEra + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
         kDaysBefore1601;
}
static_assert(days_from_1601({1601, 1, 1}) == 0);
static_assert(days_from_1601({1970, 1, 1}) == kDaysFrom1601To1970);

constexpr Date date_of(std::int64_t since_1601) noexcept {
  const std::int64_t days = since_1601 + kDaysBefore1601;
  const std::int64_t era = days / kDaysPerEra;
  const std::int64_t day_of_era = days % kDaysPerEra;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month = (5 * day_of_year + 2) / 153;
  const std::int64_t calendar_month = month < 10 ? month + 3 : month - 9;
  return {era * 400 + year_of_era + (calendar_month <= 2 ? 1 : 0), calendar_month,
          day_of_year - (153 * month + 2) / 5 + 1};
}

constexpr std::uint16_t part(std::int64_t value) noexcept {
  return static_cast<std::uint16_t>(value);
}

constexpr std::int64_t days_of_month(std::int64_t year, std::int64_t month) noexcept {
  const Date next = month == 12 ? Date{year + 1, 1, 1} : Date{year, month + 1, 1};
  return days_from_1601(next) - days_from_1601({year, month, 1});
}

}  // namespace

std::int64_t windows_time_of(std::uint64_t nanoseconds_since_1970) noexcept {
  return kDaysFrom1601To1970 * kMillisecondsPerDay * kStepsPerMillisecond +
         static_cast<std::int64_t>(nanoseconds_since_1970 / 100);
}

SystemTimeParts system_time_of(std::int64_t windows_time) noexcept {
  const std::int64_t milliseconds = windows_time / kStepsPerMillisecond;
  const std::int64_t days = milliseconds / kMillisecondsPerDay;
  const std::int64_t rest = milliseconds % kMillisecondsPerDay;
  const Date date = date_of(days);
  constexpr std::int64_t kMonday = 1;  // 1601-01-01
  return {part(date.year),        part(date.month),       part((days + kMonday) % 7),
          part(date.day),         part(rest / 3'600'000), part(rest / 60'000 % 60),
          part(rest / 1000 % 60), part(rest % 1000)};
}

std::optional<std::int64_t> windows_time_of(const SystemTimeParts& parts) noexcept {
  const auto [year, month, weekday, day, hour, minute, second, millisecond] = parts;
  static_cast<void>(weekday);
  if (year < 1601 || year > 30827 || month < 1 || month > 12 || day < 1) return std::nullopt;
  if (day > days_of_month(year, month)) return std::nullopt;
  if (hour > 23 || minute > 59 || second > 59 || millisecond > 999) return std::nullopt;
  const std::int64_t of_day =
      ((std::int64_t{hour} * 60 + minute) * 60 + second) * 1000 + millisecond;
  return (days_from_1601({year, month, day}) * kMillisecondsPerDay + of_day) * kStepsPerMillisecond;
}

}  // namespace meterbank
