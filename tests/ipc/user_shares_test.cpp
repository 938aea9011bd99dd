// SPDX-License-Identifier: Apache-2.0
#include "meterbank/ipc/user_shares.hpp"

#include <gtest/gtest.h>

namespace meterbank {
namespace {

using namespace std::chrono_literals;
using Time = TokenBucket::Time;

constexpr Time kStart{1h};

TEST(TokenBucket, LetsABurstThroughThenItsRate) {
  TokenBucket bucket({.per_second = 10, .at_once = 3}, kStart);
  EXPECT_TRUE(bucket.is_full(kStart));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(bucket.take(kStart));
  EXPECT_FALSE(bucket.take(kStart));
  EXPECT_FALSE(bucket.take(kStart + 99ms));
  EXPECT_TRUE(bucket.take(kStart + 101ms));
  EXPECT_FALSE(bucket.take(kStart + 101ms));
  int taken = 0;
  for (auto now = kStart + 101ms; now < kStart + 100s; now += 1ms) taken += bucket.take(now);
  EXPECT_NEAR(taken, 1000, 2);
}

TEST(TokenBucket, SavesNoMoreThanItsBurst) {
  TokenBucket bucket({.per_second = 1000, .at_once = 2}, kStart);
  EXPECT_TRUE(bucket.take(kStart));
  EXPECT_FALSE(bucket.is_full(kStart));
  const Time later = kStart + 1h;
  EXPECT_TRUE(bucket.is_full(later));
  EXPECT_TRUE(bucket.take(later));
  EXPECT_TRUE(bucket.take(later));
  EXPECT_FALSE(bucket.take(later));
}

TEST(TokenBucket, GivesAndTakesNothingWhenTheClockGoesBack) {
  TokenBucket bucket({.per_second = 1, .at_once = 2}, kStart);
  EXPECT_TRUE(bucket.take(kStart));
  EXPECT_TRUE(bucket.take(kStart - 10s));
  EXPECT_FALSE(bucket.take(kStart - 10s));
}

TEST(UserShares, CountsConnectionsOfEachUserAndOfAll) {
  UserShares shares({}, 8);
  shares.add_connection(1, kStart);
  shares.add_connection(1, kStart);
  shares.add_connection(2, kStart);
  EXPECT_EQ(shares.connections_of(1), 2U);
  EXPECT_EQ(shares.connections_of(3), 0U);
  EXPECT_EQ(shares.connections(), 3U);
  shares.remove_connection(1);
  shares.remove_connection(2);
  shares.remove_connection(2);
  shares.remove_connection(3);
  EXPECT_EQ(shares.connections(), 1U);
}

TEST(UserShares, LimitsCallsOfUsersWithConnectionsAlone) {
  UserShares shares({}, 8);
  shares.add_connection(1, kStart);
  EXPECT_TRUE(shares.begin_call(1, 2));
  EXPECT_TRUE(shares.begin_call(1, 2));
  EXPECT_FALSE(shares.begin_call(1, 2));
  shares.end_call(1);
  EXPECT_TRUE(shares.begin_call(1, 2));
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(shares.begin_call(2, 2));
  shares.end_call(2);
}

TEST(UserShares, LimitThePacketsOfAUserWhateverItsConnections) {
  UserShares shares({.per_second = 1, .at_once = 2}, 8);
  shares.add_connection(1, kStart);
  shares.add_connection(1, kStart);
  shares.add_connection(2, kStart);
  EXPECT_TRUE(shares.take_packet(1, kStart));
  EXPECT_TRUE(shares.take_packet(1, kStart));
  EXPECT_FALSE(shares.take_packet(1, kStart));
  EXPECT_TRUE(shares.take_packet(2, kStart));
  EXPECT_FALSE(shares.take_packet(3, kStart)) << "no connection";
}

// Otherwise a user could come back for a full bucket, or fill the memory with users.
TEST(UserShares, RememberUsersUntilTheyMaySendAtTheFullRate) {
  UserShares shares({.per_second = 1, .at_once = 1}, 4);
  shares.add_connection(1, kStart);
  EXPECT_TRUE(shares.take_packet(1, kStart));
  shares.remove_connection(1);
  const auto others_come = [&shares](Time now) {
    for (uid_t other = 2; other < 100; ++other) {
      shares.add_connection(other, now);
      shares.remove_connection(other);
    }
  };
  others_come(kStart);
  shares.add_connection(1, kStart);
  EXPECT_FALSE(shares.take_packet(1, kStart));
  shares.remove_connection(1);
  others_come(kStart + 2s);
  EXPECT_FALSE(shares.take_packet(1, kStart + 2s)) << "forgotten: it has no connection";
}

}  // namespace
}  // namespace meterbank
