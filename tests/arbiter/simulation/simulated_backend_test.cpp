// SPDX-License-Identifier: Apache-2.0
//
// The simulated backend keeps the promises that every backend makes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "arbiter/backend/simulated/simulated_backend.hpp"
#include "simulated_machine.hpp"

namespace meterbank::arbiter::simulated_backend_test {
namespace {

constexpr Event kCycles = {.code = 0x3c};
constexpr Event kOther = {.code = 0xfe, .unit_mask = 0xff};

class SimulatedBackendTest : public testing::Test {
 protected:
  explicit SimulatedBackendTest(const std::string& topology = "skylake-sp")
      : backend(shipped_topology(topology), clock.reader()) {}

  static std::vector<Opening> on_cpus(std::uint32_t first, std::uint32_t last, const Event& event) {
    std::vector<Opening> openings;
    for (std::uint32_t cpu = first; cpu <= last; ++cpu)
      openings.push_back({.cpu = cpu, .event = event});
    return openings;
  }
  OpenFault open(CarrierNumber carrier, const std::vector<Opening>& openings) {
    return backend.open(carrier, openings).fault;
  }
  // A process with so many pinned events on CPU 0.
  std::uint32_t intrude(std::uint32_t events, bool is_pinned = true, const Event& event = kOther) {
    const std::uint32_t process = kernel.start_process("perf", 1000);
    for (std::uint32_t i = 0; i < events; ++i) {
      EXPECT_TRUE(kernel.open(process, {.event = event, .cpu = 0, .is_pinned = is_pinned}));
    }
    return process;
  }

  ManualClock clock;
  SimulatedBackend backend;
  SimulatedKernel& kernel = backend.kernel();
};

TEST_F(SimulatedBackendTest, OpensAllOrNothingAndSaysWhichOneFailed) {
  intrude(4);
  const auto outcome = backend.open(1, on_cpus(0, 3, kOther));
  EXPECT_EQ(outcome.fault, OpenFault::kNoCounter);
  EXPECT_EQ(outcome.opening, 0U);
  auto openings = on_cpus(1, 3, kOther);
  openings.push_back({.cpu = 0, .event = kOther});
  EXPECT_EQ(backend.open(1, openings).opening, 3U);
  EXPECT_TRUE(backend.read(1).empty());
  EXPECT_EQ(backend.probe(0, CpuSet::range(1, 3), kOther, 9), 4U);
}

TEST_F(SimulatedBackendTest, LeavesNothingBehindWhicheverOpenFails) {
  for (const OpenFault fault : {OpenFault::kNoDescriptors, OpenFault::kDenied, OpenFault::kOther}) {
    for (std::uint32_t nth = 0; nth < 4; ++nth) {
      kernel.fail_open(nth, fault);
      const auto outcome = backend.open(1, on_cpus(0, 3, kOther));
      EXPECT_EQ(outcome.fault, fault);
      EXPECT_EQ(outcome.opening, nth);
      EXPECT_TRUE(outcome.kernel_ids.empty());
    }
  }
  EXPECT_EQ(backend.probe(0, CpuSet::range(0, 3), kOther, 9), 4U);
}

TEST_F(SimulatedBackendTest, TellsWhyAnEventCannotBeOpened) {
  EXPECT_EQ(open(1, {{.cpu = 4000, .event = kCycles}}), OpenFault::kNotSupported);
  EXPECT_EQ(open(1, {{.task = 99, .event = kCycles}}), OpenFault::kNoTask);
  kernel.set_online(2, false);
  EXPECT_EQ(open(1, {{.cpu = 2, .event = kCycles}}), OpenFault::kOffline);
  EXPECT_FALSE(backend.online().contains(2));
}

TEST_F(SimulatedBackendTest, CountsFromOpenToCloseAndKeepsCountsOverAPause) {
  ASSERT_EQ(open(1, on_cpus(0, 0, kCycles)), OpenFault::kNone);
  clock.advance(100);
  backend.pause(1);
  clock.advance(1000);
  EXPECT_EQ(backend.read(1)[0].running_ns, 100U);
  EXPECT_EQ(backend.read(1)[0].enabled_ns, 1100U);
  EXPECT_TRUE(backend.read(1)[0].has_counter);
  ASSERT_EQ(backend.resume(1).fault, OpenFault::kNone);
  clock.advance(10);
  EXPECT_EQ(backend.read(1)[0].running_ns, 110U);
  EXPECT_EQ(backend.read(1)[0].enabled_ns, 1110U);
  EXPECT_EQ(backend.read(1)[0].value, 110U * (1 + 0x3c % 7));
  backend.close(1);
  EXPECT_TRUE(backend.has_let_go(1));
  EXPECT_TRUE(backend.read(1).empty());
}

TEST_F(SimulatedBackendTest, GivesCountersUpWhilePausedAndIsOlderThanWhoCameMeanwhile) {
  ASSERT_EQ(open(1, on_cpus(0, 0, kOther)), OpenFault::kNone);
  backend.pause(1);
  const std::uint32_t process = kernel.start_process("perf");
  std::vector<EventNumber> meanwhile;
  for (int i = 0; i < 4; ++i) {
    meanwhile.push_back(kernel.open(process, {.event = kOther, .cpu = 0}).value_or(0));
    EXPECT_EQ(kernel.view(meanwhile.back())->state, EventState::kActive);
  }
  EXPECT_EQ(backend.resume(1).fault, OpenFault::kNone);
  EXPECT_EQ(kernel.view(meanwhile[3])->state, EventState::kError);
}

TEST_F(SimulatedBackendTest, SeesThatACounterWasLostAndKeepsItsLastCount) {
  // An older process switches on what was off when the lease was granted.
  const std::uint32_t process = kernel.start_process("perf", 1000);
  const auto sleeper = kernel.open(process, {.event = kOther, .cpu = 0, .is_disabled = true});
  ASSERT_TRUE(sleeper);
  const std::vector<Opening> four(4, Opening{.cpu = 0, .event = kOther});
  ASSERT_EQ(open(1, four), OpenFault::kNone);
  clock.advance(100);
  (void)backend.read(1);
  kernel.enable(*sleeper);
  clock.advance(100);
  auto readings = backend.read(1);
  EXPECT_EQ(std::count_if(readings.begin(), readings.end(),
                          [](const Reading& r) { return !r.has_counter; }),
            1);
  EXPECT_FALSE(readings[3].has_counter);
  EXPECT_EQ(readings[3].running_ns, 100U);
  EXPECT_EQ(backend.resume(1).fault, OpenFault::kNoCounter);
  kernel.end_process(process);
  ASSERT_EQ(backend.resume(1).fault, OpenFault::kNone);
  clock.advance(10);
  readings = backend.read(1);
  EXPECT_TRUE(readings[3].has_counter);
  EXPECT_EQ(readings[3].running_ns, 110U);
  EXPECT_EQ(readings[0].running_ns, 210U);
}

TEST_F(SimulatedBackendTest, SeesThatACpuWasAwayForAMoment) {
  ASSERT_EQ(open(1, on_cpus(0, 1, kOther)), OpenFault::kNone);
  kernel.set_online(1, false);
  kernel.set_online(1, true);
  EXPECT_TRUE(backend.read(1)[0].has_counter);
  EXPECT_FALSE(backend.read(1)[1].has_counter);
  EXPECT_EQ(backend.resume(1).fault, OpenFault::kNone);
  EXPECT_TRUE(backend.read(1)[1].has_counter);
}

TEST_F(SimulatedBackendTest, ProbesForTheWorstOfTheCpusAndLeavesThingsAsTheyWere) {
  const std::uint32_t task = kernel.start_task(kernel.start_process("worker"));
  kernel.run(task, 5);
  ASSERT_EQ(open(1, {{.task = task, .event = kOther}}), OpenFault::kNone);
  intrude(1);
  EXPECT_EQ(backend.probe(0, CpuSet::range(0, 5), kOther, 9), 3U);
  EXPECT_EQ(backend.probe(0, CpuSet::range(1, 4), kOther, 9), 4U);
  EXPECT_EQ(backend.probe(0, CpuSet::range(1, 4), kOther, 2), 2U);
  EXPECT_EQ(backend.probe(0, CpuSet::range(1, 4), kCycles, 9), 4U);  // the watchdog has the fifth
  EXPECT_EQ(backend.probe(0, CpuSet(), kCycles, 9), 0U);
  EXPECT_EQ(backend.probe(0, CpuSet::range(1, 4), Event(), 9), 6U);  // fixed ones, too
  EXPECT_TRUE(backend.read(1)[0].has_counter);
}

TEST_F(SimulatedBackendTest, GuardsKeepOutsidersOutAndMakeRoomForLeases) {
  EXPECT_EQ(backend.guard(0, 0, 99), 6U);  // 4 and 3, and the watchdog has one
  intrude(2, false);
  for (const auto& view : kernel.views()) {
    EXPECT_TRUE(view.opener == backend.own_process() || view.who == "kernel watchdog" ||
                view.state == EventState::kInactive);
  }
  EXPECT_EQ(open(1, on_cpus(0, 0, kOther)), OpenFault::kNone);
  EXPECT_EQ(open(2, on_cpus(0, 0, kOther)), OpenFault::kNone);
  EXPECT_EQ(backend.guard(0, 0, 4), 4U);
  EXPECT_EQ(backend.probe(0, CpuSet::range(0, 0), kOther, 9), 2U);  // ours to give
  EXPECT_EQ(backend.guard(0, 0, 0), 0U);
}

TEST_F(SimulatedBackendTest, WithoutGuardsOutsidersGetFreeCounters) {
  intrude(2, false);
  std::uint32_t on = 0;
  for (const auto& view : kernel.views()) {
    on += view.who == "perf" && view.state == EventState::kActive ? 1U : 0U;
  }
  EXPECT_EQ(on, 2U);
}

TEST_F(SimulatedBackendTest, NamesOutsidersAndTheWatchdogOnly) {
  ASSERT_EQ(open(1, on_cpus(0, 3, kOther)), OpenFault::kNone);
  (void)backend.guard(0, 9, 2);
  const std::uint32_t pid = intrude(2);
  clock.advance(100);
  auto outsiders = backend.survey();
  ASSERT_EQ(outsiders.size(), 2U);
  EXPECT_EQ(outsiders[0].name, "kernel watchdog");
  EXPECT_TRUE(outsiders[0].is_kernel);
  EXPECT_EQ(outsiders[0].cpus, CpuSet::range(0, 55));
  EXPECT_EQ(outsiders[0].counters, 1U);
  EXPECT_EQ(outsiders[1].name, "perf");
  EXPECT_EQ(outsiders[1].pid, pid);
  EXPECT_EQ(outsiders[1].uid, 1000U);
  EXPECT_EQ(outsiders[1].cpus, CpuSet::range(0, 0));
  EXPECT_EQ(outsiders[1].counters, 2U);
  EXPECT_EQ(outsiders[1].first_ns, clock.now());
  clock.advance(100);
  kernel.set_watchdog(false);
  outsiders = backend.survey();
  ASSERT_EQ(outsiders.size(), 1U);
  EXPECT_EQ(outsiders[0].first_ns + 100, outsiders[0].last_ns);
  kernel.end_process(pid);
  EXPECT_TRUE(backend.survey().empty());
}

TEST_F(SimulatedBackendTest, DoesNotNameThoseWhoMakeRoom) {
  intrude(4, false);
  EXPECT_EQ(backend.survey().size(), 1U);
  EXPECT_EQ(open(1, std::vector<Opening>(4, Opening{.cpu = 0, .event = kOther})), OpenFault::kNone);
}

TEST_F(SimulatedBackendTest, CountersThatAreAdoptedCountOnFromWhereTheyWere) {
  ASSERT_EQ(open(1, on_cpus(0, 1, kCycles)), OpenFault::kNone);
  ASSERT_EQ(open(2, on_cpus(2, 2, kCycles)), OpenFault::kNone);
  backend.pause(2);
  clock.advance(100);
  const auto saved = backend.save();
  SimulatedBackend next(shipped_topology("skylake-sp"), clock.reader());
  next.adopt(saved);
  clock.advance(10);
  EXPECT_EQ(next.read(1)[1].running_ns, 110U);
  EXPECT_EQ(next.read(2)[0].running_ns, 0U);
  EXPECT_EQ(next.resume(2).fault, OpenFault::kNone);
  // Here nothing was closed.
  backend.adopt(saved);
  EXPECT_EQ(backend.read(1)[1].running_ns, 110U);
  EXPECT_EQ(backend.descriptor(1, 0), -1);
}

TEST_F(SimulatedBackendTest, CarriersThatCannotBeAdoptedAreLost) {
  ASSERT_EQ(open(1, on_cpus(0, 0, kOther)), OpenFault::kNone);
  clock.advance(100);
  const auto saved = backend.save();
  SimulatedBackend next(shipped_topology("skylake-sp"), clock.reader());
  next.kernel().set_online(0, false);
  next.adopt(saved);
  EXPECT_FALSE(next.read(1)[0].has_counter);
  EXPECT_EQ(next.read(1)[0].running_ns, 100U);
}

TEST_F(SimulatedBackendTest, KnowsWhatPerfCallsTheEventsOfATopology) {
  const auto& names = backend.machine().names.at(0);
  EXPECT_EQ(names.at("cycles"), (Event{.code = 0x3c}));
  EXPECT_EQ(names.at("instructions"), (Event{.code = 0xc0}));
  EXPECT_TRUE(backend.machine().topology.foreign.empty());
  EXPECT_EQ(backend.why_no_pmu(), "");
}

class SimulatedBreakpoints : public testing::Test {
 protected:
  ManualClock clock;
  SimulatedBackend backend{breakpoint_toy(), clock.reader()};
  SimulatedKernel& kernel = backend.kernel();
  Opening opening{.cpu = 0, .event = {.code = 2, .unit_mask = 8}};
};

TEST_F(SimulatedBreakpoints, AreInLimboAsLongAsAProcessHasADescriptor) {
  ASSERT_EQ(backend.open(1, std::vector<Opening>(4, opening)).fault, OpenFault::kNone);
  const std::uint32_t client = kernel.start_process("client");
  kernel.duplicate(backend.events_of(1)[0], client);
  EXPECT_FALSE(backend.has_let_go(1));
  backend.close(1);
  EXPECT_FALSE(backend.has_let_go(1));
  EXPECT_EQ(backend.probe(0, CpuSet::range(0, 0), opening.event, 4), 3U);
  kernel.end_process(client);
  EXPECT_TRUE(backend.has_let_go(1));
  EXPECT_EQ(backend.probe(0, CpuSet::range(0, 0), opening.event, 4), 4U);
}

TEST_F(SimulatedBreakpoints, CanBeGuardedAndAreNoPmu) {
  EXPECT_EQ(backend.guard(0, 0, 4), 4U);
  EXPECT_FALSE(kernel.open(kernel.start_process("gdb"), {.event = opening.event, .cpu = 0}));
  EXPECT_EQ(backend.open(1, std::vector<Opening>(2, opening)).fault, OpenFault::kNone);
  EXPECT_NE(backend.why_no_pmu(), "");
}

// A hardware counter is free although a process still has a descriptor, for it is off.
TEST_F(SimulatedBackendTest, LetsGoOfCountersThatAnotherProcessHasADescriptorOf) {
  ASSERT_EQ(open(1, on_cpus(0, 0, kOther)), OpenFault::kNone);
  const EventNumber event = backend.events_of(1)[0];
  kernel.duplicate(event, kernel.start_process("client"));
  backend.close(1);
  EXPECT_EQ(backend.probe(0, CpuSet::range(0, 0), kOther, 9), 4U);
  // Unless it is switched on again.
  kernel.enable(event);
  EXPECT_FALSE(backend.has_let_go(1));
  kernel.disable(event);
  EXPECT_TRUE(backend.has_let_go(1));
}

}  // namespace
}  // namespace meterbank::arbiter::simulated_backend_test
