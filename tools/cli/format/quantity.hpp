// SPDX-License-Identifier: Apache-2.0
//
// A number with its unit. Units are UCUM codes: "By", "s", "{order}", "By/s"; a per cent is "%".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "meterbank/shm/utf8.hpp"
#include "units/base_unit.hpp"

namespace meterbank::cli {

enum class UnitStyle : std::uint8_t {
  kAuto,  // scaled for reading: "1.5 MiB", "18.4 k/s", "121 µs"
  kBase,  // in the base unit: "1572864 By"
};

// Three significant digits, but all digits of a whole number below 1,000: "7.40", "31.2", "112".
[[nodiscard]] std::string print_digits(double value);

struct Quantity {
  double value = 0;
  std::string unit;
};
[[nodiscard]] Quantity in_base_unit(double value, std::string_view unit);

// For people. A whole number without a unit is shown with all its digits, because it may be an
// identifier. From 2^53 on, where doubles lack some whole numbers, it has an exponent, as have
// numbers beyond the prefixes: "1.70e+308". Bytes scale by 1,024,
// everything else by 1,000, time as print_duration does.
[[nodiscard]] std::string print_quantity(double value, std::string_view unit,
                                         UnitStyle style = UnitStyle::kAuto);

// `numbers` with their own signs and units as the charset has them: "121 us", "<= 1 ms".
[[nodiscard]] std::string shown_in(Charset charset, std::string numbers);

// Things that have a plural in "s": "1 sample", "0 samples".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view noun);

// For machines: the shortest decimal form that reads back as the same double, whatever the locale.
[[nodiscard]] std::string print_exact(double value);
// For machines that know no exponent: all digits before the point, and of those behind it as many
// as make six that count.
[[nodiscard]] std::string print_decimal(double value);
void append_exact(double value, std::string& out);

}  // namespace meterbank::cli
