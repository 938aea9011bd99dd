// SPDX-License-Identifier: Apache-2.0
//
// Reading numbers and lines out of kernel text.
//
// The text is foreign: a file may be cut short, hold a huge line, or grow a column in the next
// kernel. Every function here looks at each byte at most once, never reads outside its view and
// answers "no value" rather than a guess. A number that does not fit is not a value either.
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <system_error>

namespace meterbank::host {

inline constexpr std::uint64_t k100nsPerSecond = 10'000'000;
inline constexpr std::uint64_t k100nsPerMillisecond = 10'000;
inline constexpr std::uint64_t k100nsPerMicrosecond = 10;

// The two constants of the running kernel that turn its units into ours.
struct MachineUnits {
  std::uint64_t ticks_per_second = 100;
  std::uint64_t page_bytes = 4096;

  [[nodiscard]] static MachineUnits of_this_machine() noexcept;
};

[[nodiscard]] inline std::uint64_t multiply_saturated(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::numeric_limits<std::uint64_t>::max();
  return product;
}

[[nodiscard]] inline std::uint64_t add_saturated(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::numeric_limits<std::uint64_t>::max();
  return sum;
}

// Whole seconds and the rest are scaled apart, so that no product overflows before 58,000 years.
[[nodiscard]] inline std::uint64_t ticks_to_100ns(std::uint64_t ticks,
                                                  std::uint64_t ticks_per_second) noexcept {
  if (ticks_per_second == 0) return 0;
  const std::uint64_t whole = multiply_saturated(ticks / ticks_per_second, k100nsPerSecond);
  const std::uint64_t rest =
      multiply_saturated(ticks % ticks_per_second, k100nsPerSecond) / ticks_per_second;
  return add_saturated(whole, rest);
}

// The whole of `text` must be the number; "12kB", "-1", "" and 2^64 are not values.
template <typename Integer>
[[nodiscard]] std::optional<Integer> parse_integer(std::string_view text) noexcept {
  Integer value = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped_at, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc{}) return std::nullopt;
  if (stopped_at != end) return std::nullopt;
  return value;
}

[[nodiscard]] inline std::optional<std::uint64_t> parse_u64(std::string_view text) noexcept {
  return parse_integer<std::uint64_t>(text);
}

[[nodiscard]] inline bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

[[nodiscard]] inline std::string_view trim(std::string_view text) noexcept {
  const auto is_edge = [](char c) { return is_blank(c) || c == '\n'; };
  while (!text.empty() && is_edge(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_edge(text.back())) text.remove_suffix(1);
  return text;
}

// "1234.56" with two decimals is 123456. Missing decimals count as zeros, surplus ones are cut.
[[nodiscard]] inline std::optional<std::uint64_t> parse_fixed(std::string_view text,
                                                              unsigned decimals) noexcept {
  const std::size_t point = text.find('.');
  const std::optional<std::uint64_t> whole = parse_u64(text.substr(0, point));
  if (!whole) return std::nullopt;
  std::string_view fraction;
  if (point != std::string_view::npos) fraction = text.substr(point + 1);
  std::uint64_t value = *whole;
  for (unsigned i = 0; i < decimals; ++i) {
    std::uint64_t digit = 0;
    if (i < fraction.size()) {
      if (fraction[i] < '0' || fraction[i] > '9') return std::nullopt;
      digit = static_cast<std::uint64_t>(fraction[i] - '0');
    }
    value = add_saturated(multiply_saturated(value, 10), digit);
  }
  return value;
}

// Walks over the blank-separated fields of one line.
class FieldScanner {
 public:
  explicit FieldScanner(std::string_view line) noexcept : rest_(line) {}

  // An empty view: no field is left.
  [[nodiscard]] std::string_view next() noexcept {
    std::size_t begin = 0;
    while (begin < rest_.size() && is_blank(rest_[begin])) ++begin;
    std::size_t end = begin;
    while (end < rest_.size() && !is_blank(rest_[end])) ++end;
    const std::string_view field = rest_.substr(begin, end - begin);
    rest_.remove_prefix(end);
    return field;
  }

  // No value: the line is over, or the field is not an unsigned number.
  [[nodiscard]] std::optional<std::uint64_t> next_u64() noexcept { return parse_u64(next()); }

  // False: fewer than `count` fields were left.
  bool skip(unsigned count) noexcept {
    for (unsigned i = 0; i < count; ++i) {
      if (next().empty()) return false;
    }
    return true;
  }

 private:
  std::string_view rest_;
};

// Walks over the lines that end in a newline. Bytes after the last newline are not a line: the
// kernel ends every line, so such a rest was cut short and its last number may lack digits.
class LineScanner {
 public:
  explicit LineScanner(std::string_view text) noexcept : rest_(text) {}

  [[nodiscard]] bool next(std::string_view& line) noexcept {
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return false;
    line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return true;
  }

 private:
  std::string_view rest_;
};

}  // namespace meterbank::host
