// SPDX-License-Identifier: Apache-2.0
//
// When losses are said, and when their end is.
#include <gtest/gtest.h>

#include "record/appender.hpp"

namespace meterbank::record::loss_watch_test {
namespace {

using std::chrono::seconds;
using Change = LossWatch::Change;

class LossWatchTest : public ::testing::Test {
 protected:
  Change look(std::uint64_t lost, int second) {
    AppenderCounts counts;
    counts.lost = lost;
    return watch_.look_at(counts, LossWatch::Time(seconds(1000 + second)));
  }

 private:
  LossWatch watch_;
};

TEST_F(LossWatchTest, SaysNothingWhileNothingIsLost) {
  for (int second = 0; second < 100; ++second) EXPECT_EQ(look(0, second), Change::kNone);
}

TEST_F(LossWatchTest, SaysOnceThatSomeSamplesFitOnAFullDiskAndOthersDoNot) {
  EXPECT_EQ(look(1, 0), Change::kBegins);
  for (int second = 1; second < 500; ++second) {
    EXPECT_EQ(look(1 + static_cast<std::uint64_t>(second) / 10, second), Change::kNone) << second;
  }
}

TEST_F(LossWatchTest, SaysThatLossesEndedAfterAMinuteWithoutOne) {
  EXPECT_EQ(look(7, 0), Change::kBegins);
  EXPECT_EQ(look(9, 10), Change::kNone);
  EXPECT_EQ(look(9, 69), Change::kNone);
  EXPECT_EQ(look(9, 70), Change::kEnds);
  EXPECT_EQ(look(9, 71), Change::kNone);
  EXPECT_EQ(look(10, 72), Change::kBegins);
}

}  // namespace
}  // namespace meterbank::record::loss_watch_test
