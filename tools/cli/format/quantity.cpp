// SPDX-License-Identifier: Apache-2.0
#include "cli/format/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>

#include "cli/format/time_text.hpp"

namespace meterbank::cli {
namespace {

struct Prefix {
  double factor;
  std::string_view text;
};
constexpr std::array kDecimal{Prefix{1e18, "E"}, Prefix{1e15, "P"}, Prefix{1e12, "T"},
                              Prefix{1e9, "G"},  Prefix{1e6, "M"},  Prefix{1e3, "k"}};
constexpr double kKibi = 1024;
constexpr std::array kBinary{Prefix{kKibi * kKibi * kKibi * kKibi * kKibi * kKibi, "Ei"},
                             Prefix{kKibi * kKibi * kKibi * kKibi * kKibi, "Pi"},
                             Prefix{kKibi * kKibi * kKibi * kKibi, "Ti"},
                             Prefix{kKibi * kKibi * kKibi, "Gi"},
                             Prefix{kKibi * kKibi, "Mi"},
                             Prefix{kKibi, "Ki"}};

// From here on doubles lack some whole numbers, so their digits are not those of what was counted.
constexpr double kWholeMax = 0x1p53;

std::string print_power(double value) { return fmt::format("{:.2e}", value); }

std::string scaled(double value, std::span<const Prefix> prefixes, std::string_view symbol,
                   std::string_view per) {
  std::string_view prefix;
  const bool is_beyond = std::fabs(value) >= prefixes.front().factor * 999.5;
  // A value that would round up to the next prefix takes it: 999.6 k is 1.00 M.
  for (const auto& candidate : prefixes) {
    if (!is_beyond && std::fabs(value) >= candidate.factor * 0.9995) {
      value /= candidate.factor;
      prefix = candidate.text;
      break;
    }
  }
  std::string text = is_beyond ? print_power(value) : print_digits(value);
  if (!prefix.empty() || !symbol.empty() || !per.empty()) {
    text += ' ';
    text.append(prefix).append(symbol).append(per);
  }
  return text;
}

// All digits of a whole number; as many decimals of another as are useful.
std::string print_unscaled(double value) {
  if (std::fabs(value) >= kWholeMax) return print_power(value);
  if (value == std::trunc(value)) return fmt::format("{:.0f}", value);
  const double size = std::fabs(value);
  return size >= 1 ? fmt::format("{:.3f}", value) : fmt::format("{:.4g}", value);
}

// An annotation like "{order}" says what is counted; the counter's name already does.
std::string_view symbol_of(std::string_view unit) {
  if (unit == "1" || (!unit.empty() && unit.front() == '{')) return {};
  if (unit == "By") return "B";
  return unit;
}

}  // namespace

std::string print_digits(double value) {
  const double size = std::fabs(value);
  if (size < 999.5 && value == std::trunc(value)) return fmt::format("{:.0f}", value);
  if (size >= 99.95) return fmt::format("{:.0f}", value);
  if (size >= 9.995) return fmt::format("{:.1f}", value);
  if (size >= 0.01) return fmt::format("{:.2f}", value);
  return fmt::format("{:.2g}", value);
}

Quantity in_base_unit(double value, std::string_view unit) {
  BaseUnit base = base_unit_of(unit);
  return {base.of(value), std::move(base.unit)};
}

std::string print_quantity(double value, std::string_view unit, UnitStyle style) {
  if (style == UnitStyle::kBase) {
    const auto base = in_base_unit(value, unit);
    const auto number = print_unscaled(base.value);
    return base.unit.empty() || base.unit == "1" ? number : fmt::format("{} {}", number, base.unit);
  }
  if (unit == "%") {
    return (std::fabs(value) >= kWholeMax ? print_power(value) : fmt::format("{:.1f}", value)) +
           " %";
  }
  if (unit.empty() && value == std::trunc(value)) return print_unscaled(value);
  const auto base = in_base_unit(value, unit);
  const auto per = per_second(unit);
  value = base.value;
  unit = std::string_view(base.unit).substr(0, base.unit.size() - per.size());
  if (unit == "s" && per.empty()) return print_duration(value);
  if (unit == "By") return scaled(value, kBinary, "B", per);
  return scaled(value, kDecimal, symbol_of(unit), per);
}

std::string shown_in(Charset charset, std::string numbers) {
  if (charset != Charset::kAscii || plain_bytes(numbers) == numbers.size()) return numbers;
  std::string out;
  for (std::string_view rest = numbers; !rest.empty();) {
    const auto length = std::max<std::size_t>(decode_utf8(rest).length, 1);
    const auto character = rest.substr(0, length);
    out += character == "\u00b5" ? "u" : character == "\u2264" ? "<=" : character;
    rest.remove_prefix(length);
  }
  return out;
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void append_exact(double value, std::string& out) {
  // Up to here fmt prints a whole number without an exponent.
  constexpr double kPlainMax = 1e15;
  const bool is_whole = value == std::trunc(value) && std::fabs(value) < kPlainMax;
  if (is_whole && (value != 0 || !std::signbit(value))) {
    const fmt::format_int digits(static_cast<std::int64_t>(value));
    out.append(digits.data(), digits.size());
  } else {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
}

std::string print_exact(double value) {
  std::string text;
  append_exact(value, text);
  return text;
}

std::string print_decimal(double value) {
  if (value == 0 || !std::isfinite(value)) return print_exact(value);
  constexpr int kDigits = 6, kMost = 30;
  const int before = static_cast<int>(std::floor(std::log10(std::fabs(value)))) + 1;
  std::string text = fmt::format("{:.{}f}", value, std::clamp(kDigits - before, 0, kMost));
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace meterbank::cli
