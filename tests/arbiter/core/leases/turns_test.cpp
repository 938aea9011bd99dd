// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/leases/turns.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace meterbank::arbiter {
namespace {

constexpr Nanoseconds kSlice = 50;

TEST(Turns, GiveTheFirstTurnToANewcomer) {
  Turns turns(kSlice);
  turns.join(3, 100);
  turns.join(7, 110);

  EXPECT_TRUE(turns.has_turn(7));
  EXPECT_FALSE(turns.has_turn(3));
  EXPECT_EQ(turns.ends_ns(), 110 + kSlice);
}

TEST(Turns, GoRoundInTheOrderInWhichMembersJoined) {
  Turns turns(kSlice);
  for (const LeaseNumber number : std::vector<LeaseNumber>{3, 7, 5}) turns.join(number, 0);
  std::vector<LeaseNumber> order;
  for (int i = 0; i < 4; ++i) {
    order.push_back(turns.next());
    turns.begin(turns.next(), 0);
  }
  EXPECT_EQ(order, (std::vector<LeaseNumber>{3, 7, 5, 3}));
}

TEST(Turns, NeverEndForALeaseThatIsAlone) {
  Turns turns(kSlice);
  EXPECT_FALSE(turns.is_over(1000)) << "there is no member";
  turns.join(3, 0);

  EXPECT_FALSE(turns.is_over(1000));
  EXPECT_EQ(turns.ends_ns(), 0U);
}

TEST(Turns, AreOverAfterTheirSlice) {
  Turns turns(kSlice);
  turns.join(3, 0);
  turns.join(7, 0);

  EXPECT_FALSE(turns.is_over(kSlice - 1));
  EXPECT_TRUE(turns.is_over(kSlice));
  turns.put_off(kSlice + 10);
  EXPECT_FALSE(turns.is_over(kSlice + 9));
  EXPECT_TRUE(turns.is_over(kSlice + 10));
}

TEST(Turns, AreOverAtOnceWhenTheirLeaseLeaves) {
  Turns turns(kSlice);
  for (const LeaseNumber number : std::vector<LeaseNumber>{3, 7, 5}) turns.join(number, 0);
  EXPECT_FALSE(turns.leave(3, 10)) << "it was not its turn";
  EXPECT_TRUE(turns.has_turn(5));
  EXPECT_TRUE(turns.leave(5, 20));
  EXPECT_FALSE(turns.leave(5, 20)) << "once";

  EXPECT_EQ(turns.present(), 0);
  EXPECT_TRUE(turns.is_over(20));
  EXPECT_EQ(turns.next(), 7);
}

TEST(Turns, LoadWhatTheySaved) {
  Turns turns(kSlice);
  turns.join(3, 100);
  turns.join(7, 110);
  nlohmann::json saved;
  turns.save(saved);

  Turns loaded(kSlice);
  loaded.load(saved);

  EXPECT_EQ(loaded.members(), turns.members());
  EXPECT_TRUE(loaded.has_turn(7));
  EXPECT_EQ(loaded.ends_ns(), turns.ends_ns());
}

}  // namespace
}  // namespace meterbank::arbiter
