// SPDX-License-Identifier: Apache-2.0
//
// UCUM codes of counters: "By", "s", "{order}", "By/s".
#pragma once

#include <string>
#include <string_view>

namespace meterbank {

// The unit that programs get instead of another: seconds, bytes, Hz. "250 MHz" is 250000000 Hz, a
// value in hundredths ("10*-2") a plain number; units without a base stay as they are.
struct BaseUnit {
  std::string unit;
  double factor = 1, divisor = 1;

  [[nodiscard]] double of(double value) const noexcept { return value * factor / divisor; }
  [[nodiscard]] bool is_same() const noexcept { return factor == 1 && divisor == 1; }
};
[[nodiscard]] BaseUnit base_unit_of(std::string_view unit);

// "/s" of a unit per second, else empty.
[[nodiscard]] std::string_view per_second(std::string_view unit) noexcept;

}  // namespace meterbank
