// SPDX-License-Identifier: Apache-2.0
#include "compare/statistics/contrast.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "compare/statistics/student.hpp"

namespace meterbank::compare {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

double relative_change(double a, double b) {
  if (a == b) return 0;
  if (a == 0) return b > 0 ? kInfinity : -kInfinity;
  return (b - a) / std::abs(a);
}

double CriticalT::of(double freedom) {
  // Rounded down, which makes it greater.
  constexpr double kStepsOfOne = 4;
  const int step = static_cast<int>(std::min(freedom, 1e4) * kStepsOfOne);
  auto [place, is_new] = known_.emplace(step, 0);
  if (is_new) place->second = two_sided_t(probability_, step / kStepsOfOne);
  return place->second;
}

std::variant<MeanContrast, NoContrast> MeanContrast::of(const BlockSums& a, const BlockSums& b,
                                                        double slack_a, double slack_b) {
  if (!(a.weight() > 0) || !(b.weight() > 0)) return NoContrast::kTooFewSamples;
  const auto deviations_a = a.deviations(), deviations_b = b.deviations();
  if (deviations_a.size() < kBlocksNeeded || deviations_b.size() < kBlocksNeeded) {
    return NoContrast::kTooFewSamples;
  }
  MeanContrast contrast;
  contrast.a_ = a.mean();
  contrast.b_ = b.mean();
  contrast.slack_a_ = slack_a * std::abs(contrast.a_);
  contrast.slack_b_ = slack_b * std::abs(contrast.b_);
  contrast.spread_ =
      long_run_of(deviations_a, deviations_b, a.values_of_block() == b.values_of_block());
  if (contrast.spread_.independent < kIndependentLeast) return NoContrast::kWanders;
  return contrast;
}

Change MeanContrast::change(CriticalT& critical) const {
  const double t = critical.of(spread_.freedom);
  const double half_a = t * std::sqrt(spread_.variance_a) + slack_a_;
  const double half_b = t * std::sqrt(spread_.variance_b) + slack_b_;
  Change change{.low = -kInfinity, .middle = relative_change(a_, b_), .high = kInfinity};
  const double half = std::hypot(half_a, half_b);
  const bool is_certain = std::abs(b_ - a_) > half;
  if (half == 0) return {change.middle, change.middle, change.middle};
  const double square = a_ * a_ - half_a * half_a;
  if (square <= 0) {  // A may be zero, so the ratio may be anything on one side
    if (is_certain && b_ > a_) change.low = a_ == 0 ? kInfinity : (b_ - a_ - half) / std::abs(a_);
    if (is_certain && b_ < a_) change.high = a_ == 0 ? -kInfinity : (b_ - a_ + half) / std::abs(a_);
    return change;
  }
  const double root =
      std::sqrt(std::max(0.0, a_ * a_ * b_ * b_ - square * (b_ * b_ - half_b * half_b)));
  const double sign = a_ < 0 ? -1 : 1;
  const double one = sign * ((a_ * b_ - root) / square - 1);
  const double other = sign * ((a_ * b_ + root) / square - 1);
  change.low = std::min(one, other);
  change.high = std::max(one, other);
  return change;
}

std::variant<QuantileContrast, NoContrast> QuantileContrast::of(const BlockHistograms& a,
                                                                const BlockHistograms& b,
                                                                double share) {
  const Quantiles of_a(a), of_b(b);
  if (a.blocks() < kBlocksNeeded || b.blocks() < kBlocksNeeded) return NoContrast::kTooFewSamples;
  if (of_a.count() <= 0 || of_b.count() <= 0) return NoContrast::kTooFewValues;
  const auto value_a = of_a.at(share), value_b = of_b.at(share);
  if (!value_a || !value_b) return NoContrast::kBeyondBuckets;
  QuantileContrast contrast;
  contrast.from_a_ = &a;
  contrast.from_b_ = &b;
  contrast.share_ = share;
  contrast.a_ = *value_a;
  contrast.b_ = *value_b;
  contrast.spread_ = long_run_of(of_a.deviations(share), of_b.deviations(share),
                                 a.samples_of_block() == b.samples_of_block());
  if (contrast.spread_.independent < kIndependentLeast) return NoContrast::kWanders;
  // There have to be values on both sides of the range, at less than any t that is asked for.
  constexpr double kTLeast = 3;
  for (const auto& [from, variance] : {std::pair(&of_a, contrast.spread_.variance_a),
                                       std::pair(&of_b, contrast.spread_.variance_b)}) {
    const double half = kTLeast * std::sqrt(variance);
    if (share + half >= 1 || share - half <= 0) return NoContrast::kTooFewValues;
    constexpr double kBeyondLeast = 20;
    if (from->count() * std::min(share, 1 - share) < kBeyondLeast) {
      return NoContrast::kTooFewValues;
    }
  }
  return contrast;
}

std::optional<Change> QuantileContrast::change(CriticalT& critical) const {
  const double t = critical.of(spread_.freedom);
  const Quantiles of_a(*from_a_), of_b(*from_b_);
  const double half_a = t * std::sqrt(spread_.variance_a);
  const double half_b = t * std::sqrt(spread_.variance_b);
  const auto low_a = of_a.at(share_ - half_a), high_a = of_a.at(share_ + half_a);
  const auto low_b = of_b.at(share_ - half_b), high_b = of_b.at(share_ + half_b);
  if (!low_a || !high_a || !low_b || !high_b) return std::nullopt;
  const double middle = std::log(b_ / a_);
  const double down = std::hypot(std::log(b_ / *low_b), std::log(*high_a / a_));
  const double up = std::hypot(std::log(*high_b / b_), std::log(a_ / *low_a));
  return Change{std::expm1(middle - down), std::expm1(middle), std::expm1(middle + up)};
}

}  // namespace meterbank::compare
