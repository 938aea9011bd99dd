// SPDX-License-Identifier: Apache-2.0
#include "compare/statistics/student.hpp"

#include <cmath>

namespace meterbank::compare {
namespace {

// The continued fraction of the incomplete beta function, by the method of Lentz.
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300;
  constexpr int kStepsMax = 500;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1;
  double d = 1 / away_from_zero(1 - (a + b) * x / (a + 1));
  double fraction = d;
  for (int step = 1; step <= kStepsMax; ++step) {
    const double m = step;
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away_from_zero(1 + even * d);
    c = away_from_zero(1 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away_from_zero(1 + odd * d);
    c = away_from_zero(1 + odd / c);
    const double factor = d * c;
    fraction *= factor;
    if (std::abs(factor - 1) < 1e-12) break;
  }
  return fraction;
}

// The regularized incomplete beta function. Precondition: 0 < x < 1.
double incomplete_beta(double a, double b, double x) {
  const double log_front =
      std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
  if (x < (a + 1) / (a + b + 2)) return std::exp(log_front) * beta_fraction(a, b, x) / a;
  return 1 - std::exp(log_front) * beta_fraction(b, a, 1 - x) / b;
}

}  // namespace

double two_sided_t(double probability, double freedom) {
  double low = -20, high = 20;  // of the logarithm
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = (low + high) / 2;
    const double square = std::exp(2 * middle);
    const double beyond = incomplete_beta(freedom / 2, 0.5, freedom / (freedom + square));
    (beyond > probability ? low : high) = middle;
  }
  return std::exp((low + high) / 2);
}

}  // namespace meterbank::compare
