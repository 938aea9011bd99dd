// SPDX-License-Identifier: Apache-2.0
#include "cli/format/time_text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <ctime>

#include "cli/format/quantity.hpp"

namespace meterbank::cli {
namespace {

struct Unit {
  std::string_view name;
  double seconds;
};
constexpr std::array kUnits{Unit{"ns", 1e-9},  Unit{"us", 1e-6},  Unit{"µs", 1e-6},
                            Unit{"ms", 1e-3},  Unit{"s", 1.0},    Unit{"m", 60.0},
                            Unit{"min", 60.0}, Unit{"h", 3600.0}, Unit{"d", 86400.0}};

std::optional<double> parse_number(std::string_view text) {
  if (text.empty()) return std::nullopt;
  // from_chars also takes "inf", "nan" and a sign; a span is digits and perhaps a point.
  if (text.find_first_not_of("0123456789.") != std::string_view::npos) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_clock_form(std::string_view text) {
  double seconds = 0;
  for (int fields = 1;; ++fields) {
    const auto colon = text.find(':');
    const bool last = colon == std::string_view::npos;
    const auto field = parse_number(text.substr(0, colon));
    if (!field || fields > 3) return std::nullopt;
    if (!last && *field != std::floor(*field)) return std::nullopt;
    if (fields > 1 && *field >= 60) return std::nullopt;
    seconds = seconds * 60 + *field;
    if (last) return seconds;
    text.remove_prefix(colon + 1);
  }
}

std::optional<double> parse_seconds(std::string_view text) {
  if (text.find(':') != std::string_view::npos) return parse_clock_form(text);
  const auto unit_begin = text.find_first_not_of("0123456789.");
  const auto number = parse_number(text.substr(0, unit_begin));
  if (!number) return std::nullopt;
  if (unit_begin == std::string_view::npos) return number;
  for (const auto& unit : kUnits) {
    if (text.substr(unit_begin) == unit.name) return *number * unit.seconds;
  }
  return std::nullopt;
}

std::tm local_fields(std::uint64_t realtime_ns) {
  const auto seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  std::tm fields{};
  ::localtime_r(&seconds, &fields);
  return fields;
}

bool is_same_day(const std::tm& one, const std::tm& other) {
  return one.tm_year == other.tm_year && one.tm_yday == other.tm_yday;
}

}  // namespace

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  const auto seconds = parse_seconds(text);
  if (!seconds || *seconds > kDurationSecondsMax) return std::nullopt;
  return std::chrono::nanoseconds(std::llround(*seconds * 1e9));
}

std::string print_duration(double seconds) {
  if (seconds < 0) return "-" + print_duration(-seconds);
  if (seconds == 0) return "0 s";
  if (seconds < 0.9995e-6) return print_digits(seconds * 1e9) + " ns";
  if (seconds < 0.9995e-3) return print_digits(seconds * 1e6) + " µs";
  if (seconds < 0.9995) return print_digits(seconds * 1e3) + " ms";
  if (seconds < 59.95) return print_digits(seconds) + " s";
  // Days beyond 64 bits of seconds are not readable.
  if (seconds > 1e15) return fmt::format("{:.2e} s", seconds);
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{}h{:02}m", whole / 3600, whole % 3600 / 60);
  return fmt::format("{}d{:02}h", whole / 86400, whole % 86400 / 3600);
}

std::string print_interval(std::chrono::nanoseconds span) {
  const auto count = span.count();
  struct Step {
    std::int64_t nanoseconds;
    std::string_view name;
  };
  constexpr std::array kSteps{
      Step{3'600'000'000'000, "h"}, Step{60'000'000'000, "m"}, Step{1'000'000'000, "s"},
      Step{1'000'000, "ms"},        Step{1'000, "us"},         Step{1, "ns"}};
  for (const auto& step : kSteps) {
    if (count != 0 && count % step.nanoseconds == 0) {
      return fmt::format("{}{}", count / step.nanoseconds, step.name);
    }
  }
  return "0s";
}

std::string print_utc(std::uint64_t realtime_ns) {
  const auto seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  std::tm fields{};
  ::gmtime_r(&seconds, &fields);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", fields.tm_year + 1900,
                     fields.tm_mon + 1, fields.tm_mday, fields.tm_hour, fields.tm_min,
                     fields.tm_sec, realtime_ns / 1'000'000 % 1000);
}

LocalForm form_of_range(std::uint64_t from_ns, std::uint64_t to_ns, std::uint64_t now_ns,
                        bool milliseconds) {
  const std::tm from = local_fields(from_ns), to = local_fields(to_ns), now = local_fields(now_ns);
  // Between two changes of the clocks are months.
  constexpr std::uint64_t kStep = std::uint64_t{30} * 86'400 * 1'000'000'000;
  bool has_other_offset = from.tm_gmtoff != to.tm_gmtoff;
  for (auto at = from_ns; !has_other_offset && to_ns > at && to_ns - at > kStep; at += kStep) {
    has_other_offset = local_fields(at + kStep).tm_gmtoff != from.tm_gmtoff;
  }
  return {.date = has_other_offset || !is_same_day(from, now) || !is_same_day(to, now),
          .milliseconds = milliseconds,
          .offset = has_other_offset};
}

std::string print_local(std::uint64_t realtime_ns, const LocalForm& form) {
  const std::tm fields = local_fields(realtime_ns);
  std::string text;
  if (form.date) {
    text =
        fmt::format("{:04}-{:02}-{:02} ", fields.tm_year + 1900, fields.tm_mon + 1, fields.tm_mday);
  }
  text += fmt::format("{:02}:{:02}:{:02}", fields.tm_hour, fields.tm_min, fields.tm_sec);
  if (form.milliseconds) text += fmt::format(".{:03}", realtime_ns / 1'000'000 % 1000);
  if (form.offset) {
    const long minutes = std::abs(fields.tm_gmtoff) / 60;
    text +=
        fmt::format("{}{:02}:{:02}", fields.tm_gmtoff < 0 ? '-' : '+', minutes / 60, minutes % 60);
  }
  return text;
}

std::string print_local(std::uint64_t realtime_ns, bool milliseconds) {
  return print_local(realtime_ns, LocalForm{.milliseconds = milliseconds});
}

std::string print_moment(std::uint64_t realtime_ns, std::uint64_t now_ns) {
  return print_local(realtime_ns, form_of_range(realtime_ns, realtime_ns, now_ns));
}

}  // namespace meterbank::cli
