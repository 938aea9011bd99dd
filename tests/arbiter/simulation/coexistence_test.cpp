// SPDX-License-Identifier: Apache-2.0
//
// An arbiter on a simulated machine, beside those who did not ask: the kernel's watchdog, tools,
// CPUs that go offline.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "simulated_world.hpp"

namespace meterbank::arbiter {
namespace {

constexpr Event kOther = {.code = 0xfe, .unit_mask = 0xff};  // on any general counter

const CpuSet kCpu0 = CpuSet::range(0, 0);

[[nodiscard]] Item other(std::uint32_t count) {
  return counters_for_event(count, kOther.code, kOther.unit_mask);
}

[[nodiscard]] bool is_said_of(const pmu::Refused& refused, const std::string& name) {
  return std::any_of(
      refused.blockers.begin(), refused.blockers.end(),
      [&](const pmu::Blocker& blocker) { return pmu::text_of(blocker.name) == name; });
}

[[nodiscard]] std::vector<EventState> states_of(SimulatedKernel& kernel, std::uint32_t process) {
  std::vector<EventState> states;
  for (const auto& view : kernel.views()) {
    if (view.opener == process) states.push_back(view.state);
  }
  return states;
}

// A process with pinned events on CPU 0, which may have been there before they count.
struct Intruder {
  Intruder(SimulatedKernel& where, std::uint32_t count, bool is_disabled = false)
      : kernel(where), process(where.start_process("perf", 1000)) {
    for (std::uint32_t i = 0; i < count; ++i) {
      events.push_back(
          kernel.open(process, {.event = kOther, .cpu = 0, .is_disabled = is_disabled}).value());
    }
  }
  void wake() {
    for (const EventNumber event : events) kernel.enable(event);
  }
  [[nodiscard]] std::uint32_t on() const {
    const auto states = states_of(kernel, process);
    return static_cast<std::uint32_t>(
        std::count(states.begin(), states.end(), EventState::kActive));
  }
  void leave() { kernel.end_process(process); }

  SimulatedKernel& kernel;
  std::uint32_t process;
  std::vector<EventNumber> events;
};

TEST(SimulatedWatchdog, IsNeverLeasedAndIsNamedInRefusals) {
  SimulatedWorld world(shipped_topology("skylake-sp"));
  const ClientNumber client = world.connect();
  const std::uint64_t whole = world.say(client, asking(kCpu0, {}));
  const auto refused = world.answer<pmu::Refused>(whole);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->head.reason, pmu::Reason::kForeign);
  EXPECT_TRUE(is_said_of(*refused, "kernel watchdog")) << refused->sentence;
  EXPECT_NE(refused->sentence.find("kernel watchdog"), std::string::npos) << refused->sentence;
  // Of five counters for cycles the watchdog has one.
  const std::uint64_t five = world.say(client, asking(kCpu0, {counters_for_event(5, 0x3c, 0)}));
  EXPECT_EQ(world.reason(five), pmu::Reason::kForeign);
  EXPECT_NE(world.get(client, asking(kCpu0, {counters_for_event(4, 0x3c, 0)})), 0U);
  std::uint32_t dogs = 0;
  for (const auto& view : world.kernel.views()) {
    if (view.who != "kernel watchdog") continue;
    EXPECT_EQ(view.state, EventState::kActive);
    ++dogs;
  }
  EXPECT_EQ(dogs, 56U);
}

TEST(SimulatedWatchdog, ThatIsSwitchedOffLeavesAWholePmu) {
  SimulatedWorld world(shipped_topology("skylake-sp"));
  world.kernel.set_watchdog(false);
  world.arbiter.surveyed(world.backend.survey(), world.now());
  world.settle();
  EXPECT_NE(world.get(world.connect(), asking(kCpu0, {})), 0U);
}

TEST(SimulatedWatchdog, ThatIsSwitchedOffIsNoticedByWaiters) {
  SimulatedWorld world(shipped_topology("skylake-sp"));
  pmu::Allocate asked = asking(kCpu0, {});
  asked.head.wait_ns = pmu::kForever;
  const std::uint64_t id = world.say(world.connect(), asked);
  EXPECT_TRUE(world.answer<pmu::Queued>(id));
  world.pass(kSecond);
  EXPECT_EQ(world.token(id), 0U);
  world.kernel.set_watchdog(false);
  world.pass(3 * kSecond);
  EXPECT_NE(world.token(id), 0U);
}

TEST(SimulatedOutsiders, AreFoundByVerifyingAndNamedInTheRefusal) {
  SimulatedWorld world(shipped_topology("skylake-sp"));
  Intruder intruder(world.kernel, 2);
  const std::uint64_t id = world.say(world.connect(), asking(kCpu0, {other(3)}));
  const auto refused = world.answer<pmu::Refused>(id);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->head.reason, pmu::Reason::kForeign);
  EXPECT_TRUE(is_said_of(*refused, "perf")) << refused->sentence;
  EXPECT_EQ(intruder.on(), 2U);
  // What is left can be had.
  EXPECT_NE(world.get(world.connect(), asking(kCpu0, {other(2)})), 0U);
  EXPECT_EQ(world.contradiction(), std::nullopt);
}

TEST(SimulatedOutsiders, ThatStealALeasedCounterSuspendTheLeaseUntilTheyLeave) {
  SimulatedWorld world(shipped_topology("skylake-sp"));
  Intruder intruder(world.kernel, 2, true);  // older than the lease, and asleep
  const ClientNumber client = world.connect();
  const pmu::Token token = world.get(client, asking(kCpu0, {other(4)}));
  ASSERT_NE(token, 0U);
  world.pass(kSecond);
  ASSERT_EQ(world.state(token), pmu::LeaseState::kActive);
  intruder.wake();
  world.pass(kSecond);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kSuspended);
  const auto suspended = world.notices(pmu::NoticeKind::kSuspended);
  ASSERT_EQ(suspended.size(), 1U);
  EXPECT_EQ(suspended[0].cause, pmu::Cause::kTakenByOutsider);
  EXPECT_TRUE(std::any_of(world.arbiter.outsiders().begin(), world.arbiter.outsiders().end(),
                          [](const Outsider& one) { return one.name == "perf"; }));
  intruder.leave();
  world.pass(3 * kSecond);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kActive);
  EXPECT_EQ(world.notices(pmu::NoticeKind::kResumed).size(), 1U);
  EXPECT_EQ(world.contradiction(), std::nullopt);
  // What was lost meanwhile shows.
  const auto values = world.read(client, token).values;
  ASSERT_EQ(values.size(), 4U);
  for (const pmu::Value& value : values) EXPECT_LE(value.running_ns, 4 * kSecond);
}

TEST(SimulatedOutsiders, ThatSleepSuspendNoLease) {
  SimulatedWorld world(shipped_topology("skylake-sp"));
  const Intruder intruder(world.kernel, 2, true);
  const pmu::Token token = world.get(world.connect(), asking(kCpu0, {other(4)}));
  world.pass(5 * kSecond);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kActive);
  EXPECT_TRUE(world.notices(pmu::NoticeKind::kSuspended).empty());
}

TEST(SimulatedOutsiders, ThatNeverLeaveEndTheLease) {
  SimulatedWorld world(shipped_topology("skylake-sp"));
  Intruder intruder(world.kernel, 4, true);
  const pmu::Token token = world.get(world.connect(), asking(kCpu0, {other(4)}));
  ASSERT_NE(token, 0U);
  intruder.wake();
  world.pass(20 * kSecond);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kNone);
  const auto lost = world.notices(pmu::NoticeKind::kLost);
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].cause, pmu::Cause::kTakenByOutsider);
}

TEST(SimulatedGuards, KeepOutsidersOutAndHandOver) {
  WorldOptions options;
  options.policy.guards.push_back({.pmu = "cpu", .cpus = kCpu0});
  SimulatedWorld world(shipped_topology("skylake-sp"), options);
  const Intruder first(world.kernel, 2);
  EXPECT_EQ(first.on(), 0U);
  const ClientNumber client = world.connect();
  const pmu::Token token = world.get(client, asking(kCpu0, {other(3)}));
  ASSERT_NE(token, 0U);
  EXPECT_EQ(world.lease(token)->grade, pmu::Grade::kGuarded);
  const Intruder second(world.kernel, 2);
  EXPECT_EQ(first.on() + second.on(), 0U);
  EXPECT_EQ(world.contradiction(), std::nullopt);
  world.say(client, pmu::Free{token});
  world.pass(kSecond);
  const Intruder third(world.kernel, 2);
  EXPECT_EQ(first.on() + second.on() + third.on(), 0U);
  EXPECT_NE(world.get(client, asking(kCpu0, {other(4)})), 0U);
}

// The kernel serves the oldest first: an event that waits since before the lease gets in.
TEST(SimulatedGuards, DoNotHelpAgainstWhoWaitsLongerAndTriesAgain) {
  WorldOptions options;
  options.policy.guards.push_back({.pmu = "cpu", .cpus = kCpu0});
  SimulatedWorld world(shipped_topology("skylake-sp"), options);
  Intruder intruder(world.kernel, 2);
  const pmu::Token token = world.get(world.connect(), asking(kCpu0, {other(4)}));
  ASSERT_NE(token, 0U);
  intruder.wake();
  EXPECT_EQ(intruder.on(), 2U);
  world.pass(kSecond);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kSuspended);
}

TEST(SimulatedGuards, AreNeededForThat) {
  SimulatedWorld world(shipped_topology("skylake-sp"));
  const Intruder intruder(world.kernel, 2);
  EXPECT_EQ(intruder.on(), 2U);
}

TEST(SimulatedHotplug, SuspendsAndResumesAndKeepsCounts) {
  SimulatedWorld world(shipped_topology("icelake-sp"));
  const ClientNumber client = world.connect();
  const pmu::Token token = world.get(client, asking(CpuSet::range(0, 3), {other(2)}));
  const pmu::Token elsewhere = world.get(client, asking(CpuSet::range(4, 7), {other(2)}));
  world.pass(2 * kSecond);
  world.kernel.set_online(2, false);
  world.pass(2 * kSecond);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kSuspended);
  EXPECT_EQ(world.state(elsewhere), pmu::LeaseState::kActive);
  ASSERT_EQ(world.notices(pmu::NoticeKind::kSuspended).size(), 1U);
  EXPECT_EQ(world.notices(pmu::NoticeKind::kSuspended)[0].cause, pmu::Cause::kCpuOffline);
  const std::uint64_t id = world.say(client, asking(CpuSet::range(2, 2), {other(1)}));
  EXPECT_EQ(world.reason(id), pmu::Reason::kCpuOffline);
  world.kernel.set_online(2, true);
  world.pass(2 * kSecond);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kActive);
  EXPECT_EQ(world.contradiction(), std::nullopt);
  const auto values = world.read(client, token).values;
  ASSERT_EQ(values.size(), 8U);
  for (const pmu::Value& value : values) {
    EXPECT_GE(value.running_ns, 3 * kSecond) << "CPU " << value.cpu;
    EXPECT_LE(value.running_ns, 5 * kSecond) << "CPU " << value.cpu;
  }
}

TEST(SimulatedHotplug, ThatWasMissedIsSeenByTheCounters) {
  SimulatedWorld world(shipped_topology("icelake-sp"));
  const pmu::Token token = world.get(world.connect(), asking(CpuSet::range(0, 3), {other(2)}));
  world.pass(kSecond);
  world.kernel.set_online(2, false);
  world.kernel.set_online(2, true);
  world.pass(5 * kSecond);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kActive);
  EXPECT_EQ(world.notices(pmu::NoticeKind::kResumed).size(), 1U);
  for (const auto& view : world.kernel.views()) EXPECT_TRUE(view.is_attached);
}

TEST(SimulatedCpus, CanBeLentTogetherHoweverManyThereAre) {
  SimulatedWorld world(shipped_topology("sapphire-rapids-2s"));
  world.kernel.set_watchdog(false);
  world.arbiter.surveyed(world.backend.survey(), world.now());
  const ClientNumber client = world.connect();
  const CpuSet all = CpuSet::range(0, 223);
  const pmu::Token token = world.get(client, asking(all, {other(2)}));
  ASSERT_NE(token, 0U);
  EXPECT_EQ(world.read(client, token).values.size(), 448U);
  EXPECT_EQ(world.get(client, asking(all, {other(7)})), 0U);
  world.say(client, pmu::Free{token});
  world.pass(10 * kMillisecond);
  EXPECT_NE(world.get(client, asking(all, {})), 0U);  // every counter of the machine
}

TEST(SimulatedFaults, LeaveNothingBehindWhicheverOpenFails) {
  for (const OpenFault fault :
       {OpenFault::kNoDescriptors, OpenFault::kNoCounter, OpenFault::kDenied, OpenFault::kOther}) {
    for (std::uint32_t nth = 0; nth < 8; ++nth) {
      SimulatedWorld world(with_few_cpus(shipped_topology("icelake-sp"), 4));
      const ClientNumber client = world.connect();
      world.kernel.fail_open(nth, fault);
      EXPECT_EQ(world.get(client, asking(CpuSet::range(0, 3), {other(2)})), 0U);
      world.pass(2 * kSecond);
      EXPECT_EQ(world.leftover(), std::nullopt);
      EXPECT_NE(world.get(client, asking(CpuSet::range(0, 3), {other(2)})), 0U);
    }
  }
}

}  // namespace
}  // namespace meterbank::arbiter
