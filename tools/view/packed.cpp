// SPDX-License-Identifier: Apache-2.0
#include "view/packed.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace meterbank::view {
namespace {

static_assert(std::endian::native == std::endian::little);

template <typename T>
std::string base64_of_numbers(const std::vector<T>& numbers) {
  return base64_of({reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(T)});
}

bool fits_binary32(double value) noexcept {
  const double magnitude = std::abs(value);
  return !std::isfinite(value) || magnitude == 0 ||
         (magnitude >= std::numeric_limits<float>::min() &&
          magnitude <= std::numeric_limits<float>::max());
}

}  // namespace

std::string base64_of(std::string_view bytes) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out((bytes.size() + 2) / 3 * 4, '=');
  char* next = out.data();
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto part = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8U | (i < part.size() ? static_cast<unsigned char>(part[i]) : 0U);
    }
    for (std::size_t i = 0; i <= part.size(); ++i) next[i] = kLetters[bits >> (18 - 6 * i) & 63U];
    next += 4;
  }
  return out;
}

bool fit_binary32(std::span<const double> values) noexcept {
  return std::all_of(values.begin(), values.end(), fits_binary32);
}

std::vector<float> binary32_of(std::span<const double> values) {
  std::vector<float> numbers;
  numbers.reserve(values.size());
  for (const double value : values) {
    numbers.push_back(std::isfinite(value) ? static_cast<float>(value)
                                           : std::numeric_limits<float>::quiet_NaN());
  }
  return numbers;
}

std::vector<double> milliseconds_of(std::span<const std::uint64_t> times_ns) {
  std::vector<double> times;
  times.reserve(times_ns.size());
  for (const std::uint64_t time : times_ns) times.push_back(static_cast<double>(time) / 1e6);
  return times;
}

void write_packed(cli::JsonWriter& json, std::span<const double> values) {
  if (fit_binary32(values)) {
    json.text(base64_of_numbers(binary32_of(values)));
    return;
  }
  json.begin_array();
  for (const double value : values) json.rounded_or_null(value);
  json.end_array();
}

void write_packed_times(cli::JsonWriter& json, std::span<const std::uint64_t> times_ns) {
  json.text(base64_of_numbers(milliseconds_of(times_ns)));
}

}  // namespace meterbank::view
