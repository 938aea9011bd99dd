// SPDX-License-Identifier: Apache-2.0
#include "view/past.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace meterbank::view {
namespace {

TEST(Labels, HaveANameAndAMachine) {
  using Parts = std::pair<std::string_view, std::string_view>;
  EXPECT_EQ(name_and_host_of("orders@48213"), Parts("orders", ""));
  EXPECT_EQ(name_and_host_of("orders@48213 on web1"), Parts("orders", " on web1"));
  EXPECT_EQ(name_and_host_of("a@b@7 on web1"), Parts("a@b", " on web1"));
  EXPECT_EQ(name_and_host_of("orders"), Parts("orders", ""));
}

TEST(Series, MomentsThatWerePassedOverHaveNoValue) {
  Series series;
  series.add(10, 1);
  series.add(13, 4);

  EXPECT_TRUE(std::isnan(series.at(9)));
  EXPECT_EQ(series.at(10), 1);
  EXPECT_TRUE(std::isnan(series.at(11)));
  EXPECT_TRUE(std::isnan(series.at(12)));
  EXPECT_EQ(series.at(13), 4);
  EXPECT_TRUE(std::isnan(series.at(14)));
}

TEST(Series, DropsWhatIsOldAndNothingElse) {
  Series series;
  for (std::uint64_t moment = 10; moment < 20; ++moment) {
    series.add(moment, static_cast<double>(moment));
  }
  series.drop_before(5);
  EXPECT_EQ(series.at(10), 10);
  series.drop_before(15);
  EXPECT_TRUE(std::isnan(series.at(14)));
  EXPECT_EQ(series.at(15), 15);
  series.drop_before(100);
  EXPECT_TRUE(series.empty());
  series.add(200, 7);
  EXPECT_EQ(series.at(200), 7);
}

TEST(Series, OlderValuesComeToLieBeforeTheNewerOnes) {
  Series series;
  series.add(12, 12);
  series.lay_before(10, {7, 8, 9});

  EXPECT_TRUE(std::isnan(series.at(6)));
  EXPECT_EQ(series.at(7), 7);
  EXPECT_EQ(series.at(9), 9);
  EXPECT_TRUE(std::isnan(series.at(10)));
  EXPECT_EQ(series.at(12), 12);
}

TEST(HeatSeries, JoinsFineBucketsAndLosesNoValue) {
  Distribution seen;
  seen.shape.scale = 5;
  seen.shape.first = -8;
  seen.buckets.assign(64, 2);
  seen.buckets[3] = 0;
  HeatSeries heat;

  heat.add(4, seen);

  EXPECT_EQ(heat.scale(), HeatSeries::kScale);
  float sum = 0;
  for (const auto& [bucket, count] : heat.at(4)) sum += count;
  EXPECT_EQ(sum, 126);
  EXPECT_EQ(heat.at(4).front().first, -2);
  EXPECT_EQ(heat.at(4).size(), 16U);
  EXPECT_TRUE(heat.at(3).empty());
}

TEST(Past, ForgetsTheOldestMoments) {
  constexpr std::size_t kMoments = 50;
  Past past(kMoments);
  for (std::uint64_t time = 1; time <= 1000; ++time) past.begin_moment(time, 0);

  EXPECT_GE(past.times().size(), kMoments);
  EXPECT_LE(past.times().size(), kMoments + kMoments / 10 + 1);
  EXPECT_EQ(past.times().back(), 1000U);
  EXPECT_EQ(past.moment_at(1000), past.end_moment() - 1);
  EXPECT_EQ(past.moment_at(1), std::nullopt);
}

TEST(Past, AClockThatWasSetBackMakesNoEarlierMoment) {
  Past past(10);
  past.begin_moment(500, 0);
  past.begin_moment(300, 0);

  ASSERT_EQ(past.times().size(), 2U);
  EXPECT_LT(past.times()[0], past.times()[1]);
}

}  // namespace
}  // namespace meterbank::view
