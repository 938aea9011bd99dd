// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/books/machine_book.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "../machines.hpp"
#include "book_checks.hpp"

namespace meterbank::arbiter {
namespace {

TEST(MachineBook, CheckersOfThisFileCanFail) {
  MachineBook book = open_book();
  ASSERT_TRUE(is_granted(book.try_grant(1, ask(0x1, {single(0)}))));
  const Decision refused = book.test(ask(0x1, {single(0)}));
  EXPECT_FALSE(is_granted(refused));
  EXPECT_FALSE(is_refused(refused, Reason::kTaken, {2}));
  EXPECT_FALSE(is_refused(refused, Reason::kForeign, {1}));
  EXPECT_FALSE(is_refused(book.test(ask(0x1, {single(1)})), Reason::kNone, {}));
  EXPECT_NE(count_of(book, 0, OwnerKind::kFree), count_of(book, 1, OwnerKind::kFree));
}

TEST(MachineBook, WholePmuIsExclusive) {
  MachineBook book = open_book();
  ASSERT_TRUE(is_granted(book.try_grant(1, ask_for_whole(0))));
  EXPECT_EQ(count_of(book, 0, OwnerKind::kUntagged), 6U);
  EXPECT_TRUE(is_refused(book.try_grant(2, ask(0x1, {single(0)})), Reason::kWholePmu, {1}));
  EXPECT_TRUE(is_refused(book.try_grant(2, ask_for_whole(0)), Reason::kWholePmu, {1}));
  EXPECT_TRUE(is_refused(book.try_grant(2, ask(0x1, {event_buffer(5)})), Reason::kWholePmu, {1}));
  EXPECT_EQ(book.probe(CpuSet::range(0, 0), {}), 0U);
  EXPECT_TRUE(book.release(1));
  EXPECT_TRUE(is_granted(book.try_grant(2, ask(0x1, {single(0)}))));
}

TEST(MachineBook, AnyLeaseKeepsOutWhoWantsTheWholePmu) {
  for (const Item& item :
       {single(0), counters_for_event(1, 0x3c, 0), event_buffer(5), extra_register("rsp", 1)}) {
    MachineBook book = open_book();
    ASSERT_TRUE(is_granted(book.try_grant(7, ask(0x4, {item}))));
    const Decision refused = book.try_grant(8, ask_for_whole(0));
    EXPECT_TRUE(is_refused(refused, Reason::kWholePmu, {7}));
    EXPECT_EQ(refused.cpu, 2U);
    EXPECT_TRUE(is_granted(book.try_grant(8, ask_for_whole(0x3))));
  }
}

TEST(MachineBook, WholePmuIsBlockedByAnOutsider) {
  MachineBook book = open_book(watched_machine());
  const Decision refused = book.try_grant(1, ask_for_whole(0));
  EXPECT_TRUE(is_refused(refused, Reason::kForeign, {}));
  EXPECT_EQ(refused.foreign, "watchdog");
  EXPECT_NE(refused.sentence.find("watchdog"), std::string::npos);
}

TEST(MachineBook, DisjointLeasesCoexist) {
  MachineBook book = open_book();
  EXPECT_TRUE(is_granted(book.try_grant(1, ask(0x1, {single(0)}))));
  EXPECT_TRUE(is_granted(book.try_grant(2, ask(0x1, {range(1, 2)}))));
  EXPECT_TRUE(is_granted(book.try_grant(3, ask(0x2, {single(0)}))));
  EXPECT_TRUE(is_granted(book.try_grant(4, ask_for_whole(0xf4))));
  EXPECT_EQ(owner_of(book, 0, 0).lease, 1U);
  EXPECT_EQ(owner_of(book, 0, 2).lease, 2U);
  EXPECT_EQ(owner_of(book, 1, 0).lease, 3U);
  EXPECT_EQ(owner_of(book, 4, 1).lease, 4U);
}

TEST(MachineBook, OneBusyItemRefusesAllOfIt) {
  MachineBook book = open_book();
  ASSERT_TRUE(is_granted(book.try_grant(1, ask(0x8, {single(3)}))));
  ASSERT_TRUE(is_granted(book.try_grant(2, ask(0x1, {named(ItemKind::kUnit, "lbr", 1)}))));
  const Ownership before = book.ownership();
  const Decision counter = book.try_grant(3, ask(0xf, {range(0, 3), event_buffer(1)}));
  EXPECT_TRUE(is_refused(counter, Reason::kTaken, {1}));
  EXPECT_EQ(counter.cpu, 3U);
  EXPECT_EQ(book.ownership(), before);
  const Decision unit =
      book.try_grant(3, ask(0x3, {single(0), named(ItemKind::kUnit, "lbr", 1), event_buffer(1)}));
  EXPECT_TRUE(is_refused(unit, Reason::kTaken, {2}));
  EXPECT_EQ(book.ownership(), before);
  EXPECT_FALSE(book.release(3));
}

TEST(MachineBook, RangesIncludeBothEnds) {
  MachineBook book = open_book();
  ASSERT_TRUE(is_granted(book.try_grant(1, ask(0x1, {range(1, 2)}))));
  EXPECT_EQ(owner_of(book, 0, 0).kind, OwnerKind::kFree);
  EXPECT_EQ(owner_of(book, 0, 1).lease, 1U);
  EXPECT_EQ(owner_of(book, 0, 2).lease, 1U);
  EXPECT_EQ(owner_of(book, 0, 3).kind, OwnerKind::kFree);
  EXPECT_TRUE(is_refused(book.try_grant(2, ask(0x1, {single(2)})), Reason::kTaken, {1}));
  EXPECT_EQ(book.try_grant(2, ask(0x1, {range(2, 1)})).answer, Answer::kInvalidParameter);
  EXPECT_EQ(book.try_grant(2, ask(0x1, {range(3, 4)})).answer, Answer::kNotSupported);
}

TEST(MachineBook, CpuSetsConflictOnlyWhereTheyOverlap) {
  MachineBook book = open_book();
  ASSERT_TRUE(is_granted(book.try_grant(1, ask(0x3, {single(0)}))));
  const Decision refused = book.try_grant(2, ask(0x6, {single(0)}));
  EXPECT_TRUE(is_refused(refused, Reason::kTaken, {1}));
  EXPECT_EQ(refused.cpu, 1U);
  EXPECT_TRUE(is_granted(book.try_grant(2, ask(0xc, {single(0)}))));
  EXPECT_TRUE(is_granted(book.try_grant(3, ask(0x6, {single(1)}))));
  EXPECT_TRUE(is_refused(book.try_grant(4, ask(0, {single(0)})), Reason::kTaken, {1}));
}

TEST(MachineBook, ListingSaysWhoHasWhat) {
  MachineBook book = open_book();
  ASSERT_TRUE(is_granted(book.try_grant(1, ask(0x1, {single(0)}))));
  ASSERT_TRUE(is_granted(book.try_grant(2, ask(0x1, {single(1), identification_tag(0xcafe)}))));
  ASSERT_TRUE(is_granted(
      book.try_grant(3, ask(0x2, {counters_for_event(1, 0x3c, 2), identification_tag(0xbeef)}))));
  EXPECT_EQ(owner_of(book, 0, 0).kind, OwnerKind::kUntagged);
  EXPECT_EQ(owner_of(book, 0, 1).kind, OwnerKind::kTagged);
  EXPECT_EQ(owner_of(book, 0, 1).tag, 0xcafeU);
  EXPECT_EQ(owner_of(book, 0, 2), CounterOwner{.counter = 2});
  ASSERT_EQ(count_of(book, 1, OwnerKind::kTaggedWithSource), 1U);
  bool is_shown = false;
  for (const std::uint32_t counter : {0U, 1U, 2U, 3U, kFixedFirst + 1}) {
    const CounterOwner owner = owner_of(book, 1, counter);
    is_shown = is_shown || (owner.tag == 0xbeef && owner.source == Event{0x3c, 2});
  }
  EXPECT_TRUE(is_shown);
  MachineBook watched = open_book(watched_machine());
  EXPECT_EQ(count_of(watched, 1, OwnerKind::kForeign), 1U);
}

TEST(MachineBook, OfflineCpusAreListedAndNotLent) {
  MachineBook book = open_book();
  ASSERT_TRUE(is_granted(book.try_grant(1, ask(0x8, {single(0)}))));
  book.set_online(CpuSet::range(0, 2));
  EXPECT_EQ(count_of(book, 3, OwnerKind::kOffline), 6U);
  EXPECT_EQ(owner_of(book, 3, 0).lease, 1U);
  const Decision refused = book.try_grant(2, ask(0xc, {single(1)}));
  EXPECT_TRUE(is_refused(refused, Reason::kCpuOffline, {}));
  EXPECT_EQ(refused.cpu, 3U);
  EXPECT_EQ(book.probe(CpuSet::range(2, 3), {}), 0U);
  book.set_online(CpuSet::range(0, 7));
  EXPECT_EQ(owner_of(book, 3, 0).kind, OwnerKind::kUntagged);
  EXPECT_TRUE(is_refused(book.try_grant(2, ask(0x8, {single(0)})), Reason::kTaken, {1}));
}

TEST(MachineBook, LowestThresholdOfAllSharersIsInForce) {
  MachineBook book = open_book();
  const Decision first = book.try_grant(1, ask(0x3, {event_buffer(100)}));
  ASSERT_TRUE(is_granted(first));
  EXPECT_EQ(first.threshold, 100U);
  const Decision second = book.try_grant(2, ask(0x2, {event_buffer(200)}));
  ASSERT_TRUE(is_granted(second));
  EXPECT_EQ(second.threshold, 100U);
  ASSERT_TRUE(is_granted(book.try_grant(3, ask(0x2, {event_buffer(10), single(0)}))));
  EXPECT_EQ(book.threshold(1), 10U);
  EXPECT_EQ(book.threshold(2), 10U);
  EXPECT_TRUE(book.release(3));
  EXPECT_EQ(book.threshold(1), 100U);
  EXPECT_TRUE(book.release(1));
  EXPECT_EQ(book.threshold(2), 200U);
  EXPECT_EQ(book.threshold(1), std::nullopt);
  const Decision counter = book.try_grant(4, ask(0x1, {single(0)}));
  ASSERT_TRUE(is_granted(counter));
  EXPECT_EQ(counter.threshold, std::nullopt);
}

TEST(MachineBook, ARequestWithoutAThresholdTakesThatOfOthers) {
  MachineBook book = open_book();
  EXPECT_EQ(book.try_grant(1, ask(0x1, {event_buffer(0)})).threshold, 0U);
  EXPECT_EQ(book.try_grant(2, ask(0x1, {event_buffer(30)})).threshold, 30U);
  EXPECT_EQ(book.threshold(1), 30U);
}

TEST(MachineBook, OverflowNeedsACounterOfItsOwnList) {
  MachineBook book = open_book();
  ASSERT_TRUE(is_granted(book.try_grant(1, ask(0x1, {single(0), overflow()}))));
  EXPECT_EQ(book.try_grant(2, ask(0x1, {overflow()})).answer, Answer::kInvalidParameter);
}

TEST(MachineBook, ProbeSubtractsHeldCounters) {
  MachineBook book = open_book();
  const CpuSet cpus = CpuSet::range(0, 3);
  const Event event{.code = 0x80, .unit_mask = 0};  // counters 0 and 1 only
  EXPECT_EQ(book.probe(cpus, event), 2U);
  EXPECT_EQ(book.probe(cpus, {.code = 0x3c}), 5U);
  ASSERT_TRUE(is_granted(book.try_grant(1, ask(0x2, {counters_for_event(1, 0x80, 0)}))));
  EXPECT_EQ(book.probe(cpus, event), 1U);
  EXPECT_EQ(book.probe(CpuSet::range(2, 3), event), 2U);
  EXPECT_TRUE(is_refused(book.try_grant(2, ask(0xf, {counters_for_event(2, 0x80, 0)})),
                         Reason::kTaken, {1}));
  EXPECT_TRUE(is_granted(book.try_grant(2, ask(0xf, {counters_for_event(1, 0x80, 0)}))));
  EXPECT_EQ(book.probe(cpus, event), 0U);
  EXPECT_TRUE(book.release(1));
  EXPECT_TRUE(book.release(2));
  EXPECT_EQ(book.probe(cpus, event), 2U);
  EXPECT_EQ(book.probe(CpuSet::range(8, 8), event), 0U);
  EXPECT_EQ(book.probe({}, event), 0U);
}

TEST(MachineBook, ProbeOfMixedCpusIsTheSmallest) {
  MachineBook book = open_book();
  EXPECT_EQ(book.probe(CpuSet::range(0, 7), {.code = 0x3c}), 2U);
}

TEST(MachineBook, AnOutsiderStandsOnOneCounterOfItsClass) {
  MachineBook book = open_book(watched_machine());
  EXPECT_EQ(book.probe(CpuSet::range(0, 1), {}), 3U);
  // Wherever it stands, any three exact counters can be had: it is moved.
  for (std::uint32_t spared = 0; spared < 4; ++spared) {
    std::vector<Item> items;
    for (std::uint32_t counter = 0; counter < 4; ++counter) {
      if (counter != spared) items.push_back(single(counter));
    }
    ASSERT_TRUE(is_granted(book.try_grant(1, ask(0, items))));
    EXPECT_EQ(owner_of(book, 0, spared).foreign, "watchdog");
    const Decision refused = book.try_grant(2, ask(0x1, {counters_for_event(1, 1, 0)}));
    EXPECT_EQ(refused.reason, Reason::kTaken);
    EXPECT_EQ(refused.foreign, "watchdog");
    EXPECT_TRUE(book.release(1));
  }
  EXPECT_TRUE(is_refused(book.try_grant(2, ask(0x1, {range(0, 3)})), Reason::kForeign, {}));
}

TEST(MachineBook, UnaskedHoldersWithoutACounterAreRefusedAtOnce) {
  Machine machine = watched_machine();
  machine.topology.foreign.resize(5, machine.topology.foreign.front());
  const auto book = MachineBook::open(machine);
  ASSERT_FALSE(book);
  EXPECT_EQ(book.error().code, ErrorCode::kInvalidArgument);
}

TEST(MachineBook, UnitsAreCountedInEachPlaceOnce) {
  MachineBook book = open_book();
  const Item slot = named(ItemKind::kUnit, "slot", 1);
  ASSERT_TRUE(is_granted(book.try_grant(1, ask(0xf, {slot}))));
  ASSERT_TRUE(is_granted(book.try_grant(2, ask(0x1, {slot}))));
  EXPECT_TRUE(is_refused(book.try_grant(3, ask(0x8, {slot})), Reason::kTaken, {1, 2}));
  EXPECT_TRUE(book.release(1));
  EXPECT_TRUE(is_granted(book.try_grant(3, ask(0x8, {slot}))));
}

TEST(MachineBook, UnitsOfACoreAreSharedByItsCpus) {
  MachineBook book = open_book();
  const Item trace = named(ItemKind::kUnit, "trace", 1);
  ASSERT_TRUE(is_granted(book.try_grant(1, ask(0x1, {trace}))));
  EXPECT_TRUE(is_refused(book.try_grant(2, ask(0x2, {trace})), Reason::kTaken, {1}));
  EXPECT_TRUE(is_granted(book.try_grant(2, ask(0x4, {trace}))));
}

TEST(MachineBook, ConflictingUnitsExcludeEachOtherWhereverTheyShareACpu) {
  const Item trace = named(ItemKind::kUnit, "trace", 1);
  const Item lbr = named(ItemKind::kUnit, "lbr", 1);
  MachineBook book = open_book();
  ASSERT_TRUE(is_granted(book.try_grant(1, ask(0x1, {lbr}))));
  EXPECT_TRUE(is_refused(book.try_grant(2, ask(0x2, {trace})), Reason::kTaken, {1}));
  EXPECT_TRUE(is_granted(book.try_grant(2, ask(0x4, {trace}))));
  EXPECT_TRUE(is_refused(book.try_grant(3, ask(0x8, {lbr})), Reason::kTaken, {2}));
  EXPECT_TRUE(is_granted(book.try_grant(3, ask(0x2, {lbr}))));
}

TEST(MachineBook, RegistersAreSharedByWhoWantsTheSameInThem) {
  MachineBook book = open_book();
  ASSERT_TRUE(is_granted(book.try_grant(1, ask(0x1, {extra_register("rsp", 7)}))));
  ASSERT_TRUE(is_granted(book.try_grant(2, ask(0x2, {extra_register("rsp", 8)}))));
  ASSERT_TRUE(is_granted(book.try_grant(3, ask(0x1, {extra_register("rsp", 8)}))));
  EXPECT_TRUE(is_refused(book.try_grant(4, ask(0x1, {extra_register("rsp", 9)})), Reason::kTaken,
                         {1, 2, 3}));
  EXPECT_TRUE(is_granted(book.try_grant(4, ask(0x4, {extra_register("rsp", 9)}))));
  EXPECT_TRUE(book.release(2));
  EXPECT_FALSE(is_granted(book.test(ask(0x1, {extra_register("rsp", 9)}))));
  EXPECT_TRUE(book.release(3));
  EXPECT_TRUE(is_granted(book.try_grant(5, ask(0x1, {extra_register("rsp", 9)}))));
}

TEST(MachineBook, SecondReleaseOfALeaseDoesNoHarm) {
  MachineBook book = open_book();
  EXPECT_FALSE(book.release(1));
  EXPECT_FALSE(book.release(0));
  EXPECT_FALSE(book.release(MachineBook::kForeignFirst));
  ASSERT_TRUE(is_granted(book.try_grant(1, ask(0x1, {single(0)}))));
  ASSERT_TRUE(is_granted(book.try_grant(2, ask(0x1, {single(1)}))));
  EXPECT_TRUE(book.release(1));
  const Ownership before = book.ownership();
  EXPECT_FALSE(book.release(1));
  EXPECT_EQ(book.ownership(), before);
  EXPECT_EQ(owner_of(book, 0, 1).lease, 2U);
}

TEST(MachineBook, WholePmuOfAllCpusButOneLeavesSharedUnitsToThatOne) {
  MachineBook book = open_book();
  ASSERT_TRUE(is_granted(book.try_grant(1, ask_for_whole(0x1))));
  EXPECT_TRUE(is_granted(book.try_grant(2, ask(0x2, {named(ItemKind::kUnit, "trace", 1)}))));
}

// ---- Alternatives ----

TEST(MachineBook, LeasesOfDifferentSlicesHaveTheSameCounters) {
  MachineBook book = open_book();
  const Plan all = plan_of(ask(0x3, {range(0, 3)}));
  ASSERT_TRUE(is_granted(book.try_take(1, all, {.slice = 1})));
  ASSERT_TRUE(is_granted(book.try_take(2, all, {.slice = 2})));
  const Ownership before = book.ownership();
  EXPECT_TRUE(is_refused(book.try_take(3, all, {.slice = 2}), Reason::kTaken, {2}));
  EXPECT_TRUE(is_refused(book.try_take(3, all, {}), Reason::kTaken, {1}));
  EXPECT_TRUE(is_refused(book.test(all, {}), Reason::kTaken, {1}));
  EXPECT_EQ(book.ownership(), before);
  EXPECT_EQ(owner_of(book, 0, 0).lease, 1U);  // each counter is shown once
  EXPECT_TRUE(book.release(1));
  EXPECT_EQ(owner_of(book, 0, 0).lease, 2U);
  EXPECT_TRUE(book.release(2));
  EXPECT_TRUE(is_granted(book.try_take(3, all, {})));
}

TEST(MachineBook, TasksAreAlternativesOfTheirRequests) {
  MachineBook book = open_book();
  const auto of_task = [](std::uint32_t task) {
    Request request = ask(0, {counters_for_event(2, 0x80, 0)});
    request.pmu = wire_name("big");
    request.task = task;
    return request;
  };
  ASSERT_TRUE(is_granted(book.try_grant(1, of_task(11))));
  ASSERT_TRUE(is_granted(book.try_grant(2, of_task(12))));
  EXPECT_TRUE(is_refused(book.try_grant(3, of_task(12)), Reason::kTaken, {2}));
  EXPECT_EQ(book.probe(0, CpuSet::range(0, 3), {.code = 0x80}), 0U);
  EXPECT_EQ(book.probe(0, CpuSet::range(0, 3), {.code = 0x80}, {.task = 13}), 2U);
  EXPECT_EQ(book.room(0, CpuSet::range(0, 3), 0xf, {.task = 11}), 2U);
}

TEST(MachineBook, FullTimeLeasesAreShownBeforeThoseThatTakeTurns) {
  MachineBook book = open_book();
  const Plan pair = plan_of(ask(0x1, {counters_for_event(1, 0x80, 0)}));
  ASSERT_TRUE(is_granted(book.try_take(1, pair, {.slice = 1})));
  ASSERT_TRUE(is_granted(book.try_take(2, pair, {})));
  ASSERT_TRUE(book.placement(1, 0, 0));
  ASSERT_TRUE(book.placement(2, 0, 0));
  EXPECT_FALSE(book.placement(2, 0, 1));
  EXPECT_FALSE(book.placement(3, 0, 0));
  EXPECT_EQ(owner_of(book, 0, book.placement(2, 0, 0)->any[0]).lease, 2U);
}

TEST(MachineBook, UnitsAreNotSharedByAlternatives) {
  MachineBook book = open_book();
  const Plan lbr = plan_of(ask(0x1, {named(ItemKind::kUnit, "lbr", 1)}));
  ASSERT_TRUE(is_granted(book.try_take(1, lbr, {.slice = 1})));
  EXPECT_TRUE(is_refused(book.try_take(2, lbr, {.slice = 2}), Reason::kTaken, {1}));
}

TEST(MachineBook, PlansThatWaitedAreRefusedOnCpusThatHaveGone) {
  MachineBook book = open_book();
  const Plan plan = plan_of(ask(0x8, {single(0)}));
  book.set_online(CpuSet::range(0, 2));
  const Decision refused = book.try_take(1, plan, {});
  EXPECT_TRUE(is_refused(refused, Reason::kCpuOffline, {}));
  EXPECT_EQ(refused.cpu, 3U);
}

// ---- Holders without a lease ----

TEST(MachineBook, WatchdogsOfTheTopologyAreTheKernels) {
  const MachineBook book = open_book(watched_machine());
  bool is_shown = false;
  for (const CounterOwner& owner : book.owners(0, 1).counters) {
    is_shown = is_shown || (owner.foreign == "watchdog" && owner.unleased == UnleasedKind::kKernel);
  }
  EXPECT_TRUE(is_shown);
}

TEST(MachineBook, ClosedPmusHaveNoRoomForOtherEvents) {
  Machine machine = hybrid_machine();
  machine.topology.pmus[0].is_closed = true;
  const MachineBook book = open_book(machine);
  EXPECT_EQ(book.probe(CpuSet::range(0, 0), {.code = 0x80}), 2U);
  EXPECT_EQ(book.probe(CpuSet::range(0, 0), {.code = 0x90}), 0U);
  EXPECT_EQ(book.probe(9, CpuSet::range(0, 0), {.code = 0x80}), 0U);
  EXPECT_EQ(book.room(0, CpuSet::range(0, 5), 0xf), 0U);
}

}  // namespace
}  // namespace meterbank::arbiter
