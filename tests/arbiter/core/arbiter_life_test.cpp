// SPDX-License-Identifier: Apache-2.0
//
// How leases end: freed, revoked, run out, lost with their holder; and what lies between an end and
// a counter that is free again.
#include <gtest/gtest.h>

#include "scripted_kernel.hpp"

namespace meterbank::arbiter {
namespace {

constexpr Nanoseconds kDrain = 200 * kMillisecond;

class ArbiterLife : public ::testing::Test {
 protected:
  pmu::Token granted(ClientNumber client, const pmu::Allocate& asked) {
    world.say(client, ++id, asked);
    const pmu::Token token = world.token(client, id);
    EXPECT_NE(token, 0U);
    return token;
  }
  [[nodiscard]] std::optional<pmu::Notice> last_notice(ClientNumber client) const {
    const auto notices = world.all<pmu::Notice>(client);
    return notices.empty() ? std::nullopt : std::optional(notices.back());
  }
  std::uint64_t id = 0;
  ScriptedKernel world{small_machine()};
};

TEST_F(ArbiterLife, FreeIsDoneOnceAndHarmlessTwice) {
  const ClientNumber root = world.connect();
  const pmu::Token token = granted(root, allocate({cycles(4)}));
  world.say(world.connect(), 90, pmu::Free{token});
  EXPECT_EQ(world.reason(2, 90), pmu::Reason::kMalformed) << "of another client";
  world.say(root, 91, pmu::Free{token + 1});
  EXPECT_EQ(world.reason(root, 91), pmu::Reason::kMalformed) << "of another generation";
  world.say(root, 92, pmu::Free{token});
  EXPECT_TRUE(world.answer<pmu::Done>(root, 92));
  world.say(root, 93, pmu::Free{token});
  EXPECT_EQ(world.answer<pmu::Refused>(root, 93)->head.answer, pmu::Answer::kInvalidParameter);
  EXPECT_TRUE(world.all<pmu::Notice>(root).empty()) << "who frees needs no notice";
  EXPECT_EQ(world.open_count(), 0U);
  granted(root, allocate({cycles(4)}));
}

TEST_F(ArbiterLife, LimboLastsUntilTheKernelHasLetGo) {
  const ClientNumber root = world.connect();
  const pmu::Token token = granted(root, allocate({cycles(4)}));
  world.keeps = 3;
  world.say(root, 90, pmu::Free{token});
  EXPECT_EQ(world.state(token), pmu::LeaseState::kLimbo);
  EXPECT_EQ(world.slots(0, pmu::CounterState::kLimbo), 4U);
  const ClientNumber other = world.connect();
  world.say(other, 91, allocate({cycles()}));
  const auto refused = world.answer<pmu::Refused>(other, 91);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->head.reason, pmu::Reason::kLimbo);
  EXPECT_NE(refused->sentence.find("cooling down"), std::string::npos);
  // Looks come after 1, 2 and 4 milliseconds.
  world.pass(2 * kMillisecond);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kLimbo);
  world.pass(5 * kMillisecond);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kNone);
  granted(other, allocate({cycles(4)}));
}

TEST_F(ArbiterLife, ARevokedHolderMayReadUntilItsDeadline) {
  const ClientNumber root = world.connect();
  const ClientNumber holder = world.connect();
  const pmu::Token token = granted(holder, allocate({cycles()}));
  world.say(root, 50, pmu::AdminRevoke{token, kDrain});
  ASSERT_TRUE(last_notice(holder));
  EXPECT_EQ(last_notice(holder)->kind, pmu::NoticeKind::kRevoking);
  EXPECT_EQ(last_notice(holder)->deadline_ns, world.now + kDrain);
  EXPECT_FALSE(world.answer<pmu::Done>(root, 50)) << "told once it is fenced";
  EXPECT_TRUE(pmu::is_in_force(world.arbiter.lease_word(pmu::lease_of(token)), token));
  world.count(70, kMillisecond);
  world.say(holder, 51, pmu::Read{token});
  EXPECT_EQ(world.answer<pmu::LeaseValues>(holder, 51)->values.at(0).value, 70U);
  world.pass(kDrain - 1);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kRevoking);
  world.count(5, kMillisecond);
  world.pass(1);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kNone);
  EXPECT_TRUE(world.answer<pmu::Done>(root, 50));
  EXPECT_EQ(last_notice(holder)->kind, pmu::NoticeKind::kLost);
  EXPECT_EQ(last_notice(holder)->cause, pmu::Cause::kRevokedByAdministrator);
  const auto finals = world.all<pmu::LeaseValues>(holder);
  EXPECT_EQ(finals.back().values.at(0).value, 75U);
  EXPECT_EQ(finals.back().head.quality, pmu::Quality::kFenced);
}

TEST_F(ArbiterLife, FinalValuesComeBeforeTheNoticeThatItIsLost) {
  const ClientNumber root = world.connect();
  const pmu::Token token = granted(root, allocate({cycles()}));
  world.say(root, 50, pmu::AdminRevoke{token, 0});
  std::size_t values_at = 0;
  std::size_t notice_at = 0;
  for (std::size_t i = 0; i < world.sent.size(); ++i) {
    if (std::holds_alternative<pmu::LeaseValues>(world.sent[i].message)) values_at = i;
    if (std::holds_alternative<pmu::Notice>(world.sent[i].message)) notice_at = i;
  }
  EXPECT_LT(values_at, notice_at);
  EXPECT_GT(values_at, 0U);
}

TEST_F(ArbiterLife, DrainedEndsARevocationEarly) {
  const ClientNumber root = world.connect();
  const pmu::Token token = granted(root, allocate({cycles()}));
  world.say(root, 49, pmu::Drained{token});
  EXPECT_EQ(world.reason(root, 49), pmu::Reason::kMalformed) << "no drain was requested";
  world.say(root, 50, pmu::AdminRevoke{token, 10 * kSecond});
  world.say(root, 51, pmu::Drained{token});
  EXPECT_TRUE(world.answer<pmu::Done>(root, 51));
  EXPECT_TRUE(world.answer<pmu::Done>(root, 50));
  EXPECT_EQ(world.state(token), pmu::LeaseState::kNone);
}

TEST_F(ArbiterLife, APolicyIsReadWhileAUsersLeasesAreInLimbo) {
  const ClientNumber root = world.connect();
  const pmu::Token one = granted(root, allocate({cycles()}));
  const pmu::Token two = granted(root, allocate({cycles()}));
  world.keeps = 3;
  world.say(root, 90, pmu::Free{one});
  world.say(root, 91, pmu::Free{two});
  ASSERT_EQ(world.state(one), pmu::LeaseState::kLimbo);
  ASSERT_EQ(world.state(two), pmu::LeaseState::kLimbo);

  world.arbiter.adopt(Policy::standard(), world.now);

  world.pass(kSecond);
  EXPECT_EQ(world.state(two), pmu::LeaseState::kNone);
  granted(root, allocate({cycles(4)}));
}

TEST_F(ArbiterLife, ATermStandsStillWhileThereIsNothingToUse) {
  const ClientNumber root = world.connect();
  pmu::Allocate asked = allocate({cycles()});
  asked.head.term_ns = kSecond;
  const pmu::Token token = granted(root, asked);
  world.lost = {world.lease(token)->carriers.front()};
  world.sample_all();
  ASSERT_EQ(world.state(token), pmu::LeaseState::kSuspended);
  world.pass(5 * kSecond);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kSuspended);
  world.lost.clear();
  for (int i = 0; i < 50 && world.state(token) != pmu::LeaseState::kActive; ++i) {
    world.pass(kSecond / 10);
  }
  ASSERT_EQ(world.state(token), pmu::LeaseState::kActive);
  world.pass(kSecond / 2);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kActive) << "it began anew";
  world.pass(kSecond);
  EXPECT_NE(world.state(token), pmu::LeaseState::kActive) << "and ends";
}

TEST_F(ArbiterLife, WithoutAHeartbeatATermEnds) {
  const ClientNumber root = world.connect();
  pmu::Allocate asked = allocate({cycles()});
  asked.head.term_ns = 1;  // raised to the least that there is
  const pmu::Token token = granted(root, asked);
  EXPECT_EQ(world.answer<pmu::Granted>(root, id)->head.term_ns, Arbiter::kTermMin);
  for (int i = 0; i < 8; ++i) {
    world.pass(kSecond / 2);
    world.arbiter.heartbeat(root, world.now);
  }
  EXPECT_EQ(world.state(token), pmu::LeaseState::kActive);
  world.arbiter.heartbeat(root, world.now + 1000 * kSecond);
  world.pass(kSecond);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kRevoking) << "the future was not believed";
  EXPECT_EQ(last_notice(root)->cause, pmu::Cause::kTermEnded);
  world.pass(kDrain);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kNone);
  EXPECT_EQ(world.arbiter.statistics().expiries, 1U);
}

TEST_F(ArbiterLife, ALateTickExtendsTerms) {
  const ClientNumber root = world.connect();
  pmu::Allocate asked = allocate({cycles()});
  asked.head.term_ns = 2 * kSecond;
  const pmu::Token token = granted(root, asked);
  world.now += 60 * kSecond;  // the machine was asleep
  world.arbiter.passed(world.now);
  world.run();
  EXPECT_EQ(world.state(token), pmu::LeaseState::kActive);
  world.pass(kSecond);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kActive);
  world.pass(kSecond);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kRevoking);
}

TEST_F(ArbiterLife, AnEarlierTimeCountsAsTheLastOne) {
  const ClientNumber root = world.connect();
  pmu::Allocate asked = allocate({cycles()});
  asked.head.hold_ns = kSecond;
  const pmu::Token token = granted(root, asked);
  world.arbiter.passed(0);
  world.arbiter.passed(world.now + kSecond - 1);
  world.arbiter.passed(5);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kActive);
}

TEST_F(ArbiterLife, HoldsEndAndMayBeRenewed) {
  const ClientNumber root = world.connect();
  pmu::Allocate asked = allocate({cycles()});
  asked.head.hold_ns = 10 * kSecond;
  const pmu::Token token = granted(root, asked);
  EXPECT_EQ(world.lease(token)->ends_ns, world.now + 10 * kSecond);
  world.pass(9 * kSecond);
  world.say(root, 60, pmu::Renew{token});
  EXPECT_TRUE(world.answer<pmu::Done>(root, 60));
  world.pass(9 * kSecond);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kActive);
  world.pass(kSecond);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kRevoking);
  EXPECT_EQ(last_notice(root)->cause, pmu::Cause::kHoldEnded);
  world.say(root, 61, pmu::Renew{token});
  EXPECT_TRUE(world.answer<pmu::Refused>(root, 61)) << "too late";
}

TEST_F(ArbiterLife, NoTimeThatAClientSaysWraps) {
  const ClientNumber root = world.connect();
  pmu::Allocate asked = allocate({cycles()});
  asked.head.term_ns = pmu::kForever;
  asked.head.hold_ns = pmu::kForever;
  const pmu::Token token = granted(root, asked);
  world.say(root, 60, pmu::AdminRevoke{token, pmu::kForever});
  world.pass(kSecond);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kRevoking);
}

TEST_F(ArbiterLife, AWholePmuIsLentForAMinute) {
  const ClientNumber root = world.connect();
  const pmu::Token token = granted(root, allocate_whole());
  EXPECT_EQ(world.lease(token)->ends_ns, world.now + Policy::standard().whole_hold_ns_max);
}

TEST_F(ArbiterLife, ALostConnectionEndsItsLeasesAtOnce) {
  const ClientNumber gone = world.connect();
  const ClientNumber other = world.connect();
  granted(gone, allocate({cycles(3)}));
  granted(gone, allocate({single(0)}, 2));
  pmu::Allocate waits = allocate({cycles(2)});
  waits.head.wait_ns = pmu::kForever;
  world.say(gone, 70, waits);
  world.say(other, 71, waits);
  ASSERT_EQ(world.arbiter.queue().size(), 2U);
  world.disconnect(gone);
  EXPECT_NE(world.token(other, 71), 0U) << "served by what was left behind";
  EXPECT_EQ(world.arbiter.leases().size(), 1U);
  EXPECT_TRUE(world.arbiter.queue().empty());
}

TEST_F(ArbiterLife, DetachedLeasesWaitForTheirUser) {
  const ClientNumber before = world.connect_as(0, 500);
  pmu::Allocate asked = allocate({cycles()});
  asked.head.flags |= pmu::kAllocateDetached;
  const pmu::Token token = granted(before, asked);
  world.count(40, kMillisecond);
  world.disconnect(before);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kActive);
  const ClientNumber stranger = world.connect_as(5);
  pmu::Allocate again = asked;
  again.head.reclaims = token;
  world.say(stranger, 80, again);
  EXPECT_TRUE(world.answer<pmu::Refused>(stranger, 80));
  const ClientNumber after = world.connect_as(0, 501);
  world.say(after, 81, again);
  const pmu::Token taken_over = world.token(after, 81);
  ASSERT_NE(taken_over, 0U);
  EXPECT_NE(taken_over, token) << "a client that kept the old token is fenced";
  world.say(after, 82, pmu::Read{taken_over});
  EXPECT_EQ(world.answer<pmu::LeaseValues>(after, 82)->values.at(0).value, 40U)
      << "nothing is lost";
  world.disconnect(after);
  world.pass(11 * kSecond);
  EXPECT_TRUE(world.arbiter.leases().empty()) << "no client came";
}

TEST_F(ArbiterLife, AHolderThatCountsOnAfterItsFenceIsFound) {
  const ClientNumber root = world.connect();
  pmu::Allocate asked = allocate_of_task({cycles()}, 1000);
  asked.head.flags |= pmu::kAllocateDelegates;
  for (const bool breaks_it : {false, true}) {
    const pmu::Token token = granted(root, asked);
    world.lets_paused_run = breaks_it;
    world.say(root, ++id, pmu::Free{token});
    EXPECT_EQ(world.state(token), pmu::LeaseState::kFenced);
    world.count(3, kMillisecond);
    world.pass(kSecond);
    EXPECT_EQ(world.state(token), pmu::LeaseState::kNone);
    EXPECT_EQ(world.arbiter.statistics().violations, breaks_it ? 1U : 0U);
  }
  EXPECT_TRUE(std::any_of(world.journal.begin(), world.journal.end(), [](const auto& record) {
    return record.kind == JournalRecord::Kind::kViolation;
  }));
}

TEST_F(ArbiterLife, NoLeaseOutlivesTheArbiter) {
  const ClientNumber root = world.connect();
  granted(root, allocate({cycles(4)}));
  pmu::Allocate waits = allocate({cycles()});
  waits.head.wait_ns = pmu::kForever;
  world.say(root, 70, waits);
  world.arbiter.end(world.now);
  world.run();
  EXPECT_EQ(last_notice(root)->cause, pmu::Cause::kArbiterEnds);
  EXPECT_EQ(world.reason(root, 70), pmu::Reason::kCancelled);
  EXPECT_EQ(world.open_count(), 0U);
  EXPECT_TRUE(world.arbiter.leases().empty());
}

TEST_F(ArbiterLife, APolicyReadAnewRevokesWhatItForbids) {
  Policy open = Policy::standard();
  ScriptedKernel lax(small_machine(), open);
  const ClientNumber user = lax.connect_as(7);
  pmu::Allocate asked = allocate_of_task({cycles()}, 1001);
  asked.items.front().flags = pmu::kItemExcludesKernel;
  lax.say(user, 1, asked);
  ASSERT_NE(lax.token(user, 1), 0U);
  const auto parsed = parse_policy("[[rule]]\nuser = 7\ndeny = \"everything\"\n", "test");
  ASSERT_TRUE(parsed) << parsed.error().message();
  lax.arbiter.adopt(*parsed, lax.now);
  lax.run();
  EXPECT_EQ(lax.all<pmu::Notice>(user).back().cause, pmu::Cause::kPolicyChanged);
  lax.pass(kSecond);
  EXPECT_TRUE(lax.arbiter.leases().empty());
}

}  // namespace
}  // namespace meterbank::arbiter
