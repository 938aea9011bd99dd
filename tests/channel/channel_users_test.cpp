// SPDX-License-Identifier: Apache-2.0
//
// What one user gets of a provider's socket.
#include "channel_users.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace meterbank::detail {
namespace {

using namespace std::chrono_literals;
using Time = ChannelUsers::Time;

constexpr Time kStart{1h};

class ChannelUsersTest : public testing::Test {
 protected:
  static constexpr ChannelLimits limits() {
    ChannelLimits limits;
    limits.callbacks_max = 4;
    limits.connections_per_user = 2;
    limits.requests = {.per_second = 1, .at_once = 2};
    return limits;
  }
  const ChannelLimits limits_ = limits();
  ChannelUsers users_{limits_};
  const uid_t stranger_ = ::geteuid() + 1000;
};

TEST_F(ChannelUsersTest, StrangersHaveARateAndHalfTheCalls) {
  users_.add_connection(stranger_, kStart);
  EXPECT_TRUE(users_.is_foreign(stranger_));
  EXPECT_TRUE(users_.take_request(stranger_, kStart));
  EXPECT_TRUE(users_.take_request(stranger_, kStart));
  EXPECT_FALSE(users_.take_request(stranger_, kStart));
  EXPECT_TRUE(users_.begin_call(stranger_));
  EXPECT_TRUE(users_.begin_call(stranger_));
  EXPECT_FALSE(users_.begin_call(stranger_));
  users_.end_call(stranger_);
  EXPECT_TRUE(users_.begin_call(stranger_));
}

TEST_F(ChannelUsersTest, TheOwnUserAndRootHaveNeither) {
  for (const uid_t uid : {users_.own(), uid_t{0}}) {
    users_.add_connection(uid, kStart);
    EXPECT_FALSE(users_.is_foreign(uid));
    for (int i = 0; i < 10; ++i) {
      EXPECT_TRUE(users_.take_request(uid, kStart));
      EXPECT_TRUE(users_.begin_call(uid));
    }
  }
}

TEST_F(ChannelUsersTest, EveryoneHasASmallNumberOfConnections) {
  EXPECT_FALSE(users_.has_all_connections(stranger_));
  users_.add_connection(stranger_, kStart);
  users_.add_connection(stranger_, kStart);
  EXPECT_TRUE(users_.has_all_connections(stranger_));
  EXPECT_FALSE(users_.has_all_connections(stranger_ + 1));
  users_.remove_connection(stranger_);
  EXPECT_FALSE(users_.has_all_connections(stranger_));
}

// Coming back does not fill a bucket, however many others came meanwhile.
TEST_F(ChannelUsersTest, AreRememberedUntilTheirBucketIsFull) {
  users_.add_connection(stranger_, kStart);
  EXPECT_TRUE(users_.take_request(stranger_, kStart));
  EXPECT_TRUE(users_.take_request(stranger_, kStart));
  users_.remove_connection(stranger_);
  for (uid_t other = 1; other < 1000; ++other) {
    users_.add_connection(stranger_ + other, kStart);
    users_.remove_connection(stranger_ + other);
  }
  users_.add_connection(stranger_, kStart);
  EXPECT_FALSE(users_.take_request(stranger_, kStart));
}

}  // namespace
}  // namespace meterbank::detail
