// SPDX-License-Identifier: Apache-2.0
//
// Leases that outlive their arbiter: reclaimed after a crash, carried over in an upgrade.
#include <gtest/gtest.h>

#include "scripted_kernel.hpp"

namespace meterbank::arbiter {
namespace {

ArbiterOptions after_crash() { return {.epoch = 2, .grace_ns = 2 * kSecond}; }

class ArbiterRestart : public ::testing::Test {
 protected:
  ArbiterRestart() {
    holder_identity.pid = 300;
    holder_identity.start_time = 77;
    holder_identity.program = "orders";
    const ClientNumber client = before.connect(holder_identity);
    before.say(client, 1, asked());
    token = before.token(client, 1);
    before.say(client, 2, asked());
    before.say(client, 3, pmu::Free{before.token(client, 2)});
  }
  static pmu::Allocate asked() { return allocate({cycles(2)}); }
  [[nodiscard]] pmu::Allocate reclaiming() const {
    pmu::Allocate again = asked();
    again.head.reclaims = token;
    return again;
  }
  ClientIdentity holder_identity;
  ScriptedKernel before{small_machine()};
  pmu::Token token = 0;
  ScriptedKernel after{small_machine(), Policy::standard(), after_crash()};
};

TEST_F(ArbiterRestart, OnlyReclaimsAreServedWhileGraceLasts) {
  after.arbiter.remember(before.journal);
  const ClientNumber other = after.connect();
  after.say(other, 1, allocate({cycles(4)}));
  EXPECT_EQ(after.reason(other, 1), pmu::Reason::kGrace);
  EXPECT_EQ(after.answer<pmu::Refused>(other, 1)->head.earliest_ns, after.now + 2 * kSecond);
  pmu::Allocate waits = allocate({cycles(1)});
  waits.head.wait_ns = pmu::kForever;
  after.say(other, 2, waits);
  EXPECT_TRUE(after.answer<pmu::Queued>(other, 2));
  after.say(other, 3, reclaiming());
  EXPECT_EQ(after.reason(other, 3), pmu::Reason::kMalformed) << "of another process";

  const ClientNumber holder = after.connect(holder_identity);
  after.say(holder, 1, reclaiming());
  const pmu::Token fresh = after.token(holder, 1);
  ASSERT_NE(fresh, 0U);
  EXPECT_EQ(pmu::epoch_of(fresh), 2);
  EXPECT_EQ(after.arbiter.statistics().reclaims, 1U);
  after.say(holder, 2, reclaiming());
  EXPECT_EQ(after.reason(holder, 2), pmu::Reason::kMalformed) << "once";
  after.pass(2 * kSecond);
  EXPECT_NE(after.token(other, 2), 0U) << "the waiting one is served when grace is over";
}

TEST_F(ArbiterRestart, AReclaimMustRepeatTheRequest) {
  after.arbiter.remember(before.journal);
  const ClientNumber holder = after.connect(holder_identity);
  pmu::Allocate more = allocate({cycles(3)});
  more.head.reclaims = token;
  after.say(holder, 1, more);
  EXPECT_EQ(after.reason(holder, 1), pmu::Reason::kMalformed);
}

TEST_F(ArbiterRestart, CountersThatTheHolderKeptOpenAreTakenBack) {
  pmu::Allocate own = allocate({cycles(2)});
  own.head.flags = pmu::kAllocateHasItems | pmu::kAllocateDelegates;
  own.head.group_count = 0;
  own.groups.clear();
  own.head.task = 300;
  const ClientNumber client = before.connect(holder_identity);
  before.say(client, 1, own);
  const auto granted = before.answer<pmu::Granted>(client, 1);
  ASSERT_TRUE(granted);
  own.head.reclaims = granted->head.token;
  const std::uint64_t kept = granted->counters.at(1).kernel_id;
  ASSERT_NE(kept, 0U);

  after.arbiter.remember(before.journal);
  const ClientNumber other = after.connect();
  const ClientNumber holder = after.connect(holder_identity);
  const pmu::Offer offer{own.head.reclaims, kept};
  EXPECT_FALSE(after.arbiter.expects(other, offer)) << "of another process";
  EXPECT_FALSE(after.arbiter.expects(holder, pmu::Offer{token, kept})) << "of another lease";
  EXPECT_FALSE(after.arbiter.expects(holder, pmu::Offer{own.head.reclaims, kept + 1000}));
  EXPECT_FALSE(after.arbiter.expects(holder, pmu::Offer{own.head.reclaims, 0}));
  EXPECT_TRUE(after.arbiter.expects(holder, offer));
  after.say(other, 1, offer);
  EXPECT_EQ(after.reason(other, 1), pmu::Reason::kMalformed);
  after.say(holder, 1, offer);
  EXPECT_TRUE(after.answer<pmu::Done>(holder, 1));
  after.say(holder, 2, own);
  EXPECT_NE(after.token(holder, 2), 0U);
  EXPECT_EQ(after.last_kept, (std::vector<std::uint64_t>{0, kept})) << "one of two was offered";
  EXPECT_FALSE(after.arbiter.expects(holder, offer)) << "once";
}

TEST_F(ArbiterRestart, TheJournalOfTwoCrashesNamesTheLeasesInForce) {
  after.arbiter.remember(before.journal);
  const ClientNumber holder = after.connect(holder_identity);
  after.say(holder, 1, reclaiming());
  const pmu::Token fresh = after.token(holder, 1);
  std::vector<JournalRecord> both = before.journal;
  both.insert(both.end(), after.journal.begin(), after.journal.end());
  ScriptedKernel third(small_machine(), Policy::standard(), {.epoch = 3, .grace_ns = kSecond});
  third.arbiter.remember(both);
  const ClientNumber again = third.connect(holder_identity);
  third.say(again, 1, reclaiming());
  EXPECT_EQ(third.reason(again, 1), pmu::Reason::kMalformed) << "that one was exchanged";
  pmu::Allocate current = asked();
  current.head.reclaims = fresh;
  third.say(again, 2, current);
  EXPECT_NE(third.token(again, 2), 0U);
}

TEST_F(ArbiterRestart, LeasesThatAreNotReclaimedHaveEnded) {
  after.arbiter.remember(before.journal);
  after.connect();
  after.pass(3 * kSecond);
  const auto ended =
      std::find_if(after.journal.begin(), after.journal.end(), [&](const JournalRecord& record) {
        return record.kind == JournalRecord::Kind::kFenced && record.token == token;
      });
  EXPECT_NE(ended, after.journal.end());
}

TEST(ArbiterUpgrade, AllOfItIsCarriedOver) {
  ScriptedKernel world(small_machine());
  const ClientNumber one = world.connect();
  const ClientNumber two = world.connect();
  pmu::Allocate shared = allocate({cycles()}, 3);
  shared.head.flags |= pmu::kAllocateShares;
  world.say(one, 1, shared);
  world.count(50, kMillisecond);
  world.say(two, 1, shared);
  world.say(one, 2, allocate({single(0), named(ItemKind::kClass, "any", 1)}));
  pmu::Allocate waits = allocate({cycles(2)});
  waits.head.wait_ns = 100 * kSecond;
  world.say(two, 2, waits);
  world.say(one, 3, allocate({cycles()}, 2));
  const auto words = world.arbiter.slot_words(0, 0);
  const auto grants = world.arbiter.statistics().grants;

  const std::string saved = world.arbiter.save();
  world.restart_from(saved);
  EXPECT_TRUE(world.arbiter.save() == saved) << "nothing is lost by being carried over";
  EXPECT_EQ(world.arbiter.slot_words(0, 0), words);
  EXPECT_EQ(world.arbiter.statistics().grants, grants);
  EXPECT_EQ(world.arbiter.queue().size(), 1U);
  world.count(7, kMillisecond);
  world.say(two, 3, pmu::Read{world.token(two, 1)});
  EXPECT_EQ(world.answer<pmu::LeaseValues>(two, 3)->values.at(0).value, 7U);
  world.say(one, 4, pmu::Free{world.token(one, 2)});
  EXPECT_NE(world.token(two, 2), 0U) << "who waited before is served after";
  world.say(one, 5, allocate({cycles()}, 2));
  EXPECT_GT(world.token(one, 5), world.token(one, 1)) << "generations go on";
}

TEST(ArbiterUpgrade, RefusesInconsistentState) {
  ScriptedKernel world(small_machine());
  const ClientNumber one = world.connect();
  world.say(one, 1, allocate({cycles()}));
  const std::string saved = world.arbiter.save();
  const auto restore = [](const std::string& text) {
    return Arbiter::restore(text, MachineBook::open(small_machine()).value(), Policy::standard());
  };
  ASSERT_TRUE(restore(saved));
  EXPECT_FALSE(restore(""));
  EXPECT_FALSE(restore("{}"));
  for (std::size_t length = 1; length < saved.size(); length += 97) {
    EXPECT_FALSE(restore(saved.substr(0, length)));
  }
  std::string wrong = saved;
  wrong.replace(wrong.find("\"carriers\":[{"), 13, "\"carriers\":[],\"x\":[{");
  EXPECT_FALSE(restore(wrong));
}

}  // namespace
}  // namespace meterbank::arbiter
