// SPDX-License-Identifier: Apache-2.0
//
// Values of different kinds, and the sorted list that knows their quantiles.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace meterbank::test {

// From kLeastValue to kMostValue.
inline constexpr double kLeastValue = 1e-9;
inline constexpr double kMostValue = 1e12;

struct ValueKind {
  std::string name;
  std::function<double(std::mt19937_64&)> draw;

  [[nodiscard]] std::vector<double> values(std::uint64_t seed, std::size_t count) const {
    std::mt19937_64 random(seed);
    std::vector<double> drawn(count);
    for (double& value : drawn) value = std::clamp(draw(random), kLeastValue, kMostValue);
    return drawn;
  }
};

inline const std::vector<ValueKind>& value_kinds() {
  using Random = std::mt19937_64;
  static const std::vector<ValueKind> kKinds{
      {"lognormal", [](Random& random) { return std::lognormal_distribution(8.0, 2.0)(random); }},
      {"exponential", [](Random& random) { return std::exponential_distribution(1e-4)(random); }},
      {"uniform", [](Random& random) { return std::uniform_real_distribution(10.0, 1e6)(random); }},
      {"narrow", [](Random& random) { return std::normal_distribution(5e4, 10.0)(random); }},
      {"heavy tail",  // no mean: a few values are most of the sum
       [](Random& random) {
         return 1e-3 * std::pow(std::uniform_real_distribution(1e-15, 1.0)(random), -1 / 0.9);
       }},
      {"two peaks", [](Random& random) { return random() % 10 == 0 ? 1e6 : 20.0; }},
      {"constant", [](Random&) { return 0.125; }},
  };
  return kKinds;
}

inline constexpr std::array kShares{0.0,  0.0001, 0.001, 0.01, 0.02,  0.05,  0.1,    0.2,   0.25,
                                    0.3,  0.4,    0.5,   0.6,  0.7,   0.75,  0.8,    0.899, 0.9,
                                    0.91, 0.95,   0.98,  0.99, 0.995, 0.999, 0.9999, 1.0};

// The value of the smallest rank that has at least this share at or below it.
[[nodiscard]] inline double quantile_of(const std::vector<double>& sorted, double share) {
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[rank < 1 ? 0 : static_cast<std::size_t>(rank) - 1];
}

}  // namespace meterbank::test
