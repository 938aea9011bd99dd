// SPDX-License-Identifier: Apache-2.0
//
// Refusals that name who is in the way, the queue, and who gives way.
#include <gtest/gtest.h>

#include "scripted_kernel.hpp"

namespace meterbank::arbiter {
namespace {

class ArbiterQueue : public ::testing::Test {
 protected:
  static pmu::Allocate asking(std::uint32_t counters, pmu::Priority priority,
                              Nanoseconds wait = pmu::kForever, Nanoseconds hold = 0) {
    pmu::Allocate asked = allocate({cycles(counters)});
    asked.head.priority = static_cast<std::uint32_t>(priority);
    asked.head.wait_ns = wait;
    asked.head.hold_ns = hold;
    return asked;
  }
  [[nodiscard]] bool is_granted(ClientNumber client, std::uint64_t id) const {
    return world.token(client, id) != 0;
  }
  ScriptedKernel world{small_machine()};
};

constexpr auto kBatch = pmu::Priority::kBatch;
constexpr auto kMonitoring = pmu::Priority::kMonitoring;
constexpr auto kInteractive = pmu::Priority::kInteractive;
constexpr auto kCritical = pmu::Priority::kCritical;

TEST_F(ArbiterQueue, ARefusalNamesWhoIsInTheWay) {
  ClientIdentity orders;
  orders.pid = 48213;
  orders.program = "orders";
  const ClientNumber holder = world.connect(orders);
  pmu::Allocate asked = asking(4, kInteractive, 0, 600 * kSecond);
  asked.head.label = wire_name("ipc sampling");
  world.say(holder, 1, asked);
  ASSERT_TRUE(is_granted(holder, 1));
  world.pass(134 * kSecond);
  const ClientNumber root = world.connect();
  world.say(root, 1, asking(1, kInteractive, 0));
  const auto refused = world.answer<pmu::Refused>(root, 1);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->head.answer, pmu::Answer::kInsufficientResources);
  EXPECT_EQ(refused->head.reason, pmu::Reason::kTaken);
  EXPECT_EQ(refused->head.cpu, 0U);
  ASSERT_EQ(refused->blockers.size(), 1U);
  EXPECT_EQ(refused->blockers[0].pid, 48213U);
  EXPECT_EQ(text_of(refused->blockers[0].name), "orders");
  EXPECT_EQ(text_of(refused->blockers[0].label), "ipc sampling");
  EXPECT_EQ(refused->blockers[0].token, world.token(holder, 1));
  EXPECT_EQ(refused->head.earliest_ns, world.now + 466 * kSecond);
  EXPECT_EQ(refused->blockers[0].ends_ns, refused->head.earliest_ns);
  EXPECT_NE(refused->sentence.find("counters of cpu on CPU 0 are leased by orders@48213 (\"ipc "
                                   "sampling\", 2m14s)"),
            std::string::npos)
      << refused->sentence;
}

TEST_F(ArbiterQueue, OtherUsersSeeNoPid) {
  const auto policy =
      parse_policy("[[rule]]\nuser = 7\nallow = [\"whole-cpu\", \"kernel\"]\n", "test");
  ASSERT_TRUE(policy) << policy.error().message();
  ScriptedKernel lax(small_machine(), *policy);
  const ClientNumber holder = lax.connect_as(0, 555);
  lax.say(holder, 1, allocate({cycles(4)}));
  const ClientNumber user = lax.connect_as(7);
  lax.say(user, 1, allocate({cycles(1)}));
  const auto refused = lax.answer<pmu::Refused>(user, 1);
  ASSERT_TRUE(refused);
  ASSERT_EQ(refused->blockers.size(), 1U) << refused->sentence;
  EXPECT_EQ(refused->blockers[0].pid, 0U);
  EXPECT_EQ(refused->sentence.find("555"), std::string::npos);
}

TEST_F(ArbiterQueue, OutsidersAreNamed) {
  world.outsiders.push_back(
      {.name = "perf", .pid = 77, .pmu = 0, .cpus = CpuSet::range(0, 0), .counters = 3, .how = ""});
  const ClientNumber root = world.connect();
  world.say(root, 1, asking(2, kMonitoring, 0));
  const auto refused = world.answer<pmu::Refused>(root, 1);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->head.reason, pmu::Reason::kForeign);
  ASSERT_EQ(refused->blockers.size(), 1U);
  EXPECT_EQ(refused->blockers[0].pid, 77U);
  EXPECT_NE(refused->sentence.find("perf@77"), std::string::npos) << refused->sentence;
  EXPECT_EQ(world.slots(0, pmu::CounterState::kForeign), 3U);
  world.say(root, 2, asking(1, kMonitoring, 0));
  EXPECT_TRUE(is_granted(root, 2)) << "one is left";
  // What is known of outsiders is looked at again before it is a reason to refuse.
  world.outsiders.clear();
  world.pass(kSecond);
  world.say(root, 3, asking(3, kMonitoring, 0));
  EXPECT_TRUE(is_granted(root, 3));
}

TEST_F(ArbiterQueue, AWaitEndsInTimeHoweverOftenTheKernelSaysNo) {
  world.thieves[{0, 0}] = 4;
  const ClientNumber root = world.connect();
  world.say(root, 1, asking(1, kMonitoring, 5 * kSecond));
  world.pass(4 * kSecond);
  EXPECT_FALSE(world.answer<pmu::Refused>(root, 1));
  world.pass(2 * kSecond);
  EXPECT_EQ(world.reason(root, 1), pmu::Reason::kTimeOut);
}

// An outsider of unknown size has no counter in the books before the kernel refuses one.
TEST_F(ArbiterQueue, OutsidersOfUnknownSizeAreBookedWhenTheyAreInTheWay) {
  world.outsiders.push_back({.name = "perf", .pid = 77, .pmu = 0, .cpus = {}, .how = ""});
  world.thieves[{0, 0}] = 2;
  const ClientNumber root = world.connect();
  world.pass(kSecond);
  EXPECT_EQ(world.slots(0, pmu::CounterState::kForeign), 0U);
  world.say(root, 1, asking(3, kMonitoring, 0));
  const auto refused = world.answer<pmu::Refused>(root, 1);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->head.reason, pmu::Reason::kForeign);
  EXPECT_NE(refused->sentence.find("perf@77"), std::string::npos) << refused->sentence;
  EXPECT_EQ(world.slots(0, pmu::CounterState::kForeign), 1U);
  world.say(root, 2, asking(2, kMonitoring, 0));
  EXPECT_TRUE(is_granted(root, 2));
}

TEST_F(ArbiterQueue, WaitersTryAgainEverySecondWhenOutsidersGo) {
  world.thieves[{0, 0}] = 4;
  const ClientNumber root = world.connect();
  world.say(root, 1, asking(1, kMonitoring));
  EXPECT_TRUE(world.answer<pmu::Queued>(root, 1));
  world.pass(3 * kSecond);
  EXPECT_FALSE(is_granted(root, 1));
  world.thieves.clear();
  world.pass(2 * kSecond);
  EXPECT_TRUE(is_granted(root, 1));
}

TEST_F(ArbiterQueue, TheKernelIsNamedWhereItHoldsOne) {
  Machine machine = small_machine();
  machine.topology.foreign = {
      {.name = "watchdog", .pmu = 0, .cpus = CpuSet::range(0, 1), .event_class = 0}};
  ScriptedKernel watched(machine);
  const ClientNumber root = watched.connect();
  watched.say(root, 1, allocate_whole());
  const auto refused = watched.answer<pmu::Refused>(root, 1);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->head.reason, pmu::Reason::kForeign);
  EXPECT_NE(refused->sentence.find("watchdog"), std::string::npos);
}

TEST_F(ArbiterQueue, PolicyAndQuotaAreNoScarcity) {
  const auto policy = parse_policy(
      R"([[rule]]
user = 7
allow = ["whole-cpu", "kernel"]
counters = 2

[class.batch]
hold = 0
quota = "25%"
)",
      "test");
  ASSERT_TRUE(policy) << policy.error().message();
  ScriptedKernel strict(small_machine(), *policy);
  const ClientNumber other = strict.connect_as(99);
  strict.say(other, 1, asking(1, kMonitoring));
  EXPECT_EQ(strict.reason(other, 1), pmu::Reason::kPolicy) << "and no wait helps";
  const ClientNumber user = strict.connect_as(7);
  strict.say(user, 1, asking(1, kCritical));
  EXPECT_EQ(strict.reason(user, 1), pmu::Reason::kPolicy);
  strict.say(user, 2, asking(3, kMonitoring, 0));
  EXPECT_EQ(strict.reason(user, 2), pmu::Reason::kQuota);
  strict.say(user, 3, asking(2, kMonitoring, 0));
  EXPECT_NE(strict.token(user, 3), 0U);
  const ClientNumber root = strict.connect();
  strict.say(root, 1, asking(2, kBatch, 0));
  EXPECT_EQ(strict.reason(root, 1), pmu::Reason::kQuota);
  strict.say(root, 2, asking(1, kBatch, 0));
  EXPECT_NE(strict.token(root, 2), 0U);
}

TEST_F(ArbiterQueue, SharedCountersCountOnceInAQuota) {
  const auto policy = parse_policy("[class.batch]\nhold = 0\nquota = \"25%\"\n", "test");
  ASSERT_TRUE(policy) << policy.error().message();
  ScriptedKernel strict(small_machine(), *policy);
  const ClientNumber root = strict.connect();
  pmu::Allocate shared = asking(1, kBatch, 0);
  shared.head.flags |= pmu::kAllocateShares;
  strict.say(root, 1, shared);
  strict.say(root, 2, shared);
  EXPECT_NE(strict.token(root, 2), 0U);
  strict.say(root, 3, asking(1, kBatch, 0));
  EXPECT_EQ(strict.reason(root, 3), pmu::Reason::kQuota);
}

TEST_F(ArbiterQueue, AnswersHaveAnOrder) {
  const ClientNumber other = world.connect_as(99);
  pmu::Allocate asked = allocate({single(99)});
  world.say(other, 1, asked);
  EXPECT_EQ(world.answer<pmu::Refused>(other, 1)->head.answer, pmu::Answer::kNotSupported);
  asked.head.duty_permille = 0;
  world.say(other, 2, asked);
  EXPECT_EQ(world.answer<pmu::Refused>(other, 2)->head.answer, pmu::Answer::kInvalidParameter);
  asked = allocate({cycles()});
  asked.head.flags |= pmu::kAllocateFlags + 1;
  world.say(other, 3, asked);
  EXPECT_EQ(world.answer<pmu::Refused>(other, 3)->head.answer, pmu::Answer::kInvalidParameter);
  world.fault = OpenFault::kNotSupported;
  const ClientNumber root = world.connect();
  world.say(root, 4, asking(1, kMonitoring));
  EXPECT_EQ(world.answer<pmu::Refused>(root, 4)->head.answer, pmu::Answer::kNotSupported);
  world.fault = OpenFault::kNoTask;
  world.say(root, 5, asking(1, kMonitoring));
  EXPECT_EQ(world.answer<pmu::Refused>(root, 5)->head.answer, pmu::Answer::kInvalidParameter);
}

TEST_F(ArbiterQueue, ClassesGoBeforeEachOtherAndFirstComeInsideOne) {
  const ClientNumber root = world.connect();
  world.say(root, 1, asking(4, kCritical, 0));
  world.say(root, 2, asking(4, kBatch));
  world.say(root, 3, asking(4, kMonitoring));
  world.say(root, 4, asking(4, kInteractive));
  world.say(root, 5, asking(4, kInteractive));
  EXPECT_EQ(world.answer<pmu::Queued>(root, 5)->ahead, 1U);
  std::vector<std::uint64_t> served;
  std::uint64_t holder = 1;
  for (int turn = 0; turn < 4; ++turn) {
    world.say(root, 100 + holder, pmu::Free{world.token(root, holder)});
    for (std::uint64_t id = 2; id <= 5; ++id) {
      const bool is_new =
          is_granted(root, id) && std::find(served.begin(), served.end(), id) == served.end();
      if (is_new) served.push_back(holder = id);
    }
  }
  EXPECT_EQ(served, (std::vector<std::uint64_t>{4, 5, 3, 2}));
}

TEST_F(ArbiterQueue, ALongWaitRaisesTheClass) {
  const ClientNumber root = world.connect();
  world.say(root, 1, asking(4, kCritical, 0));
  world.say(root, 2, asking(4, kBatch));
  world.pass(25 * kSecond);
  world.say(root, 3, asking(4, kMonitoring));
  world.say(root, 4, pmu::Free{world.token(root, 1)});
  EXPECT_TRUE(is_granted(root, 2)) << "interactive by now";
}

TEST_F(ArbiterQueue, QueuedComesBeforeTheAnswerAndWaitsEnd) {
  const ClientNumber root = world.connect();
  const ClientNumber other = world.connect();
  world.say(other, 1, asking(4, kCritical, 0, 60 * kSecond));
  world.say(root, 2, asking(1, kMonitoring, 5 * kSecond));
  const auto queued = world.answer<pmu::Queued>(root, 2);
  ASSERT_TRUE(queued);
  EXPECT_EQ(queued->estimate_ns, world.now + 60 * kSecond);
  world.pass(5 * kSecond);
  EXPECT_EQ(world.reason(root, 2), pmu::Reason::kTimeOut);
  EXPECT_EQ(world.answer<pmu::Refused>(root, 2)->blockers.size(), 1U);
  world.say(root, 3, asking(1, kMonitoring));
  world.say(root, 99, pmu::Cancel{3});
  EXPECT_EQ(world.reason(root, 3), pmu::Reason::kCancelled);
  EXPECT_TRUE(world.arbiter.queue().empty());
  EXPECT_EQ(world.arbiter.statistics().queued, 2U);
}

TEST_F(ArbiterQueue, AClientsOwnLeasesDoNotBlockIt) {
  const ClientNumber root = world.connect();
  world.say(root, 1, asking(4, kMonitoring, 0));
  world.say(root, 2, asking(1, kMonitoring, 0));
  EXPECT_TRUE(world.answer<pmu::Refused>(root, 2)->blockers.empty());
  EXPECT_NE(world.answer<pmu::Refused>(root, 2)->sentence.find("this client itself"),
            std::string::npos);
  world.say(root, 3, asking(1, kMonitoring));
  EXPECT_EQ(world.answer<pmu::Queued>(root, 3)->estimate_ns, world.now);
}

TEST_F(ArbiterQueue, SmallRequestsPassOnlyIfNoWaitGrows) {
  const ClientNumber holder = world.connect();
  const ClientNumber big = world.connect();
  const ClientNumber small = world.connect();
  world.say(holder, 1, asking(2, kInteractive, 0, 60 * kSecond));
  pmu::Allocate whole = allocate_whole();
  whole.head.priority = static_cast<std::uint32_t>(kInteractive);
  whole.head.wait_ns = pmu::kForever;
  world.say(big, 1, whole);
  ASSERT_TRUE(world.answer<pmu::Queued>(big, 1));
  world.say(small, 1, asking(1, kInteractive, 0));
  EXPECT_EQ(world.reason(small, 1), pmu::Reason::kTaken) << "it would stand in the way";
  EXPECT_EQ(world.answer<pmu::Refused>(small, 1)->blockers.at(0).is_waiting, 1U);
  world.say(small, 2, asking(1, kInteractive, 0, 61 * kSecond));
  EXPECT_FALSE(is_granted(small, 2)) << "too long";
  world.say(small, 3, asking(1, kInteractive, 0, 30 * kSecond));
  EXPECT_TRUE(is_granted(small, 3)) << "over in time";
  pmu::Allocate elsewhere = asking(1, kInteractive, 0);
  elsewhere.groups = {{.mask = 2}};
  world.say(small, 4, elsewhere);
  EXPECT_TRUE(is_granted(small, 4)) << "on another CPU";
  world.pass(61 * kSecond);
  EXPECT_TRUE(is_granted(big, 1)) << "when it was told, at the latest";
}

TEST_F(ArbiterQueue, ARequestMayPassIfThereIsRoomForBoth) {
  const ClientNumber holder = world.connect();
  const ClientNumber client = world.connect();
  world.say(holder, 1, asking(3, kInteractive, 0, 60 * kSecond));
  world.say(client, 1, asking(2, kInteractive));
  world.say(client, 2, asking(1, kInteractive, 0));
  EXPECT_TRUE(is_granted(client, 2)) << "two of four are enough for the waiting client";
}

TEST_F(ArbiterQueue, LowerClassesGiveWayTheYoungestFirst) {
  const ClientNumber one = world.connect();
  const ClientNumber two = world.connect();
  const ClientNumber three = world.connect();
  world.say(one, 1, asking(2, kBatch, 0));
  world.pass(kSecond);
  world.say(two, 1, asking(2, kBatch, 0));
  world.say(three, 1, asking(2, kInteractive));
  EXPECT_FALSE(is_granted(three, 1)) << "not before they could read their last values";
  EXPECT_EQ(world.all<pmu::Notice>(two).back().cause, pmu::Cause::kPreempted);
  EXPECT_TRUE(world.all<pmu::Notice>(one).empty()) << "one is enough, and it is older";
  world.pass(200 * kMillisecond);
  EXPECT_TRUE(is_granted(three, 1));
  EXPECT_EQ(world.arbiter.statistics().preemptions, 1U);
}

TEST_F(ArbiterQueue, NoHolderGivesWayInVain) {
  const ClientNumber one = world.connect();
  const ClientNumber two = world.connect();
  world.say(one, 1, asking(1, kCritical, 0));
  world.say(one, 2, asking(2, kBatch, 0));
  world.say(two, 1, asking(4, kInteractive));
  EXPECT_TRUE(world.all<pmu::Notice>(one).empty()) << "the critical one would still be there";
  world.say(two, 2, asking(2, kInteractive, 0));
  EXPECT_EQ(world.arbiter.statistics().revocations, 0U) << "who does not wait takes nothing";
}

TEST_F(ArbiterQueue, RestorableLeasesComeBackWithWhatTheyHaveCounted) {
  const ClientNumber one = world.connect();
  const ClientNumber two = world.connect();
  pmu::Allocate asked = asking(4, kBatch, 0);
  asked.head.flags |= pmu::kAllocateRestorable;
  world.say(one, 1, asked);
  const pmu::Token token = world.token(one, 1);
  world.count(30, kMillisecond);
  world.say(two, 1, asking(4, kCritical));
  world.say(one, 2, pmu::Drained{token});
  ASSERT_TRUE(is_granted(two, 1));
  EXPECT_EQ(world.state(token), pmu::LeaseState::kSuspended);
  EXPECT_EQ(world.all<pmu::Notice>(one).back().kind, pmu::NoticeKind::kSuspended);
  world.count(1000, kMillisecond);
  world.say(two, 2, pmu::Free{world.token(two, 1)});
  EXPECT_EQ(world.state(token), pmu::LeaseState::kActive);
  EXPECT_EQ(world.all<pmu::Notice>(one).back().kind, pmu::NoticeKind::kResumed);
  world.count(5, kMillisecond);
  world.say(one, 3, pmu::Read{token});
  const pmu::Value value = world.answer<pmu::LeaseValues>(one, 3)->values.at(0);
  EXPECT_EQ(value.value, 35U);
  EXPECT_LT(value.running_ns, value.enabled_ns);
}

}  // namespace
}  // namespace meterbank::arbiter
