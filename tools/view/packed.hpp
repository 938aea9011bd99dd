// SPDX-License-Identifier: Apache-2.0
//
// Columns of numbers in JSON as base64 of their bytes, little-endian: half as long as digits, and
// read in one go.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/format/json.hpp"

namespace meterbank::view {

[[nodiscard]] std::string base64_of(std::string_view bytes);

// binary32 has seven digits. Counts beyond 16,777,216 would be others, some numbers are too large
// or too small for it, and some columns change so little that a plot of them would show steps.
// `before`: what the column had already.
[[nodiscard]] bool fit_binary32(std::span<const double> values,
                                std::span<const double> before = {}) noexcept;
[[nodiscard]] std::vector<float> binary32_of(std::span<const double> values);
// Since 1970, as the clocks of a browser and of plots count.
[[nodiscard]] std::vector<double> milliseconds_of(std::span<const std::uint64_t> times_ns);

// Writes one JSON value: a text with the numbers as binary32, in which NaN stands for a missing
// one, or an object whose member "wide" is a text with them as binary64.
void write_packed(cli::JsonWriter& json, std::span<const double> values, bool is_wide);
// Milliseconds, as binary64.
void write_packed_times(cli::JsonWriter& json, std::span<const std::uint64_t> times_ns);

}  // namespace meterbank::view
