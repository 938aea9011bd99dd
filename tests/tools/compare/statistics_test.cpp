// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "compare/statistics/block_histograms.hpp"
#include "compare/statistics/block_sums.hpp"
#include "compare/statistics/contrast.hpp"
#include "compare/statistics/long_run.hpp"
#include "compare/statistics/student.hpp"

namespace meterbank::compare {
namespace {

// Tables of Student's distribution.
TEST(StudentT, IsThatOfTheTables) {
  EXPECT_NEAR(two_sided_t(0.05, 1), 12.7062, 1e-3);
  EXPECT_NEAR(two_sided_t(0.05, 10), 2.22814, 1e-4);
  EXPECT_NEAR(two_sided_t(0.01, 30), 2.75, 1e-3);
  EXPECT_NEAR(two_sided_t(0.001, 5), 6.8688, 1e-3);
  EXPECT_NEAR(two_sided_t(1e-6, 1e6), 4.8917, 1e-2);
}

TEST(BlockSums, KeepTheMeanWhileBlocksAreJoined) {
  BlockSums sums;
  double sum = 0, weight = 0;
  for (int i = 0; i < 10'007; ++i) {
    const double value = i % 17, by = 1 + i % 3;
    sums.add(value, by);
    sum += value * by;
    weight += by;
  }
  EXPECT_NEAR(sums.mean(), sum / weight, 1e-9);
  const auto deviations = sums.deviations();
  EXPECT_LE(deviations.size(), BlockSums::kBlocksMax);
  EXPECT_GT(deviations.size(), BlockSums::kBlocksMax / 2);
  double all = 0;
  for (const double deviation : deviations) all += deviation;
  EXPECT_NEAR(all, 0, 1e-12);
}

TEST(BlockSums, TellWhatStoodStill) {
  BlockSums sums;
  for (int i = 0; i < 50; ++i) sums.add(0.1, 0.3);
  EXPECT_TRUE(sums.stood_still());
  EXPECT_EQ(sums.mean(), 0.1);
  sums.add(0.2, 1);
  EXPECT_FALSE(sums.stood_still());
}

// An autoregressive process whose mean has a known variance.
std::vector<double> wandering(double likeness, std::size_t length, unsigned seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> normal;
  std::vector<double> values;
  double now = normal(bits) / std::sqrt(1 - likeness * likeness), sum = 0;
  for (std::size_t i = 0; i < length; ++i) {
    now = likeness * now + normal(bits);
    values.push_back(now);
    sum += now;
  }
  for (double& value : values) value -= sum / static_cast<double>(length);
  return values;
}

TEST(LongRun, SeesThatWhatWandersIsLessCertain) {
  double independent = 0, alike = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    independent +=
        long_run_of(wandering(0, 120, seed), wandering(0, 120, seed + 100), true).variance_a;
    alike +=
        long_run_of(wandering(0.8, 120, seed), wandering(0.8, 120, seed + 100), true).variance_a;
  }
  // Of a sum of 120: 120, and 120 / 0.04. The estimates are on the safe side.
  EXPECT_GT(independent / 40, 120 * 0.9);
  EXPECT_LT(independent / 40, 120 * 2.5);
  EXPECT_GT(alike / 40, 3000 * 0.9);
}

TEST(LongRun, SaysThatWhatMovesSlowlyHasFewIndependentParts) {
  const auto slow = long_run_of(wandering(0.98, 60, 1), wandering(0.98, 60, 2), true);
  EXPECT_LT(slow.independent, kIndependentLeast);
  const auto fast = long_run_of(wandering(0, 60, 1), wandering(0, 60, 2), true);
  EXPECT_GT(fast.independent, kIndependentLeast);
}

BlockSums sums_of(double mean, double scatter, unsigned seed) {
  std::mt19937_64 bits(seed);
  std::normal_distribution<double> normal(mean, scatter);
  BlockSums sums;
  for (int i = 0; i < 60; ++i) sums.add(normal(bits), 1);
  return sums;
}

TEST(MeanContrast, FindsAChangeBeyondTheScatter) {
  CriticalT critical(1e-4);
  const auto changed =
      std::get<MeanContrast>(MeanContrast::of(sums_of(100, 1, 1), sums_of(110, 1, 2), 0, 0));
  const Change change = changed.change(critical);
  EXPECT_TRUE(change.is_certain());
  EXPECT_LT(change.low, 0.1);
  EXPECT_GT(change.high, 0.1);
  // The time that reading took is as large as the change.
  const auto slack =
      std::get<MeanContrast>(MeanContrast::of(sums_of(100, 1, 1), sums_of(110, 1, 2), 0.1, 0.1));
  EXPECT_FALSE(slack.change(critical).is_certain());
}

TEST(MeanContrast, HasARangeWithoutAnEndWhereAMayBeZero) {
  CriticalT critical(1e-4);
  const auto from_zero =
      std::get<MeanContrast>(MeanContrast::of(sums_of(0, 1, 1), sums_of(100, 1, 2), 0, 0));
  const Change change = from_zero.change(critical);
  EXPECT_TRUE(change.is_certain());
  EXPECT_TRUE(std::isinf(change.high));
}

TEST(MeanContrast, KnowsTheSignOfNegativeNumbers) {
  CriticalT critical(1e-4);
  const auto less =
      std::get<MeanContrast>(MeanContrast::of(sums_of(-100, 1, 1), sums_of(-120, 1, 2), 0, 0));
  EXPECT_LT(less.change(critical).high, 0);
}

TEST(MeanContrast, NeedsTwelveBlocks) {
  BlockSums few;
  for (int i = 0; i < 11; ++i) few.add(i, 1);
  const auto contrast = MeanContrast::of(few, sums_of(1, 1, 1), 0, 0);
  EXPECT_EQ(std::get<NoContrast>(contrast), NoContrast::kTooFewSamples);
}

constexpr DistributionShape kShape{.scale = 3, .first = 0, .buckets = 80};

Distribution recorded(double factor, unsigned seed, unsigned values) {
  std::mt19937_64 bits(seed);
  std::lognormal_distribution<double> value(3, 0.5);
  Distribution one;
  one.shape = kShape;
  one.buckets.resize(kShape.buckets);
  for (unsigned i = 0; i < values; ++i) {
    const auto word = kShape.word_of(value(bits) * factor);
    ++one.count;
    if (word == DistributionShape::kBelow) ++one.below;
    if (word >= DistributionShape::kBuckets) ++one.buckets[word - DistributionShape::kBuckets];
  }
  return one;
}

BlockHistograms histograms(double factor, unsigned seed, unsigned samples, unsigned values) {
  BlockHistograms all(kShape);
  for (unsigned i = 0; i < samples; ++i) {
    EXPECT_TRUE(all.add(recorded(factor, seed * 10'000 + i, values)));
  }
  return all;
}

TEST(Quantiles, AreInterpolatedWithinABucket) {
  const auto all = histograms(1, 1, 200, 500);
  const Quantiles quantiles(all);
  EXPECT_LE(all.blocks(), BlockHistograms::kBlocksMax);
  EXPECT_EQ(quantiles.count(), 100'000);
  // exp(3 + 0.5 z). A bucket is 9 % wide.
  EXPECT_NEAR(*quantiles.at(0.5), std::exp(3.0), 0.01 * std::exp(3.0));
  EXPECT_NEAR(*quantiles.at(0.99), std::exp(3 + 0.5 * 2.3263), 0.02 * std::exp(3 + 0.5 * 2.3263));
  EXPECT_FALSE(quantiles.at(0));
  EXPECT_FALSE(quantiles.at(1));
}

TEST(Quantiles, HaveDeviationsWhoseSumIsZero) {
  const auto all = histograms(1, 2, 100, 100);
  double sum = 0;
  for (const double deviation : Quantiles(all).deviations(0.9)) sum += deviation;
  EXPECT_NEAR(sum, 0, 1e-9);
}

TEST(QuantileContrast, SeesAChangeThatIsLessThanABucket) {
  CriticalT critical(1e-4);
  const auto a = histograms(1, 1, 60, 2000), b = histograms(1.05, 2, 60, 2000);
  const auto contrast = std::get<QuantileContrast>(QuantileContrast::of(a, b, 0.5));
  const auto change = contrast.change(critical);
  ASSERT_TRUE(change);
  EXPECT_GT(change->low, 0);
  EXPECT_NEAR(change->middle, 0.05, 0.02);
}

TEST(QuantileContrast, RefusesPercentilesWithoutValuesBeyond) {
  const auto a = histograms(1, 1, 30, 10), b = histograms(1, 2, 30, 10);
  const auto contrast = QuantileContrast::of(a, b, 0.999);
  EXPECT_EQ(std::get<NoContrast>(contrast), NoContrast::kTooFewValues);
}

TEST(BlockHistograms, RefuseAnotherShape) {
  BlockHistograms all(kShape);
  Distribution other;
  other.shape = {.scale = 2, .first = 0, .buckets = 80};
  other.buckets.resize(80);
  EXPECT_FALSE(all.add(other));
}

}  // namespace
}  // namespace meterbank::compare
