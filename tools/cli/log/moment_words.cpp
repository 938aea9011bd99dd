// SPDX-License-Identifier: Apache-2.0
#include "cli/log/moment_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <ctime>
#include <optional>
#include <string>

#include "cli/arguments/option_values.hpp"

namespace meterbank::cli {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// Takes pieces off the front of a text.
class Pieces {
 public:
  explicit Pieces(std::string_view text) noexcept : rest_(text) {}

  // Digits, at least and at most so many.
  [[nodiscard]] std::optional<int> digits(std::size_t least, std::size_t most) noexcept {
    std::size_t count = 0;
    while (count < rest_.size() && count < most && rest_[count] >= '0' && rest_[count] <= '9') {
      ++count;
    }
    if (count < least) return std::nullopt;
    int value = 0;
    std::from_chars(rest_.data(), rest_.data() + count, value);
    rest_.remove_prefix(count);
    return value;
  }
  [[nodiscard]] bool take(char one) noexcept {
    if (!rest_.starts_with(one)) return false;
    rest_.remove_prefix(1);
    return true;
  }
  // ".250" as nanoseconds; 0 without a point.
  [[nodiscard]] std::optional<std::uint64_t> fraction() noexcept {
    if (!take('.')) return 0;
    std::uint64_t value = 0;
    std::size_t count = 0;
    for (; count < rest_.size() && rest_[count] >= '0' && rest_[count] <= '9'; ++count) {
      if (count < 9) value = value * 10 + static_cast<std::uint64_t>(rest_[count] - '0');
    }
    if (count == 0) return std::nullopt;
    for (std::size_t place = count; place < 9; ++place) value *= 10;
    rest_.remove_prefix(count);
    return value;
  }
  [[nodiscard]] std::string_view rest() const noexcept { return rest_; }

 private:
  std::string_view rest_;
};

struct TimeOfDay {
  int hour = 0, minute = 0, second = 0;
  std::uint64_t fraction_ns = 0;
};

std::optional<TimeOfDay> read_time_of_day(Pieces& pieces) noexcept {
  TimeOfDay time;
  const auto hour = pieces.digits(1, 2);
  if (!hour || !pieces.take(':')) return std::nullopt;
  const auto minute = pieces.digits(2, 2);
  if (!minute) return std::nullopt;
  time.hour = *hour;
  time.minute = *minute;
  if (pieces.take(':')) {
    const auto second = pieces.digits(2, 2);
    const auto fraction = second ? pieces.fraction() : std::nullopt;
    if (!fraction) return std::nullopt;
    time.second = *second;
    time.fraction_ns = *fraction;
  }
  // 60: a leap second, which the clock of the machine shows as the next one.
  if (time.hour > 23 || time.minute > 59 || time.second > 60) return std::nullopt;
  return time;
}

std::tm local_day_of(std::uint64_t realtime_ns) noexcept {
  const auto seconds = static_cast<std::time_t>(realtime_ns / kSecond);
  std::tm day{};
  ::localtime_r(&seconds, &day);
  return day;
}

// On the day of `day`, which is put in order where it is the day before the first of a month.
// `is_dst`: of an hour that occurs twice, 1 is the first and 0 the second; -1: the system's choice.
std::uint64_t local_moment(std::tm day, const TimeOfDay& time, int is_dst = -1) noexcept {
  day.tm_hour = time.hour;
  day.tm_min = time.minute;
  day.tm_sec = time.second;
  day.tm_isdst = is_dst;
  return static_cast<std::uint64_t>(std::mktime(&day)) * kSecond + time.fraction_ns;
}

std::optional<std::uint64_t> read_day_and_time(Pieces& pieces, std::tm day) {
  const auto time = read_time_of_day(pieces);
  if (!time || !pieces.rest().empty()) return std::nullopt;
  return local_moment(day, *time);
}

// The last moment of the day with this time of day that is not after the reference: an hour that
// occurs twice has two, and the system chooses one that is not there at all.
std::optional<std::uint64_t> last_on(const std::tm& day, const TimeOfDay& time,
                                     std::uint64_t reference_ns) noexcept {
  bool is_there = false;
  for (const int is_dst : {0, 1}) {
    const std::uint64_t moment = local_moment(day, time, is_dst);
    const std::tm shown = local_day_of(moment);
    if (shown.tm_hour != time.hour || shown.tm_min != time.minute || shown.tm_isdst != is_dst) {
      continue;
    }
    is_there = true;
    if (moment <= reference_ns) return moment;
  }
  const std::uint64_t moment = local_moment(day, time);
  return !is_there && moment <= reference_ns ? std::optional(moment) : std::nullopt;
}

std::optional<std::uint64_t> read_time_alone(std::string_view word, std::uint64_t reference_ns) {
  Pieces pieces(word);
  const auto time = read_time_of_day(pieces);
  if (!time || !pieces.rest().empty()) return std::nullopt;
  std::tm day = local_day_of(reference_ns);
  if (const auto moment = last_on(day, *time, reference_ns)) return moment;
  day.tm_mday -= 1;
  return last_on(day, *time, reference_ns);
}

std::optional<std::uint64_t> read_yesterday(std::string_view word, std::uint64_t reference_ns) {
  Pieces pieces(word);
  std::tm day = local_day_of(reference_ns);
  day.tm_mday -= 1;
  return read_day_and_time(pieces, day);
}

// "+01:00", "-0530" or "Z" in seconds east of UTC.
std::optional<int> read_zone(Pieces& pieces) noexcept {
  if (pieces.take('Z') || pieces.take('z')) return 0;
  const bool is_east = pieces.take('+');
  if (!is_east && !pieces.take('-')) return std::nullopt;
  const auto hours = pieces.digits(2, 2);
  static_cast<void>(pieces.take(':'));
  const auto minutes = pieces.digits(2, 2);
  if (!hours || !minutes || *hours > 14 || *minutes > 59) return std::nullopt;
  const int seconds = *hours * 3600 + *minutes * 60;
  return is_east ? seconds : -seconds;
}

std::optional<std::uint64_t> read_date(std::string_view word) {
  Pieces pieces(word);
  std::tm day{};
  const auto year = pieces.digits(4, 4);
  if (!year || !pieces.take('-')) return std::nullopt;
  const auto month = pieces.digits(2, 2);
  if (!month || !pieces.take('-')) return std::nullopt;
  const auto date = pieces.digits(2, 2);
  if (!date || *year < 1970) return std::nullopt;
  const std::chrono::year_month_day known(std::chrono::year(*year),
                                          std::chrono::month(static_cast<unsigned>(*month)),
                                          std::chrono::day(static_cast<unsigned>(*date)));
  if (!known.ok()) return std::nullopt;
  day.tm_year = *year - 1900;
  day.tm_mon = *month - 1;
  day.tm_mday = *date;
  TimeOfDay time;
  if (pieces.take('T') || pieces.take(' ')) {
    const auto read = read_time_of_day(pieces);
    if (!read) return std::nullopt;
    time = *read;
  }
  if (pieces.rest().empty()) return local_moment(day, time);
  const auto zone = read_zone(pieces);
  if (!zone || !pieces.rest().empty()) return std::nullopt;
  day.tm_hour = time.hour;
  day.tm_min = time.minute;
  day.tm_sec = time.second;
  const std::int64_t seconds = ::timegm(&day) - *zone;
  if (seconds < 0) return std::nullopt;
  return static_cast<std::uint64_t>(seconds) * kSecond + time.fraction_ns;
}

std::optional<std::uint64_t> read_seconds(std::string_view word) {
  std::uint64_t seconds = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), seconds);
  constexpr std::uint64_t kMost = ~std::uint64_t{0} / kSecond - 1;
  if (error != std::errc() || seconds > kMost) return std::nullopt;
  Pieces pieces(word.substr(static_cast<std::size_t>(end - word.data())));
  const auto fraction = pieces.fraction();
  if (!fraction || !pieces.rest().empty()) return std::nullopt;
  return seconds * kSecond + *fraction;
}

std::optional<std::uint64_t> read_span_before(std::string_view word, std::uint64_t reference_ns) {
  std::optional<std::chrono::nanoseconds> span;
  if (!read_span(word, "", span) || !span) return std::nullopt;
  const auto back = static_cast<std::uint64_t>(span->count());
  return back > reference_ns ? 0 : reference_ns - back;
}

std::optional<std::uint64_t> read_moment(std::string_view word, std::uint64_t reference_ns) {
  constexpr std::string_view kYesterday = "yesterday ";
  if (word.starts_with('-')) return read_span_before(word.substr(1), reference_ns);
  if (word.starts_with('@')) return read_seconds(word.substr(1));
  if (word.starts_with(kYesterday)) {
    return read_yesterday(word.substr(kYesterday.size()), reference_ns);
  }
  if (auto moment = read_date(word)) return moment;
  return read_time_alone(word, reference_ns);
}

}  // namespace

Result<std::uint64_t> parse_moment(std::string_view word, std::uint64_t reference_ns) {
  const auto moment = read_moment(word, reference_ns);
  if (moment) return *moment;
  return usage(fmt::format("'{}' is not a time", word),
               "03:12, 'yesterday 03:12', '2026-11-27 03:12:05', -15m or @1764213120");
}

std::optional<std::uint64_t> on_day_of(std::uint64_t reference_ns, std::string_view word) {
  Pieces pieces(word);
  return read_day_and_time(pieces, local_day_of(reference_ns));
}

std::uint64_t last_meant_by(std::string_view word, std::uint64_t moment_ns) noexcept {
  constexpr std::uint64_t kMillisecond = 1'000'000;
  constexpr std::size_t kDigitsPrinted = 3;
  const auto fraction = word.substr(std::min(word.find('.'), word.size()));
  const auto digits = fraction.find_first_not_of("0123456789", 1);
  if (std::min(digits, fraction.size()) > 1 + kDigitsPrinted) return moment_ns;
  return moment_ns / kMillisecond * kMillisecond + (kMillisecond - 1);
}

}  // namespace meterbank::cli
