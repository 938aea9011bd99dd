// SPDX-License-Identifier: Apache-2.0
//
// Values that do not belong into a distribution, and ranges that make none: what becomes of each.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "../support/cooked_values.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace meterbank {
namespace {

enum class Call : std::uint32_t { kLatency };
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kSmallest = std::numeric_limits<double>::denorm_min();
constexpr double kGreatest = std::numeric_limits<double>::max();

constexpr std::array kCounters{CounterSpec{.id = 1,
                                           .name = "Latency",
                                           .symbol = "latency",
                                           .form = ValueForm::kDistribution,
                                           .buckets = {.scale = 0, .least = 3, .most = 8}}};

// How a value is recorded.
enum class Way : std::uint8_t { kRecorder, kUpdate, kShard, kSharedShard };

class BadValues : public testing::TestWithParam<Way> {
 protected:
  BadValues() {
    const bool sharded = GetParam() == Way::kShard || GetParam() == Way::kSharedShard;
    const Registration set = *provider_.add({.name = "Calls",
                                             .symbol = "calls",
                                             .shards = sharded ? 8U : 0U,
                                             .sharded = sharded,
                                             .counters = kCounters});
    if (sharded) {
      sharded_ = *set.create_sharded_instance("one");
    } else {
      plain_ = *set.create_instance("one");
    }
    catalog_.refresh();
    query_ = *Query::compile(catalog_, {});
  }
  void record(double value) {
    switch (GetParam()) {
      case Way::kRecorder:
        return plain_.recorder(Call::kLatency).record(value);
      case Way::kUpdate: {
        const Recorder recorder = plain_.recorder(Call::kLatency);
        return plain_.update([&](Values& values) noexcept { values.record(recorder, value); });
      }
      case Way::kShard:
        return sharded_.recorder(Call::kLatency).record(value);
      case Way::kSharedShard:
        // Inside an update its thread has no block of its own.
        return sharded_.update(
            [&](ShardValues&) noexcept { sharded_.recorder(Call::kLatency).record(value); });
    }
  }
  Distribution now() {
    query_.collect(sample_);
    const auto rows = test::cooked_values(nullptr, sample_);
    EXPECT_EQ(rows.size(), 1U);
    EXPECT_NE(rows.at(0).distribution, nullptr);
    return rows.at(0).distribution == nullptr ? Distribution() : *rows[0].distribution;
  }
  // Of a distribution with this one value: where it was counted.
  struct Outcome {
    std::uint64_t below, above, refused, counted;
    double sum;
  };
  void expect(const Outcome& outcome, double least, double most) {
    const Distribution seen = now();
    EXPECT_EQ(seen.below, outcome.below);
    EXPECT_EQ(seen.above, outcome.above);
    EXPECT_EQ(seen.refused, outcome.refused);
    EXPECT_EQ(seen.count, outcome.counted);
    EXPECT_EQ(seen.sum, outcome.sum);
    EXPECT_EQ(seen.least, least);
    EXPECT_EQ(seen.most, most);
  }

  test::TemporaryDirectory directory_;
  Provider provider_ = *Provider::create({.name = "calls", .directory = directory_.path()});
  Instance plain_;
  ShardedInstance sharded_;
  Catalog catalog_ = *Catalog::open({.directory = directory_.path()});
  Query query_ = *Query::compile(catalog_, {});
  Sample sample_;
};

TEST_P(BadValues, NotANumberIsRefusedAndCountedAsSuch) {
  record(std::nan(""));
  record(-std::numeric_limits<double>::quiet_NaN());
  record(std::numeric_limits<double>::signaling_NaN());
  const Distribution seen = now();
  EXPECT_EQ(seen.refused, 3U);
  EXPECT_EQ(seen.count, 0U);
  EXPECT_EQ(seen.sum, 0.0);
  EXPECT_FALSE(seen.least);
  EXPECT_FALSE(seen.most);
  EXPECT_FALSE(seen.quantile(0.5));
  record(4);
  expect({0, 0, 3, 1, 4}, 4, 4);
}

TEST_P(BadValues, InfinityIsAboveAndNotInTheSum) {
  record(4);
  record(kInfinity);
  expect({0, 1, 0, 2, 4}, 4, kInfinity);
  EXPECT_EQ(now().quantile(1)->value, kInfinity);
  EXPECT_EQ(now().quantile(0)->value, 4);
}

TEST_P(BadValues, NegativeInfinityIsBelowAndNotInTheSum) {
  record(4);
  record(-kInfinity);
  expect({1, 0, 0, 2, 4}, -kInfinity, 4);
  EXPECT_EQ(now().quantile(0)->value, -kInfinity);
}

TEST_P(BadValues, InfinityAloneIsBothExtremes) {
  record(kInfinity);
  expect({0, 1, 0, 1, 0}, kInfinity, kInfinity);
  EXPECT_EQ(now().quantile(0.5)->value, kInfinity);
}

TEST_P(BadValues, ZeroOfEitherSignIsBelow) {
  record(0.0);
  record(-0.0);
  expect({2, 0, 0, 2, 0}, 0, 0);
  EXPECT_EQ(now().quantile(0.5)->value, 0);
}

TEST_P(BadValues, NegativeOnesAreBelowAndInTheSum) {
  record(-1.5);
  record(4);
  expect({1, 0, 0, 2, 2.5}, -1.5, 4);
  EXPECT_EQ(now().quantile(0.5)->value, -1.5);
}

// The range is 3 to 8 at scale 0: buckets (2, 4] and (4, 8].
TEST_P(BadValues, TheRangeIsRoundedOutwardsToWholeBuckets) {
  record(2);
  expect({1, 0, 0, 1, 2}, 2, 2);
  record(std::nextafter(2, 3));
  record(8);
  EXPECT_EQ(now().below, 1U);
  EXPECT_EQ(now().above, 0U);
  EXPECT_EQ(now().buckets, (std::vector<std::uint64_t>{1, 1}));
  record(std::nextafter(8, 9));
  EXPECT_EQ(now().above, 1U);
}

TEST_P(BadValues, TheSmallestAndTheGreatestNumbersAreOutsideLikeOthers) {
  record(kSmallest);
  record(kGreatest);
  expect({1, 1, 0, 2, kGreatest}, kSmallest, kGreatest);
  record(kGreatest);  // the sum ends where doubles end
  expect({1, 2, 0, 3, kInfinity}, kSmallest, kGreatest);
  record(-kGreatest);
  EXPECT_EQ(now().sum, kInfinity);
  EXPECT_EQ(now().count, 4U);
}

TEST_P(BadValues, AreCountedPerInterval) {
  const auto record_all = [this](int times) {
    for (int time = 0; time < times; ++time) {
      for (const double value : {-1.0, 0.0, 4.0, 100.0, kInfinity, std::nan("")}) record(value);
    }
  };
  record_all(3);
  Sample before;
  query_.collect(before);
  record_all(2);
  query_.collect(sample_);
  const auto rows = test::cooked_values(&before, sample_);
  ASSERT_EQ(rows.size(), 1U);
  ASSERT_NE(rows[0].distribution, nullptr);
  const Distribution& between = *rows[0].distribution;
  EXPECT_EQ(between.count, 10U);
  EXPECT_EQ(between.below, 4U);
  EXPECT_EQ(between.above, 4U);
  EXPECT_EQ(between.refused, 2U);
  EXPECT_EQ(between.sum, 206);
  EXPECT_EQ(between.buckets, (std::vector<std::uint64_t>{2, 0}));
  EXPECT_FALSE(between.least);  // of the interval they are not known
  EXPECT_FALSE(between.most);
  // The ends of the range stand for what is outside, and say so.
  EXPECT_EQ(between.quantile(0)->side, Quantile::Side::kBelow);
  EXPECT_EQ(between.quantile(0)->value, 2);
  EXPECT_EQ(between.quantile(1)->side, Quantile::Side::kAbove);
  EXPECT_EQ(between.quantile(1)->value, 8);
}

TEST_P(BadValues, SharesOutsideZeroToOneAreItsEnds) {
  record(4);
  record(8);
  EXPECT_EQ(now().quantile(-1)->value, now().quantile(0)->value);
  EXPECT_EQ(now().quantile(2)->value, now().quantile(1)->value);
}

std::string name_of_way(const testing::TestParamInfo<Way>& made) {
  constexpr std::array kNames{"Recorder", "Update", "Shard", "SharedShard"};
  return kNames[static_cast<std::size_t>(made.param)];
}

INSTANTIATE_TEST_SUITE_P(RecordedBy, BadValues,
                         testing::Values(Way::kRecorder, Way::kUpdate, Way::kShard,
                                         Way::kSharedShard),
                         name_of_way);

// ---- Ranges ----

Error refusal_of(const BucketSpec& buckets) {
  std::array<CounterSpec, 1> counters = kCounters;
  counters[0].buckets = buckets;
  const auto schema =
      encode_schema({.name = "Calls", .symbol = "calls", .counters = counters}, "calls");
  return schema ? Error{} : schema.error();
}

TEST(BadRanges, AreRefusedWithWhatARangeIs) {
  const double nan = std::nan("");
  for (const BucketSpec& buckets :
       {BucketSpec{}, BucketSpec{.least = 0, .most = 1}, BucketSpec{.least = -1, .most = 1},
        BucketSpec{.least = 2, .most = 1}, BucketSpec{.least = nan, .most = 1},
        BucketSpec{.least = 1, .most = nan}, BucketSpec{.least = 1, .most = kInfinity},
        BucketSpec{.least = kInfinity, .most = kInfinity}, BucketSpec{.least = -0.0, .most = 1},
        BucketSpec{.scale = kScaleMax + 1, .least = 1, .most = 2},
        BucketSpec{.scale = kScaleMin - 1, .least = 1, .most = 2},
        BucketSpec{.scale = kScaleMax, .least = 1, .most = 1e300},
        BucketSpec{.scale = 0, .least = kSmallest, .most = kGreatest}}) {
    const Error error = refusal_of(buckets);
    EXPECT_EQ(error.code, ErrorCode::kInvalidArgument)
        << buckets.scale << ": " << buckets.least << " to " << buckets.most;
    EXPECT_NE(error.what.find("0 < least <= most, scale in -4..8"), std::string::npos)
        << error.what;
  }
}

TEST(BadRanges, AreThoseOnly) {
  for (const BucketSpec& buckets :
       {BucketSpec{.scale = 0, .least = 1, .most = 1},
        BucketSpec{.scale = kScaleMin, .least = kSmallest, .most = kGreatest},
        BucketSpec{.scale = -1, .least = kSmallest, .most = kGreatest},
        BucketSpec{.scale = kScaleMax, .least = 1, .most = 2}}) {
    EXPECT_EQ(refusal_of(buckets).what, "") << buckets.least << " to " << buckets.most;
  }
}

// Words for all buckets of a set, not only of one counter, must fit a block.
TEST(BadRanges, MustFitTheBlockAsAWhole) {
  std::array<CounterSpec, 4> counters;
  constexpr std::array<std::string_view, 4> kSymbols{"a", "b", "c", "d"};
  for (std::uint32_t i = 0; i < counters.size(); ++i) {
    counters[i] = kCounters[0];
    counters[i].id = i + 1;
    counters[i].name = counters[i].symbol = kSymbols[i];
    counters[i].buckets = {.scale = -1, .least = kSmallest, .most = kGreatest};
  }
  const auto schema =
      encode_schema({.name = "Calls", .symbol = "calls", .counters = counters}, "calls");
  ASSERT_FALSE(schema);
  EXPECT_NE(schema.error().what.find("coarser distributions"), std::string::npos)
      << schema.error().what;
}

}  // namespace
}  // namespace meterbank
