// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/leases/lease_table.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "../scripted_kernel.hpp"
#include "arbiter/core/leases/pieces.hpp"

namespace meterbank::arbiter {
namespace {

class LeaseTables : public testing::Test {
 protected:
  Lease& add(pmu::Priority priority = pmu::Priority::kBatch, std::uint32_t uid = 0) {
    Lease lease;
    lease.client = 5;
    lease.holder.uid = uid;
    lease.asked = allocate({cycles(1)});
    lease.asked.head.priority = static_cast<std::uint32_t>(priority);
    set_plan(lease, plan_for(request_of(lease.asked), small_machine()).value());
    return table.add(std::move(lease));
  }

  Policy policy = Policy::standard();
  LeaseTable table{3, 4, policy};
};

TEST_F(LeaseTables, GivesEachLeaseANumberATokenAndAnArrival) {
  const Lease& one = add();
  const Lease& two = add();

  EXPECT_EQ(one.state(), pmu::LeaseState::kQueued);
  EXPECT_NE(one.number, two.number);
  EXPECT_LT(one.arrival, two.arrival);
  EXPECT_EQ(pmu::lease_of(one.token), one.number);
  EXPECT_EQ(pmu::epoch_of(one.token), 3);
}

TEST_F(LeaseTables, HasNoFreeNumberOnceAllAreTaken) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(table.has_free_number());
    add();
  }
  EXPECT_FALSE(table.has_free_number());
}

TEST_F(LeaseTables, NeverRepeatsATokenWhenItRepeatsANumber) {
  std::set<pmu::Token> tokens;
  std::set<LeaseNumber> numbers;
  for (int i = 0; i < 12; ++i) {
    Lease& lease = add();
    EXPECT_TRUE(tokens.insert(lease.token).second);
    numbers.insert(lease.number);
    table.become(lease, pmu::LeaseState::kNone);
    table.forget_ended();
  }
  EXPECT_EQ(numbers.size(), 3U);
}

TEST_F(LeaseTables, GivesNoTokenToADryRun) {
  Lease lease;
  lease.asked.head.flags = pmu::kAllocateDryRun;

  EXPECT_EQ(table.add(std::move(lease)).token, 0U);
}

TEST_F(LeaseTables, FencesTheOldTokenWhenItIsRenewed) {
  Lease& lease = add();
  table.become(lease, pmu::LeaseState::kActive);
  const pmu::Token old = lease.token;
  table.renew_token(lease);

  EXPECT_EQ(table.find_held(5, old), nullptr);
  EXPECT_EQ(table.find_held(5, lease.token), &lease);
}

TEST_F(LeaseTables, FindsHeldLeasesForTheirHolderOnly) {
  Lease& lease = add();
  EXPECT_EQ(table.find_held(5, lease.token), nullptr) << "it waits";
  table.become(lease, pmu::LeaseState::kActive);

  EXPECT_EQ(table.find_held(5, lease.token), &lease);
  EXPECT_EQ(table.find_held(6, lease.token), nullptr);
}

TEST_F(LeaseTables, KeepsAnEndedLeaseUntilItIsForgotten) {
  Lease& lease = add();
  const LeaseNumber number = lease.number;
  EXPECT_TRUE(table.become(lease, pmu::LeaseState::kNone));
  EXPECT_FALSE(table.become(lease, pmu::LeaseState::kNone)) << "it is already";

  EXPECT_EQ(table.find(number), &lease);
  EXPECT_EQ(table.find_present(number), nullptr);
  table.forget_ended();
  EXPECT_EQ(table.find(number), nullptr);
}

TEST_F(LeaseTables, NamesOnceWhatWasHandedOutToBeChanged) {
  const LeaseNumber one = add().number;
  const LeaseNumber two = add().number;
  EXPECT_EQ(table.take_touched(), (std::vector<LeaseNumber>{one, two}));
  EXPECT_TRUE(table.take_touched().empty());

  EXPECT_EQ(std::as_const(table).at(one).number, one);
  EXPECT_TRUE(table.take_touched().empty()) << "it could only be read";
  table.at(two).deadline_ns = 7;
  static_cast<void>(table.find_present(two));
  EXPECT_EQ(table.take_touched(), std::vector<LeaseNumber>{two});
}

TEST_F(LeaseTables, NamesALeaseThatHasEnded) {
  Lease& lease = add();
  static_cast<void>(table.take_touched());
  table.become(lease, pmu::LeaseState::kNone);

  EXPECT_EQ(table.take_touched(), std::vector<LeaseNumber>{lease.number});
}

TEST_F(LeaseTables, CountsLeasesAndWaitsOfEachUser) {
  Lease& one = add(pmu::Priority::kBatch, 7);
  add(pmu::Priority::kBatch, 7);
  table.become(one, pmu::LeaseState::kPreparing);

  EXPECT_EQ(table.counts_of(7), (UserCounts{.leases = 1, .waits = 1}));
  table.become(one, pmu::LeaseState::kActive);
  EXPECT_EQ(table.counts_of(7), (UserCounts{.leases = 1, .waits = 1}));
  table.become(one, pmu::LeaseState::kLimbo);
  EXPECT_EQ(table.counts_of(7), (UserCounts{.leases = 0, .waits = 1}));
  EXPECT_EQ(table.counts_of(8), UserCounts{});
  EXPECT_TRUE(table.is_tallied());
}

TEST_F(LeaseTables, LetsHigherClassesPreemptThoseThatGiveWay) {
  Lease& lease = add(pmu::Priority::kBatch);
  EXPECT_FALSE(table.may_preempt(pmu::Priority::kCritical)) << "it has no counters yet";
  table.become(lease, pmu::LeaseState::kActive);

  EXPECT_TRUE(table.gives_way(lease));
  EXPECT_TRUE(table.may_preempt(pmu::Priority::kInteractive));
  EXPECT_FALSE(table.may_preempt(pmu::Priority::kBatch)) << "its own class";
}

TEST_F(LeaseTables, CountsAnewWhenThePolicyChanges) {
  Lease& lease = add(pmu::Priority::kBatch);
  table.become(lease, pmu::LeaseState::kActive);
  policy.classes.at(static_cast<std::size_t>(pmu::Priority::kBatch)).is_preemptible = false;
  table.adopt(policy);

  EXPECT_FALSE(table.may_preempt(pmu::Priority::kCritical));
  EXPECT_TRUE(table.is_tallied());
  table.become(lease, pmu::LeaseState::kFenced);
  EXPECT_TRUE(table.is_tallied());
}

TEST_F(LeaseTables, LoadsWhatItSaved) {
  Lease& active = add(pmu::Priority::kBatch, 7);
  add(pmu::Priority::kCritical, 8);
  table.become(active, pmu::LeaseState::kActive);
  nlohmann::json saved;
  table.save(saved);

  LeaseTable loaded(3, 4, policy);
  ASSERT_TRUE(loaded.load(saved, small_machine()));

  nlohmann::json again;
  loaded.save(again);
  EXPECT_EQ(again, saved);
  EXPECT_TRUE(loaded.is_tallied());
  EXPECT_EQ(loaded.counts_of(7), (UserCounts{.leases = 1, .waits = 0}));
  EXPECT_EQ(loaded.at(active.number).state(), pmu::LeaseState::kActive);
}

TEST_F(LeaseTables, RefusesTwoLeasesOfOneNumber) {
  add();
  nlohmann::json saved;
  table.save(saved);
  saved["leases"].push_back(saved["leases"].front());

  LeaseTable loaded(3, 4, policy);
  EXPECT_FALSE(loaded.load(saved, small_machine()));
}

}  // namespace
}  // namespace meterbank::arbiter
