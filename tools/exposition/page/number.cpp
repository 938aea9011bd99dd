// SPDX-License-Identifier: Apache-2.0
#include "exposition/page/number.hpp"

#include <bit>
#include <cmath>

namespace meterbank::exposition {
namespace {

using Rule = NumberSource::Rule;

Number real(double value) noexcept { return {Number::Kind::kReal, 0, value}; }

Number share_of(std::uint64_t value, std::uint64_t whole) noexcept {
  if (whole == 0) return {};
  return real(static_cast<double>(value) / static_cast<double>(whole));
}

// Two clocks are read one after the other, so the sum flutters by microseconds.
double to_milliseconds(double seconds) noexcept {
  constexpr double kMilli = 1000;
  return std::round(seconds * kMilli) / kMilli;
}

// Without a clock of its own a set lives by CLOCK_MONOTONIC.
Number start_of(const NumberSource& source, std::uint64_t value, const StoredRow& row,
                const Timestamp& time) noexcept {
  const bool has_clock = source.other != kNoCounter;
  const std::uint64_t now = has_clock ? row[source.other] & source.other_mask : time.monotonic_ns;
  const double frequency =
      source.frequency == kNoCounter ? kNsPerSecond : static_cast<double>(row[source.frequency]);
  if (value == 0 || frequency == 0) return {};
  const double elapsed = value < now ? static_cast<double>(now - value) / frequency : 0;
  return real(to_milliseconds(static_cast<double>(time.realtime_ns) / kNsPerSecond - elapsed));
}

}  // namespace

double Number::as_double() const noexcept {
  switch (kind) {
    case Kind::kUnsigned:
      return static_cast<double>(whole);
    case Kind::kSigned:
      return static_cast<double>(static_cast<std::int64_t>(whole));
    default:
      return real;
  }
}

Number number_of(const NumberSource& source, const StoredRow& row, const Timestamp& time) noexcept {
  const std::uint64_t value = row[source.word] & source.mask;
  const bool is_scaled = source.is_scaled();
  const auto scaled = [&source](double stored) {
    return real(stored * source.factor / source.divisor);
  };
  switch (source.rule) {
    case Rule::kUnsigned:
      if (is_scaled) return scaled(static_cast<double>(value));
      return {Number::Kind::kUnsigned, value, 0};
    case Rule::kSigned:
      if (is_scaled) return scaled(static_cast<double>(static_cast<std::int64_t>(value)));
      return {Number::Kind::kSigned, value, 0};
    case Rule::kReal:
      return scaled(std::bit_cast<double>(value));
    case Rule::kShare:
      return share_of(value, row[source.other] & source.other_mask);
    case Rule::kOfClock:
      return share_of(value, row[source.frequency]);
    case Rule::kStartTime:
      return start_of(source, value, row, time);
  }
  return {};
}

bool can_count(const Number& number) noexcept {
  return number.kind != Number::Kind::kNone && number.as_double() >= 0 &&
         std::isfinite(number.as_double());
}

}  // namespace meterbank::exposition
