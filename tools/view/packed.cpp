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
  constexpr double kWholeMax = 0x1p24;  // beyond it, some whole numbers are not exact
  const double magnitude = std::abs(value);
  if (!std::isfinite(value) || magnitude == 0) return true;
  if (magnitude > kWholeMax) {
    return magnitude <= std::numeric_limits<float>::max() &&
           static_cast<double>(static_cast<float>(value)) == value;
  }
  return magnitude >= std::numeric_limits<float>::min();
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

bool fit_binary32(std::span<const double> values, std::span<const double> before) noexcept {
  // A plot has fewer pixels than this.
  constexpr double kSteps = 1000;
  // Every eighth value before tells the range well enough: a smaller one asks for more digits.
  constexpr std::size_t kStride = 8;
  double low = std::numeric_limits<double>::max(), high = -low, lost = 0;
  for (const double value : values) {
    if (!fits_binary32(value)) return false;
    if (!std::isfinite(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
    lost = std::max(lost, std::abs(value - static_cast<double>(static_cast<float>(value))));
  }
  for (std::size_t at = 0; at < before.size() && lost > 0; at += kStride) {
    if (!std::isfinite(before[at])) continue;
    low = std::min(low, before[at]);
    high = std::max(high, before[at]);
  }
  return low >= high || lost <= (high - low) / kSteps;
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

void write_packed(cli::JsonWriter& json, std::span<const double> values, bool is_wide) {
  if (!is_wide) {
    json.text(base64_of_numbers(binary32_of(values)));
    return;
  }
  std::vector<double> numbers(values.begin(), values.end());
  const auto is_infinite = [](double value) { return std::isinf(value); };
  std::ranges::replace_if(numbers, is_infinite, std::numeric_limits<double>::quiet_NaN());
  json.begin_object().key("wide").text(base64_of_numbers(numbers)).end_object();
}

void write_packed_times(cli::JsonWriter& json, std::span<const std::uint64_t> times_ns) {
  json.text(base64_of_numbers(milliseconds_of(times_ns)));
}

}  // namespace meterbank::view
