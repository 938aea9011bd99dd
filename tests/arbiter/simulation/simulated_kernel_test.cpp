// SPDX-License-Identifier: Apache-2.0
//
// The simulated kernel does what kernels were seen to do.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "arbiter/backend/simulated/counter_packing.hpp"
#include "arbiter/backend/simulated/simulated_kernel.hpp"
#include "simulated_machine.hpp"

namespace meterbank::arbiter::simulated_kernel_test {
namespace {

constexpr Event kCycles = {.code = 0x11};
constexpr Event kInstructions = {.code = 0x08};
constexpr Event kWrites = {.code = 2, .unit_mask = 8, .configuration = 0x1000};

class SimulatedKernelTest : public testing::Test {
 protected:
  explicit SimulatedKernelTest(Topology topology = arm_toy()) : kernel(topology, clock.reader()) {}

  // On CPU 0, unless said otherwise.
  EventNumber open(EventAttributes attributes) {
    if (!attributes.cpu && attributes.task == 0) attributes.cpu = 0;
    const auto event = kernel.open(process, attributes);
    EXPECT_TRUE(event) << event.error().system_error;
    return event.value_or(0);
  }
  EventNumber open_pinned(const Event& event) { return open({.event = event}); }
  EventNumber open_flexible(const Event& event) {
    return open({.event = event, .is_pinned = false});
  }
  [[nodiscard]] EventState state(EventNumber event) const { return kernel.view(event)->state; }
  [[nodiscard]] std::uint32_t count(const std::vector<EventNumber>& events,
                                    EventState wanted) const {
    std::uint32_t number = 0;
    for (const EventNumber event : events) number += state(event) == wanted ? 1U : 0U;
    return number;
  }
  std::vector<EventNumber> open_many(std::uint32_t number, const EventAttributes& attributes) {
    std::vector<EventNumber> events;
    for (std::uint32_t i = 0; i < number; ++i) events.push_back(open(attributes));
    return events;
  }

  ManualClock clock;
  SimulatedKernel kernel;
  std::uint32_t process = kernel.start_process("perf", 1000);
};
using SimulatedKernelPins = SimulatedKernelTest;

TEST_F(SimulatedKernelPins, TwelveOpenOnSevenCountersAndFiveReadNothing) {
  const auto events = open_many(12, {.event = kCycles});
  std::uint32_t unread = 0;
  for (const EventNumber event : events) unread += kernel.read(event) ? 0U : 1U;
  EXPECT_EQ(unread, 5U);
  EXPECT_EQ(count(events, EventState::kActive), 7U);
}

TEST_F(SimulatedKernelPins, StayInErrorUntilEnabledThoughCountersComeFree) {
  const auto events = open_many(8, {.event = kCycles});
  ASSERT_FALSE(kernel.read(events[7]));
  kernel.close(events[0], process);
  clock.advance(kSecond);
  EXPECT_FALSE(kernel.read(events[7]));
  kernel.enable(events[7]);
  EXPECT_TRUE(kernel.read(events[7]));
  EXPECT_EQ(state(events[7]), EventState::kActive);
}

TEST_F(SimulatedKernelPins, HoldNothingWhileDisabled) {
  const auto events = open_many(6, {.event = kInstructions});
  kernel.disable(events[2]);
  const EventNumber other = open_pinned(kInstructions);
  EXPECT_EQ(state(other), EventState::kActive);
  // The disabled one is older: enabled again, it is the younger one that goes.
  kernel.enable(events[2]);
  EXPECT_EQ(state(events[2]), EventState::kActive);
  EXPECT_FALSE(kernel.read(other));
}

TEST_F(SimulatedKernelPins, OnACpuPushOutTheEventsOfItsTask) {
  const std::uint32_t task = kernel.start_task(process);
  kernel.run(task, 0);
  const EventNumber of_task = open({.event = kInstructions, .task = task});
  ASSERT_EQ(state(of_task), EventState::kActive);
  const auto five = open_many(5, {.event = kInstructions});
  ASSERT_EQ(state(of_task), EventState::kActive);
  const EventNumber sixth = open_pinned(kInstructions);
  EXPECT_EQ(state(sixth), EventState::kActive);
  EXPECT_FALSE(kernel.read(of_task));
}

TEST_F(SimulatedKernelPins, ForATaskCountWhereverItRunsAndOnlyThen) {
  const std::uint32_t task = kernel.start_task(process);
  const EventNumber event = open({.event = kInstructions, .task = task});
  clock.advance(100);
  EXPECT_EQ(kernel.read(event)->enabled_ns, 0U);
  kernel.run(task, 0);
  clock.advance(100);
  kernel.run(task, 1);
  clock.advance(100);
  kernel.stop(task);
  clock.advance(100);
  EXPECT_EQ(kernel.read(event)->enabled_ns, 200U);
  EXPECT_EQ(kernel.read(event)->running_ns, 200U);
  EXPECT_EQ(kernel.read(event)->value, 200U * 2);  // 1 + 0x08 % 7 a nanosecond
}

TEST_F(SimulatedKernelPins, ForADeadTaskGiveTheirCountersBackThoughADescriptorIsKept) {
  const std::uint32_t task = kernel.start_task(process);
  kernel.run(task, 0);
  std::vector<EventNumber> events = open_many(6, {.event = kInstructions, .task = task});
  clock.advance(100);
  kernel.duplicate(events[0], kernel.start_process("keeper"));
  kernel.end_task(task);
  const auto others = open_many(6, {.event = kInstructions});
  EXPECT_EQ(count(others, EventState::kActive), 6U);
  EXPECT_EQ(kernel.read(events[0])->running_ns, 100U);
}

TEST_F(SimulatedKernelPins, MakeFlexibleOnesWaitWithoutAnyError) {
  const auto pinned = open_many(6, {.event = kInstructions});
  const EventNumber late = open_flexible(kInstructions);
  clock.advance(kSecond);
  ASSERT_TRUE(kernel.read(late));
  EXPECT_EQ(kernel.read(late)->enabled_ns, kSecond);
  EXPECT_EQ(kernel.read(late)->running_ns, 0U);
  EXPECT_EQ(kernel.read(late)->value, 0U);
}

TEST_F(SimulatedKernelPins, TakeTheCountersOfFlexibleOnes) {
  const EventNumber flexible = open_flexible(kInstructions);
  ASSERT_EQ(state(flexible), EventState::kActive);
  const auto pinned = open_many(6, {.event = kInstructions});
  EXPECT_EQ(count(pinned, EventState::kActive), 6U);
  EXPECT_EQ(state(flexible), EventState::kInactive);
}

TEST_F(SimulatedKernelPins, ThatDoNotFitKeepYoungerOnesOut) {
  auto events = open_many(8, {.event = kCycles});  // the last one is in error
  kernel.close(events[0], process);
  const EventNumber younger = open_pinned(kCycles);
  ASSERT_EQ(state(younger), EventState::kActive);
  kernel.enable(events[7]);
  EXPECT_EQ(state(events[7]), EventState::kActive);
  EXPECT_EQ(state(younger), EventState::kError);
}

using SimulatedKernelTurns = SimulatedKernelTest;

TEST_F(SimulatedKernelTurns, AreEqualAmongFlexibleEvents) {
  const auto events = open_many(8, {.event = kInstructions, .is_pinned = false});
  clock.advance(8 * 4 * kMillisecond * 10);
  for (const EventNumber event : events) {
    const auto reading = kernel.read(event);
    EXPECT_EQ(reading->enabled_ns, 320 * kMillisecond);
    EXPECT_NEAR(static_cast<double>(reading->running_ns), 0.75 * 320e6, 8e6);
    EXPECT_EQ(reading->value, reading->running_ns * 2);
  }
}

TEST_F(SimulatedKernelTurns, AreMadeUpForAfterALongGapToo) {
  const auto events = open_many(12, {.event = kInstructions, .is_pinned = false});
  clock.advance(100'000 * kSecond);
  for (const EventNumber event : events) {
    EXPECT_NEAR(static_cast<double>(kernel.read(event)->running_ns), 5e13, 5e11);
  }
}

TEST_F(SimulatedKernelTurns, EndWhenAllFit) {
  auto events = open_many(7, {.event = kInstructions, .is_pinned = false});
  clock.advance(5 * kMillisecond);
  kernel.close(events[0], process);
  const Nanoseconds before = kernel.read(events[6])->running_ns;
  clock.advance(kSecond);
  EXPECT_EQ(kernel.read(events[6])->running_ns, before + kSecond);
}

using SimulatedKernelExclusive = SimulatedKernelTest;

TEST_F(SimulatedKernelExclusive, FailsBesideOtherEventsAndNeedsToBeEnabledWhenTheyAreGone) {
  const EventNumber first = open_pinned(kCycles);
  const EventNumber alone = open({.event = kCycles, .is_exclusive = true});
  EXPECT_FALSE(kernel.read(alone));
  kernel.close(first, process);
  EXPECT_FALSE(kernel.read(alone));
  kernel.enable(alone);
  EXPECT_TRUE(kernel.read(alone));
}

TEST_F(SimulatedKernelExclusive, KeepsAllOtherEventsOut) {
  const EventNumber alone = open({.event = kCycles, .is_exclusive = true});
  ASSERT_EQ(state(alone), EventState::kActive);
  EXPECT_EQ(state(open_pinned(kInstructions)), EventState::kError);
  EXPECT_EQ(state(open_flexible(kInstructions)), EventState::kInactive);
  EXPECT_EQ(state(open({.event = kInstructions, .cpu = 1})), EventState::kActive);
}

class SimulatedKernelBreakpoints : public SimulatedKernelTest {
 protected:
  SimulatedKernelBreakpoints() : SimulatedKernelTest(breakpoint_toy()) {}
  [[nodiscard]] int refused(const EventAttributes& attributes) {
    const auto event = kernel.open(process, attributes);
    return event ? 0 : event.error().system_error;
  }
};

TEST_F(SimulatedKernelBreakpoints, AreRefusedWhenTheyAreOpened) {
  open_many(4, {.event = kWrites});
  EXPECT_EQ(refused({.event = kWrites, .cpu = 0}), ENOSPC);
  EXPECT_EQ(refused({.event = kWrites, .cpu = 1}), 0);
}

TEST_F(SimulatedKernelBreakpoints, ShareFourSlotsOnACpuWhateverTheyWatch) {
  open_many(2, {.event = kWrites});  // the same address twice is two slots
  open_many(2, {.event = {.code = 4, .unit_mask = 8, .configuration = 0x2000}});
  EXPECT_EQ(refused({.event = {.code = 4, .unit_mask = 8}, .cpu = 0}), ENOSPC);
  open_many(4, {.event = kWrites, .cpu = 1});
  EXPECT_EQ(refused({.event = kWrites, .cpu = 1}), ENOSPC);
}

TEST_F(SimulatedKernelBreakpoints, HoldTheirSlotWhileDisabled) {
  const auto events = open_many(4, {.event = kWrites, .is_disabled = true});
  EXPECT_EQ(refused({.event = kWrites, .cpu = 0}), ENOSPC);
  kernel.close(events[0], process);
  EXPECT_EQ(refused({.event = kWrites, .cpu = 0}), 0);
}

TEST_F(SimulatedKernelBreakpoints, HoldTheirSlotUntilTheLastDescriptorIsClosed) {
  const auto events = open_many(4, {.event = kWrites});
  const std::uint32_t other = kernel.start_process("keeper");
  kernel.duplicate(events[0], other);
  kernel.close(events[0], process);
  EXPECT_EQ(refused({.event = kWrites, .cpu = 0}), ENOSPC);
  kernel.end_process(other);
  EXPECT_EQ(refused({.event = kWrites, .cpu = 0}), 0);
}

TEST_F(SimulatedKernelBreakpoints, HoldTheirSlotWhenTheirTaskIsDead) {
  const std::uint32_t task = kernel.start_task(process);
  kernel.run(task, 0);
  open_many(4, {.event = kWrites, .task = task});
  kernel.end_task(task);
  EXPECT_EQ(refused({.event = kWrites, .cpu = 0}), ENOSPC);
}

TEST_F(SimulatedKernelBreakpoints, ForATaskNeedRoomOnEveryCpuItMayRunOn) {
  open_many(4, {.event = kWrites});
  const std::uint32_t task = kernel.start_task(process);
  EXPECT_EQ(refused({.event = kWrites, .task = task}), ENOSPC);
  EXPECT_EQ(refused({.event = kWrites, .cpu = 1, .task = task}), 0);
}

TEST_F(SimulatedKernelBreakpoints, ForTasksCountAsTheTaskThatHasMost) {
  const std::uint32_t one = kernel.start_task(process);
  const std::uint32_t other = kernel.start_task(process);
  open_many(3, {.event = kWrites, .task = one});
  open_many(4, {.event = kWrites, .task = other});
  EXPECT_EQ(refused({.event = kWrites, .cpu = 0}), ENOSPC);
  EXPECT_EQ(refused({.event = kWrites, .task = one}), 0);
}

TEST_F(SimulatedKernelBreakpoints, IgnoreThatTheyAreExclusive) {
  open_many(4, {.event = kWrites, .is_exclusive = true});
  for (const auto& view : kernel.views()) EXPECT_EQ(view.state, EventState::kActive);
}

class SimulatedKernelMachine : public SimulatedKernelTest {
 protected:
  SimulatedKernelMachine() : SimulatedKernelTest(shipped_topology("skylake-sp")) {}
  static constexpr Event kCoreCycles = {.code = 0x3c};
  static constexpr Event kReference = {.code = 0x00, .unit_mask = 0x03};
};

TEST_F(SimulatedKernelMachine, RefusesWhatNoCounterCanCount) {
  SimulatedKernel closed(topology_from(R"([[pmu]]
name = "cpu"
cpus = "0"
general = 2
flags = ["closed"]
event = [{code = 0x1, class = "any"}]
class.any = {general = 0x3}
)"),
                         clock.reader());
  const auto event = closed.open(1, {.event = {.code = 2}, .cpu = 0});
  ASSERT_FALSE(event);
  EXPECT_EQ(event.error().fault, OpenFault::kNotSupported);
  EXPECT_EQ(kernel.open(process, {.event = kCoreCycles, .cpu = 4000}).error().fault,
            OpenFault::kNotSupported);
  EXPECT_EQ(kernel.open(process, {.event = kCoreCycles, .task = 77}).error().fault,
            OpenFault::kNoTask);
}

TEST_F(SimulatedKernelMachine, HasAWatchdogThatPrefersTheFixedCounterAndCanBeSwitchedOff) {
  // Cycles are on four general counters and one fixed one, which the watchdog is on.
  auto events = open_many(5, {.event = kCoreCycles});
  EXPECT_EQ(count(events, EventState::kActive), 4U);
  kernel.set_watchdog(false);
  kernel.enable(events[4]);
  EXPECT_EQ(count(events, EventState::kActive), 5U);
  // It starts late where there is no room for it, and takes from no event.
  kernel.set_watchdog(true);
  EXPECT_EQ(count(events, EventState::kActive), 5U);
  std::uint32_t dogs = 0;
  for (const auto& view : kernel.views()) dogs += view.who == "kernel watchdog" ? 1U : 0U;
  EXPECT_EQ(dogs, 55U);
}

TEST_F(SimulatedKernelMachine, HonoursWhichCounterCanCountWhat) {
  EXPECT_EQ(state(open_pinned(kReference)), EventState::kActive);
  EXPECT_EQ(state(open_pinned(kReference)), EventState::kError);  // on one fixed counter only
  const Event precise = {.code = 0xc0, .unit_mask = 0x01};        // on counter 1 only
  const EventNumber first = open_pinned(precise);
  EXPECT_EQ(kernel.view(first)->counter, 1U);
  EXPECT_EQ(state(open_pinned(precise)), EventState::kError);
}

TEST_F(SimulatedKernelMachine, LosesTheEventsOfACpuThatGoesOfflineForGood) {
  const EventNumber event = open_pinned(kCoreCycles);
  clock.advance(100);
  kernel.set_online(0, false);
  EXPECT_EQ(kernel.open(process, {.event = kCoreCycles, .cpu = 0}).error().fault,
            OpenFault::kOffline);
  clock.advance(100);
  kernel.set_online(0, true);
  kernel.enable(event);
  clock.advance(100);
  EXPECT_EQ(kernel.read(event)->running_ns, 100U);
  EXPECT_FALSE(kernel.view(event)->is_attached);
  // All of it can be had again, but for what the watchdog has.
  EXPECT_EQ(count(open_many(5, {.event = kCoreCycles}), EventState::kActive), 4U);
}

TEST_F(SimulatedKernelMachine, ClosesWhatAProcessHadWhenItEnds) {
  const EventNumber mine = open_pinned(kCoreCycles);
  const EventNumber kept = open_pinned(kCoreCycles);
  kernel.duplicate(kept, kernel.start_process("keeper"));
  kernel.end_process(process);
  EXPECT_FALSE(kernel.view(mine));
  EXPECT_TRUE(kernel.view(kept));
}

TEST_F(SimulatedKernelMachine, FailsTheOpenThatItIsToldTo) {
  kernel.fail_open(1, OpenFault::kNoDescriptors);
  EXPECT_TRUE(kernel.open(process, {.event = kCoreCycles, .cpu = 0}));
  const auto second = kernel.open(process, {.event = kCoreCycles, .cpu = 0});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().fault, OpenFault::kNoDescriptors);
  EXPECT_EQ(second.error().system_error, EMFILE);
  EXPECT_TRUE(kernel.open(process, {.event = kCoreCycles, .cpu = 0}));
}

TEST_F(SimulatedKernelMachine, TakesUpAnyTaskIfItIsToldTo) {
  SimulatedKernel open_house(shipped_topology("alder-lake"), clock.reader(),
                             {.counts = {}, .takes_any_task = true});
  const auto event = open_house.open(1, {.event = kCoreCycles, .task = 4711});
  ASSERT_TRUE(event);
  clock.advance(50);
  EXPECT_EQ(open_house.read(*event)->running_ns, 50U);
}

TEST_F(SimulatedKernelMachine, CountsATasksEventOnCpusOfItsPmuOnly) {
  SimulatedKernel hybrid(shipped_topology("alder-lake"), clock.reader());
  const std::uint32_t task = hybrid.start_task(1);
  const auto event =
      hybrid.open(SimulatedKernel::kItself, {.pmu = 1, .event = kCoreCycles, .task = task});
  ASSERT_TRUE(event);
  hybrid.run(task, 3);  // a performance core
  clock.advance(50);
  EXPECT_EQ(hybrid.read(*event)->enabled_ns, 0U);
  hybrid.run(task, 17);
  clock.advance(50);
  EXPECT_EQ(hybrid.read(*event)->running_ns, 50U);
}

// ---- Packing ----

// Sets of events that fit, by the exact answer, and that the greedy way loses.
struct Lost {
  std::uint32_t fitting = 0;
  std::uint32_t lost = 0;
};

Lost lost_by_greed(const Topology& topology, PmuIndex pmu, std::uint32_t sets) {
  std::mt19937 random(pmu + 1);
  std::vector<CounterMask> classes = {topology.counters_for(pmu, 0xfffe, 0xff)};
  for (const EventClass& each : topology.classes) {
    if (each.pmu == pmu) classes.push_back(each.counters);
  }
  Lost lost;
  for (std::uint32_t i = 0; i < sets; ++i) {
    std::vector<CounterMask> events;
    for (std::uint64_t left = 1 + random() % 14; left != 0; --left) {
      events.push_back(classes[random() % classes.size()]);
    }
    if (!pack(events, Packing::kExact)) continue;
    ++lost.fitting;
    if (!pack(events, Packing::kGreedy)) ++lost.lost;
  }
  return lost;
}

TEST(SimulatedPacking, ByTheKernelLosesNothingOnTodaysProcessors) {
  for (const char* name : {"skylake-sp", "icelake-sp", "sapphire-rapids-2s", "alder-lake", "zen2",
                           "zen3", "zen4", "zen5", "neoverse-n1", "lunar-lake"}) {
    const Topology topology = shipped_topology(name);
    for (PmuIndex pmu = 0; pmu < topology.pmus.size(); ++pmu) {
      const Lost lost = lost_by_greed(topology, pmu, 2000);
      EXPECT_GT(lost.fitting, 20U) << name;
      EXPECT_EQ(lost.lost, 0U) << name << " of " << lost.fitting;
    }
  }
}

TEST(SimulatedPacking, ByTheKernelLosesSomethingWhereRulesOverlap) {
  const std::vector<CounterMask> overlapping = {0x3, 0x9, 0x9};  // 0 or 1; 0 or 3
  EXPECT_FALSE(pack(overlapping, Packing::kGreedy));
  EXPECT_TRUE(pack(overlapping, Packing::kExact));
}

TEST(SimulatedPacking, GivesEachEventACounterOfItsOwnThatItCanBeOn) {
  const std::vector<CounterMask> events = {0xf, 0x1, 0x3, CounterMask{0xf} | CounterMask{1} << 33};
  for (const Packing packing : {Packing::kGreedy, Packing::kExact}) {
    const auto counters = pack(events, packing);
    ASSERT_TRUE(counters);
    CounterMask used = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
      const CounterMask bit = CounterMask{1} << (*counters)[i];
      EXPECT_NE(bit & events[i], 0U);
      EXPECT_EQ(bit & used, 0U);
      used |= bit;
    }
  }
}

}  // namespace
}  // namespace meterbank::arbiter::simulated_kernel_test
