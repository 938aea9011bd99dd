// SPDX-License-Identifier: Apache-2.0
//
// A number with its unit. Units are UCUM codes: "By", "s", "{order}", "By/s"; a per cent is "%".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace meterbank::cli {

enum class UnitStyle : std::uint8_t {
  kAuto,  // scaled for reading: "1.5 MiB", "18.4 k/s", "121 µs"
  kBase,  // in the base unit: "1572864 By"
};

// Three significant digits, but all digits of a whole number below 1,000: "7.40", "31.2", "112".
[[nodiscard]] std::string print_digits(double value);

// The unit that programs get instead of another: seconds, bytes, Hz. "250 MHz" is 250000000 Hz, a
// value in hundredths ("10*-2") a plain number; units without a base stay as they are.
struct BaseUnit {
  std::string unit;
  double factor = 1, divisor = 1;

  [[nodiscard]] double of(double value) const noexcept { return value * factor / divisor; }
};
[[nodiscard]] BaseUnit base_unit_of(std::string_view unit);

struct Quantity {
  double value = 0;
  std::string unit;
};
[[nodiscard]] Quantity in_base_unit(double value, std::string_view unit);

// For people. A number without a unit is shown with all its digits, because it may be an
// identifier. Bytes scale by 1,024, everything else by 1,000, time as print_duration does.
[[nodiscard]] std::string print_quantity(double value, std::string_view unit,
                                         UnitStyle style = UnitStyle::kAuto);

// For machines: the shortest decimal form that reads back as the same double, whatever the locale.
[[nodiscard]] std::string print_exact(double value);
void append_exact(double value, std::string& out);

}  // namespace meterbank::cli
