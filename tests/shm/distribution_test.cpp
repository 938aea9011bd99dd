// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/distribution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "../support/depth.hpp"
#include "../support/value_kinds.hpp"

namespace meterbank {
namespace {

using Shape = DistributionShape;
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::uint32_t kManyBuckets = 1U << 20;

// Words without a block around them.
class Words {
 public:
  explicit Words(const Shape& shape)
      : place_{shape, 0, kMore}, words_(kMore + shape.more_words()) {}

  void record(double value) {
    const auto changes =
        changes_of(place_, value, [this](std::uint32_t word) { return words_[word]; });
    for (std::size_t i = 0; i < changes.count; ++i) {
      words_[changes.entries[i].word] = changes.entries[i].value;
    }
  }
  [[nodiscard]] std::optional<Distribution> try_to_copy() const {
    return Distribution::of(place_, words_);
  }
  [[nodiscard]] Distribution copied() const { return *try_to_copy(); }
  [[nodiscard]] std::vector<std::uint64_t>& bare() noexcept { return words_; }
  void set_extremes(double least, double most) {
    words_[kMore + Shape::kLeast] = std::bit_cast<std::uint64_t>(least);
    words_[kMore + Shape::kMost] = std::bit_cast<std::uint64_t>(most);
  }

 private:
  static constexpr std::uint32_t kMore = 3;  // words of others in between

  DistributionPlace place_;
  std::vector<std::uint64_t> words_;
};

TEST(Buckets, HoldTheirUpperEndAndNotTheirLower) {
  for (std::int32_t scale = kScaleMin; scale <= kScaleMax; ++scale) {
    EXPECT_EQ(bucket_index(1.0, scale), -1) << scale;
    EXPECT_EQ(bucket_index(std::nextafter(1.0, 2.0), scale), 0) << scale;
  }
  for (std::int32_t scale = 0; scale <= kScaleMax; ++scale) {
    const std::int32_t per_two = 1 << scale;
    for (const int exponent : {-1000, -3, 0, 1, 10, 1000}) {
      const double power = std::ldexp(1.0, exponent);
      EXPECT_EQ(bucket_index(power, scale), exponent * per_two - 1);
      EXPECT_EQ(bucket_index(std::nextafter(power, kInfinity), scale), exponent * per_two);
    }
  }
}

TEST(Buckets, AreThoseOfTheLogarithm) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponents(-1074, 1023.99);
  for (std::uint64_t i = 0; i < test::tries(1'000'000); ++i) {
    const double value = std::exp2(exponents(random));
    if (value == 0) continue;
    for (const std::int32_t scale : {-4, -1, 0, 3, 8}) {
      const long double exact = std::ceil(std::log2(static_cast<long double>(value)) *
                                          std::exp2(static_cast<long double>(scale))) -
                                1;
      const std::int32_t index = bucket_index(value, scale);
      if (static_cast<long double>(index) == exact) continue;
      // Next to a boundary the logarithm, not the table, is off.
      const double bound = bucket_bound(std::max(index, static_cast<std::int32_t>(exact)), scale);
      EXPECT_LT(std::abs(value - bound), 4e-16 * bound) << value << " at scale " << scale;
    }
  }
}

TEST(Buckets, MergeInPairsAtACoarserScale) {
  std::mt19937_64 random(2);
  std::lognormal_distribution<double> values(0, 10);
  for (int i = 0; i < 100'000; ++i) {
    const double value = values(random);
    for (std::int32_t scale = kScaleMin; scale < kScaleMax; ++scale) {
      EXPECT_EQ(bucket_index(value, scale), bucket_index(value, scale + 1) >> 1);
    }
  }
}

TEST(DistributionShapes, CoverTheirRangeAndRefuseInvalidShapes) {
  const auto shape = Shape::of(3, 1e-6, 10, kManyBuckets);
  ASSERT_TRUE(shape);
  EXPECT_EQ(shape->word_of(1e-6), static_cast<std::uint32_t>(Shape::kBuckets));
  EXPECT_EQ(shape->word_of(10), shape->more_words() - 1);
  EXPECT_EQ(shape->buckets, 187U);
  EXPECT_TRUE(Shape::of(0, 1, 1, 1));
  EXPECT_FALSE(Shape::of(kScaleMax + 1, 1, 2, kManyBuckets));
  EXPECT_FALSE(Shape::of(kScaleMin - 1, 1, 2, kManyBuckets));
  EXPECT_FALSE(Shape::of(0, 0, 2, kManyBuckets));
  EXPECT_FALSE(Shape::of(0, -1, 2, kManyBuckets));
  EXPECT_FALSE(Shape::of(0, 3, 2, kManyBuckets));
  EXPECT_FALSE(Shape::of(0, 1, kInfinity, kManyBuckets));
  EXPECT_FALSE(Shape::of(0, std::nan(""), 2, kManyBuckets));
  EXPECT_FALSE(Shape::of(8, 1, 1e9, 4096));
}

TEST(Distributions, CountEverythingOnce) {
  Words words(*Shape::of(2, 1, 1000, kManyBuckets));
  for (const double value : {0.0, -5.0, -kInfinity, 1e-300, 0.5}) words.record(value);
  for (const double value : {1e6, kInfinity, 1e308}) words.record(value);
  words.record(std::nan(""));
  for (const double value : {1.0, 2.0, 500.0}) words.record(value);
  const Distribution seen = words.copied();
  EXPECT_EQ(seen.count, 11U);
  EXPECT_EQ(seen.below, 5U);
  EXPECT_EQ(seen.above, 3U);
  EXPECT_EQ(seen.refused, 1U);
  EXPECT_EQ(seen.least, -kInfinity);
  EXPECT_EQ(seen.most, kInfinity);
}

TEST(Distributions, AreRefusedWhereThePartsDoNotMakeUpTheCount) {
  Words words(*Shape::of(2, 1, 1000, kManyBuckets));
  words.record(5);
  EXPECT_TRUE(words.try_to_copy());
  words.bare().back() += 1;
  EXPECT_FALSE(words.try_to_copy());
  words.bare().back() -= 1;
  EXPECT_TRUE(words.try_to_copy());
  words.bare().pop_back();
  EXPECT_FALSE(words.try_to_copy());
}

// A sorted list knows better.
TEST(Distributions, KeepTheirErrorBoundOnSevenKindsOfValues) {
  for (const test::ValueKind& kind : test::value_kinds()) {
    std::vector<double> sorted = kind.values(3, 20'000);
    for (const std::int32_t scale : {-4, -2, 0, 1, 3, 5, 8}) {
      Words words(*Shape::of(scale, test::kLeastValue, test::kMostValue, kManyBuckets));
      for (const double value : sorted) words.record(value);
      std::sort(sorted.begin(), sorted.end());
      const Distribution seen = words.copied();
      EXPECT_EQ(seen.least, sorted.front()) << kind.name;
      EXPECT_EQ(seen.most, sorted.back()) << kind.name;
      for (const double share : test::kShares) {
        const double right = test::quantile_of(sorted, share);
        EXPECT_NEAR(seen.quantile(share)->value, right, right * seen.error_bound() * (1 + 1e-9))
            << kind.name << ", scale " << scale << ", share " << share;
      }
    }
  }
}

// Half of base - 1, roughly: a scale more halves the error.
TEST(Distributions, SayWhatTheirErrorBoundIs) {
  for (std::int32_t scale = kScaleMin; scale <= kScaleMax; ++scale) {
    const double base = std::exp2(std::exp2(-scale));
    const Words words(*Shape::of(scale, 1, 2, kManyBuckets));
    EXPECT_NEAR(words.copied().error_bound(), (base - 1) / (base + 1), 1e-14) << scale;
  }
}

TEST(Distributions, AddUpAsIfRecordedInOne) {
  std::mt19937_64 random(4);
  std::lognormal_distribution<double> values(5, 3);
  const Shape fine = *Shape::of(5, 1, 1e6, kManyBuckets);
  const Shape coarse = *Shape::of(2, 0.01, 1e9, kManyBuckets);
  Words left(fine), right(coarse), both(fine);
  Words left_again(fine);
  for (int i = 0; i < 10'000; ++i) {
    const double value = values(random);
    left.record(value);
    both.record(value);
    left_again.record(value * 2);
    both.record(value * 2);
    right.record(value);
  }
  Distribution same = left.copied();
  same.add(left_again.copied());
  const Distribution at_once = both.copied();
  EXPECT_EQ(same.buckets, at_once.buckets);
  EXPECT_EQ(same.count, at_once.count);
  EXPECT_EQ(same.least, at_once.least);
  EXPECT_EQ(same.most, at_once.most);
  Distribution mixed = left.copied();
  mixed.add(right.copied());
  EXPECT_EQ(mixed.shape.scale, 2);
  EXPECT_EQ(mixed.count, 20'000U);
  std::uint64_t parts = mixed.below + mixed.above;
  for (const std::uint64_t bucket : mixed.buckets) parts += bucket;
  EXPECT_EQ(parts, mixed.count);
}

TEST(Distributions, ShowAnIntervalAsTheDifferenceOfTwo) {
  Words words(*Shape::of(4, 1, 1e6, kManyBuckets));
  for (int i = 0; i < 1000; ++i) words.record(10);
  const Distribution before = words.copied();
  for (int i = 0; i < 100; ++i) words.record(5000);
  const auto between = words.copied().since(before);
  ASSERT_TRUE(between);
  EXPECT_EQ(between->count, 100U);
  EXPECT_FALSE(between->least);
  EXPECT_NEAR(between->quantile(0.01)->value, 5000, 5000 * between->error_bound());
  EXPECT_FALSE(before.since(words.copied()));
}

TEST(Distributions, SayWhereOnlyTheEndOfTheRangeIsKnown) {
  using Side = Quantile::Side;
  Words words(*Shape::of(4, 1, 1024, kManyBuckets));
  const Distribution nothing = words.copied();
  for (const double value : {0.25, 0.5, 30.0, 31.0, 4000.0, 5000.0}) words.record(value);
  const Distribution all = words.copied();
  EXPECT_EQ(all.quantile(0)->value, 0.25);
  EXPECT_EQ(all.quantile(0)->side, Side::kWithin);
  EXPECT_EQ(all.quantile(0.3)->side, Side::kBelow);
  EXPECT_GE(all.quantile(0.3)->value, 0.5);
  EXPECT_EQ(all.quantile(0.5)->side, Side::kWithin);
  EXPECT_EQ(all.quantile(0.8)->side, Side::kAbove);
  EXPECT_EQ(all.quantile(0.8)->value, 1024);
  EXPECT_EQ(all.quantile(1)->value, 5000);
  EXPECT_EQ(all.quantile(1)->side, Side::kWithin);

  Distribution interval = *all.since(nothing);
  interval.least = interval.most = std::nullopt;  // as of an interval that does not begin it
  EXPECT_EQ(interval.quantile(0)->side, Side::kBelow);
  EXPECT_EQ(interval.quantile(1)->side, Side::kAbove);
  EXPECT_EQ(interval.quantile(1)->value, 1024);
}

// Where threads share a block, a value is counted before it is held against the extremes.
TEST(Distributions, DoWithoutExtremesThatAreNotThereYet) {
  const double nan = std::nan("");
  for (const auto& [least, most] : {std::pair(kInfinity, -kInfinity), std::pair(6.0, -kInfinity),
                                    std::pair(kInfinity, 6.0), std::pair(nan, nan)}) {
    Words words(*Shape::of(2, 1, 1000, kManyBuckets));
    words.record(6);
    words.set_extremes(least, most);
    const Distribution seen = words.copied();
    EXPECT_FALSE(seen.least);
    EXPECT_FALSE(seen.most);
    EXPECT_NEAR(seen.quantile(0.5)->value, 6, 6 * seen.error_bound() * (1 + 1e-9));
  }
}

TEST(Distributions, WithoutValuesHaveNoQuantile) {
  const Words words(*Shape::of(4, 1, 1e6, kManyBuckets));
  EXPECT_FALSE(words.copied().quantile(0.5));
}

}  // namespace
}  // namespace meterbank
