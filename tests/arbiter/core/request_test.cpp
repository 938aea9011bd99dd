// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/request.hpp"

#include <gtest/gtest.h>

#include <string>

#include "machines.hpp"

namespace meterbank::arbiter {
namespace {

// Checks of a request that come before any look at what others hold.
Decision verdict(const Request& request, const Machine& machine = hybrid_machine()) {
  const auto plan = plan_for(request, machine);
  return plan ? Decision{} : plan.error();
}

// The sentence is looked at, too: a refusal for another reason must not pass for this one.
testing::AssertionResult says(const Decision& decision, Answer answer, Reason reason,
                              const std::string& part) {
  if (decision.answer != answer || decision.reason != reason ||
      decision.sentence.find(part) == std::string::npos) {
    return testing::AssertionFailure() << name_of(decision.answer) << ", "
                                       << name_of(decision.reason) << ": " << decision.sentence;
  }
  return testing::AssertionSuccess();
}

testing::AssertionResult is_malformed(const Decision& decision, const std::string& part) {
  return says(decision, Answer::kInvalidParameter, Reason::kMalformed, part);
}

testing::AssertionResult is_missing(const Decision& decision, const std::string& part) {
  return says(decision, Answer::kNotSupported, Reason::kNoSuchThing, part);
}

TEST(Request, CheckersOfThisFileCanFail) {
  const Decision granted = verdict(ask(0x1, {single(0)}));
  ASSERT_TRUE(granted.is_granted()) << granted.sentence;
  EXPECT_FALSE(is_malformed(granted, ""));
  EXPECT_FALSE(is_missing(granted, ""));
  EXPECT_FALSE(is_malformed(verdict(ask(0x1, {range(2, 1)})), "handle"));
}

TEST(Request, WithoutGroupsMeansAllCpusOnline) {
  const auto plan = plan_for(ask(0, {single(0)}), hybrid_machine());
  ASSERT_TRUE(plan) << plan.error().sentence;
  ASSERT_EQ(plan->parts.size(), 2U);
  EXPECT_EQ(plan->parts[0].cpus, CpuSet::range(0, 3));
  EXPECT_EQ(plan->parts[1].cpus, CpuSet::range(4, 7));
}

TEST(Request, WithoutHandleIsInvalid) {
  Request request = ask(0x1, {single(0)});
  request.has_handle = false;
  EXPECT_TRUE(is_malformed(verdict(request), "handle"));
}

TEST(Request, NoGroupsWithACountIsInvalid) {
  Request request = ask(0, {single(0)});
  request.group_count = 1;
  EXPECT_TRUE(is_malformed(verdict(request), "no CPU groups"));
}

TEST(Request, GroupsWithoutACountAreInvalid) {
  Request request = ask(0x1, {single(0)});
  request.group_count = 0;
  EXPECT_TRUE(is_malformed(verdict(request), "count is zero"));
}

TEST(Request, GroupsOtherThanCountedAreInvalid) {
  Request request = ask(0x1, {single(0)});
  request.group_count = 2;
  EXPECT_TRUE(is_malformed(verdict(request), "announced"));
  request.group_count = kGroupsMax + 1;
  request.groups.resize(request.group_count, CpuGroup{.mask = 1});
  EXPECT_TRUE(is_malformed(verdict(request), "announced"));
}

TEST(Request, EmptyMaskIsInvalid) {
  Request request = ask(0x1, {single(0)});
  request.groups[0].mask = 0;
  EXPECT_TRUE(is_malformed(verdict(request), "mask of group 0 is empty"));
}

TEST(Request, EachReservedWordOfAGroupMustBeZero) {
  for (std::size_t word = 0; word < 3; ++word) {
    Request request = ask(0x1, {single(0)});
    request.groups[0].reserved.at(word) = 1;
    EXPECT_TRUE(is_malformed(verdict(request), "reserved"));
  }
}

TEST(Request, CpuBeyondThePossibleSetIsInvalid) {
  EXPECT_TRUE(is_malformed(verdict(ask(0x400, {single(0)})), "CPU 10 is not possible"));
  EXPECT_EQ(verdict(ask(0x400, {single(0)})).cpu, 10U);
}

TEST(Request, GroupBeyondThePossibleSetIsInvalid) {
  for (const std::uint16_t group : {std::uint16_t{1}, std::uint16_t{64}, std::uint16_t{0xffff}}) {
    Request request = ask(0x1, {single(0)});
    request.groups[0].group = group;
    EXPECT_TRUE(is_malformed(verdict(request), "is not possible")) << group;
  }
}

TEST(Request, GroupsBeyondTheFirstCountFromSixtyFour) {
  Machine machine = hybrid_machine();
  machine.topology.pmus[1].cpus = CpuSet::range(4, 70);
  machine.possible = machine.online = CpuSet::range(0, 70);
  Request request = ask(0x2, {single(0)});
  request.groups[0].group = 1;
  const auto plan = plan_for(request, machine);
  ASSERT_TRUE(plan) << plan.error().sentence;
  EXPECT_EQ(plan->parts[0].cpus, CpuSet::range(65, 65));
}

TEST(Request, OneCpuNamedTwiceIsOneCpu) {
  Request request = ask(0x1, {single(0)});
  request.groups.push_back({.mask = 0x3});
  request.group_count = 2;
  const auto plan = plan_for(request, hybrid_machine());
  ASSERT_TRUE(plan) << plan.error().sentence;
  EXPECT_EQ(plan->parts[0].cpus, CpuSet::range(0, 1));
}

TEST(Request, EmptyListIsInvalid) {
  EXPECT_TRUE(is_malformed(verdict(ask(0x1, {})), "the list is empty"));
}

TEST(Request, ListOtherThanCountedIsInvalid) {
  Request request = ask(0x1, {single(0)});
  request.item_count = 2;
  EXPECT_TRUE(is_malformed(verdict(request), "says 2 items"));
  Request none = ask_for_whole(0x1);
  none.item_count = 1;
  EXPECT_TRUE(is_malformed(verdict(none), "no list"));
  EXPECT_TRUE(is_malformed(verdict(ask(0x1, std::vector<Item>(kItemsMax + 1, single(0)))), "more"));
}

TEST(Request, FlagsOfAllButEventsMustBeZero) {
  for (Item item : {single(0), range(0, 1), overflow(), event_buffer(1), identification_tag(1),
                    named(ItemKind::kClass, "low2", 1), named(ItemKind::kBlock, "pair", 1),
                    named(ItemKind::kUnit, "lbr", 1), extra_register("rsp", 1),
                    Item{.kind = static_cast<std::uint32_t>(ItemKind::kExtendedConfiguration)}}) {
    item.flags = 2;
    const Decision decision = verdict(ask(0x1, {single(3), item}));
    EXPECT_TRUE(is_malformed(decision, "flags are 0x2")) << item.kind;
    EXPECT_EQ(decision.item, 1U);
  }
}

TEST(Request, EventsMayExcludeUserOrKernelAndNotBoth) {
  Machine machine = hybrid_machine();
  machine.names = {{{"cycles", {.code = 0x3c}}}};
  for (Item item : {counters_for_event(1, 0x3c, 0), named(ItemKind::kNamedEvent, "cycles", 0)}) {
    for (const std::uint32_t flags : {pmu::kItemExcludesUser, pmu::kItemExcludesKernel}) {
      item.flags = flags;
      const auto plan = plan_for(ask(0x1, {single(3), item}), machine);
      ASSERT_TRUE(plan) << plan.error().sentence;
      EXPECT_EQ(plan->parts[0].events[0],
                (EventUse{.event = {.code = 0x3c}, .item = 1, .flags = flags}));
    }
    item.flags = pmu::kItemExcludesUser | pmu::kItemExcludesKernel;
    EXPECT_TRUE(is_malformed(verdict(ask(0x1, {item}), machine), "both user and kernel"));
    item.flags = 8;
    EXPECT_TRUE(is_malformed(verdict(ask(0x1, {item}), machine), "no flags 0x8"));
  }
}

TEST(Request, EventsOfATaskMayBeInheritedAndNotThoseOfCpus) {
  const Machine machine = hybrid_machine();
  Item item = counters_for_event(1, 0x3c, 0);
  item.flags = pmu::kItemInherits | pmu::kItemExcludesKernel;
  Request request = ask(0x1, {item});
  EXPECT_TRUE(is_malformed(verdict(request, machine), "nothing that could inherit"));
  request.has_groups = false;
  request.group_count = 0;
  request.groups.clear();
  EXPECT_TRUE(is_malformed(verdict(request, machine), "nothing that could inherit"));
  request.task = 42;
  const auto plan = plan_for(request, machine);
  ASSERT_TRUE(plan) << plan.error().sentence;
  EXPECT_EQ(plan->parts[0].events[0]->flags, item.flags);
}

TEST(Request, NamedEventsAreLookedUpInTheTableOfTheirPmu) {
  Machine machine = hybrid_machine();
  machine.names = {{{"llc-misses", {.code = 0x85, .unit_mask = 1, .configuration = 0x185}}}};
  const Item item = named(ItemKind::kNamedEvent, "llc-misses", 0);
  const auto plan = plan_for(ask(0x1, {item}), machine);
  ASSERT_TRUE(plan) << plan.error().sentence;
  EXPECT_EQ(plan->parts[0].counters.any, (std::vector<CounterMask>{0x3}));
  EXPECT_EQ(plan->parts[0].events[0],
            (EventUse{.event = {.code = 0x85, .unit_mask = 1, .configuration = 0x185}}));
  EXPECT_TRUE(is_missing(verdict(ask(0x10, {item}), machine), "little has no event llc-misses"));
  EXPECT_TRUE(
      is_missing(verdict(ask(0x1, {named(ItemKind::kNamedEvent, "lcc-misses", 0)}), machine),
                 "did you mean llc-misses?"));
  const Decision far = verdict(ask(0x1, {named(ItemKind::kNamedEvent, "power", 0)}), machine);
  EXPECT_TRUE(is_missing(far, "big has no event power"));
  EXPECT_EQ(far.sentence.find("mean"), std::string::npos);
  EXPECT_TRUE(is_malformed(verdict(ask(0x1, {named(ItemKind::kNamedEvent, "", 0)})), "name"));
}

TEST(Request, PmusThatAreNamedOnlyAreNotMeantByOthers) {
  Machine machine = hybrid_machine();
  machine.topology.pmus[0].is_named_only = true;
  EXPECT_EQ(machine.pmu_on(0), 2U);  // the next one that covers it
  EXPECT_EQ(machine.pmu_on(1), std::nullopt);
  EXPECT_TRUE(says(verdict(ask(0x2, {single(0)}), machine), Answer::kNotSupported, Reason::kNoPmu,
                   "CPU 1"));
  Request request = ask(0x2, {single(0)});
  request.pmu = wire_name("big");
  EXPECT_TRUE(verdict(request, machine).is_granted());
  for (Pmu& pmu : machine.topology.pmus) pmu.is_named_only = true;
  EXPECT_TRUE(says(verdict(ask(0, {single(0)}), machine), Answer::kNotSupported, Reason::kNoPmu,
                   "no PMU but big, which must be asked for by name"));
}

TEST(Request, ClosedPmusCountTheEventsOfTheirRulesAlone) {
  Machine machine = hybrid_machine();
  machine.topology.pmus[0].is_closed = true;
  EXPECT_TRUE(verdict(ask(0x1, {counters_for_event(1, 0x8f, 7)}), machine).is_granted());
  EXPECT_TRUE(is_missing(verdict(ask(0x1, {counters_for_event(1, 0x90, 7)}), machine),
                         "big has no event 0x90:0x7"));
  EXPECT_TRUE(verdict(ask(0x10, {counters_for_event(1, 0x90, 7)}), machine).is_granted());
}

TEST(Request, EventsKeepTheirConfiguration) {
  Item item = counters_for_event(1, 0x3c, 0);
  item.configuration = 0xfeedface;
  const auto plan = plan_for(ask(0x1, {item}), hybrid_machine());
  ASSERT_TRUE(plan) << plan.error().sentence;
  EXPECT_EQ(plan->parts[0].events[0]->event.configuration, 0xfeedfaceU);
}

TEST(Request, CountersOfATaskAreAskedForByEventsOrClassesOfAnyCpu) {
  Machine machine = hybrid_machine();
  machine.names = {{{"cycles", {.code = 0x3c}}}};
  const auto of_task = [](std::uint64_t cpus, std::vector<Item> items) {
    Request request = ask(cpus, std::move(items));
    request.task = 77;
    request.pmu = wire_name("big");
    return request;
  };
  const auto plan = plan_for(
      of_task(0, {counters_for_event(1, 0x3c, 0), named(ItemKind::kNamedEvent, "cycles", 0),
                  named(ItemKind::kClass, "low2", 1), overflow(), identification_tag(3)}),
      machine);
  ASSERT_TRUE(plan) << plan.error().sentence;
  EXPECT_EQ(plan->task, 77U);
  ASSERT_EQ(plan->parts.size(), 1U);
  EXPECT_EQ(plan->parts[0].cpus, CpuSet::range(0, 3));
  EXPECT_TRUE(is_malformed(verdict(of_task(0x1, {counters_for_event(1, 0x3c, 0)}), machine),
                           "not of CPUs"));
  for (const Item& item : {single(0), range(0, 1), named(ItemKind::kBlock, "pair", 1)}) {
    const Decision decision = verdict(of_task(0, {counters_for_event(1, 0x3c, 0), item}), machine);
    EXPECT_TRUE(is_malformed(decision, "by events or classes")) << item.kind;
    EXPECT_EQ(decision.item, 1U);
  }
  Request whole = ask_for_whole(0);
  whole.task = 77;
  EXPECT_TRUE(is_malformed(verdict(whole, machine), "whole PMU"));
}

TEST(Request, KeepsTheCountsOfAMessageAsItsClientSaidThem) {
  pmu::Allocate allocate;
  allocate.head.flags = pmu::kAllocateHasGroups | pmu::kAllocateShares;
  allocate.head.group_count = 3;
  allocate.head.item_count = 9;
  allocate.head.task = 5;
  allocate.head.pmu = wire_name("big");
  allocate.groups = {{.mask = 0x2}};
  allocate.items = {single(1)};
  const Request request = request_of(allocate);
  EXPECT_TRUE(request.has_handle);
  EXPECT_TRUE(request.has_groups);
  EXPECT_FALSE(request.has_items);
  EXPECT_EQ(request.group_count, 3U);
  EXPECT_EQ(request.item_count, 9U);
  EXPECT_EQ(request.groups.size(), 1U);
  EXPECT_EQ(request.items.size(), 1U);
  EXPECT_EQ(request.task, 5U);
  EXPECT_EQ(text_of(request.pmu), "big");
  allocate.head.flags = pmu::kAllocateHasItems;
  EXPECT_FALSE(request_of(allocate).has_groups);
  EXPECT_TRUE(request_of(allocate).has_items);
}

TEST(Request, UnknownKindIsInvalid) {
  for (const std::uint32_t kind : {6U, 0xffU, 0x106U, 0xffffffffU}) {
    EXPECT_TRUE(is_malformed(verdict(ask(0x1, {Item{.kind = kind}})), "no items of kind"));
  }
}

TEST(Request, RangeThatEndsBeforeItBeginsIsInvalid) {
  EXPECT_TRUE(is_malformed(verdict(ask(0x1, {range(2, 1)})), "ends before"));
  EXPECT_TRUE(is_malformed(verdict(ask(0x1, {range(0xffffffff, 0)})), "ends before"));
}

TEST(Request, RangeIncludesBothEnds) {
  const auto plan = plan_for(ask(0x1, {range(1, 3)}), hybrid_machine());
  ASSERT_TRUE(plan) << plan.error().sentence;
  EXPECT_EQ(plan->parts[0].counters.exact, 0xeU);
}

TEST(Request, OneIndexTwiceIsInvalid) {
  EXPECT_TRUE(is_malformed(verdict(ask(0x1, {single(1), single(1)})), "asks again"));
  EXPECT_TRUE(is_malformed(verdict(ask(0x1, {range(0, 2), single(2)})), "asks again"));
  EXPECT_TRUE(is_malformed(verdict(ask(0x1, {range(0, 2), range(2, 3)})), "asks again"));
  EXPECT_TRUE(verdict(ask(0x1, {range(0, 1), range(2, 3)})).is_granted());
}

TEST(Request, OneUnitTagOrRegisterTwiceIsInvalid) {
  const Item unit = named(ItemKind::kUnit, "eventbuf", 1);
  EXPECT_TRUE(is_malformed(verdict(ask(0x1, {event_buffer(1), unit})), "asks again"));
  const Item tag = identification_tag(1);
  EXPECT_TRUE(is_malformed(verdict(ask(0x1, {single(0), tag, tag})), "asks again"));
  const Item same = extra_register("rsp", 7);
  EXPECT_TRUE(is_malformed(verdict(ask(0x1, {same, same})), "asks again"));
  EXPECT_TRUE(verdict(ask(0x1, {same, extra_register("rsp", 8)})).is_granted());
}

TEST(Request, SizedEntriesOfAnEventBufferAreInvalid) {
  Item item = event_buffer(1);
  item.entry_size = 1;
  EXPECT_TRUE(is_malformed(verdict(ask(0x1, {item})), "size of an event buffer's entry"));
}

TEST(Request, OverflowWithoutACounterIsInvalid) {
  EXPECT_TRUE(is_malformed(verdict(ask(0x1, {overflow()})), "overflow of no counter"));
  EXPECT_TRUE(
      is_malformed(verdict(ask(0x1, {event_buffer(1), overflow()})), "overflow of no counter"));
  EXPECT_TRUE(verdict(ask(0x1, {overflow(), single(0)})).is_granted());
  EXPECT_TRUE(verdict(ask(0x1, {counters_for_event(1, 0x3c, 0), overflow()})).is_granted());
}

TEST(Request, TagThatMarksNothingIsInvalid) {
  EXPECT_TRUE(is_malformed(verdict(ask(0x1, {identification_tag(1)})), "nothing that it would"));
}

TEST(Request, NamesMustHaveAnEndAndSomethingBeforeIt) {
  Item item = named(ItemKind::kUnit, "", 1);
  EXPECT_TRUE(is_malformed(verdict(ask(0x1, {item})), "name"));
  item.name.fill('x');
  EXPECT_TRUE(is_malformed(verdict(ask(0x1, {item})), "name"));
  Request request = ask(0x1, {single(0)});
  request.pmu.fill('x');
  EXPECT_TRUE(is_malformed(verdict(request), "name of the PMU"));
}

TEST(Request, CountOfZeroIsInvalid) {
  EXPECT_TRUE(is_malformed(verdict(ask(0x1, {counters_for_event(0, 0x3c, 0)})), "count is zero"));
  EXPECT_TRUE(is_malformed(verdict(ask(0x1, {named(ItemKind::kBlock, "pair", 0)})), "count is"));
}

TEST(Request, ExtendedConfigurationIsNotSupported) {
  const Item item{.kind = static_cast<std::uint32_t>(ItemKind::kExtendedConfiguration)};
  EXPECT_TRUE(is_missing(verdict(ask(0x1, {single(0), item})), "extended counter configurations"));
}

TEST(Request, IndexBeyondTheCountersIsNotSupported) {
  EXPECT_TRUE(is_missing(verdict(ask(0x1, {single(4)})), "big has no counter 4"));
  EXPECT_TRUE(is_missing(verdict(ask(0x1, {range(2, 0xffffffff)})), "no counter 4"));
  EXPECT_TRUE(is_missing(verdict(ask(0x1, {single(kFixedFirst + 2)})), "no counter 34"));
  EXPECT_TRUE(is_missing(verdict(ask(0x1, {single(64)})), "no counter 64"));
  EXPECT_TRUE(verdict(ask(0x1, {single(kFixedFirst + 1)})).is_granted());
}

TEST(Request, AllCpusMustHaveTheRequestedCounters) {
  EXPECT_TRUE(verdict(ask(0x11, {single(1)})).is_granted());
  const Decision index = verdict(ask(0x11, {single(2)}));
  EXPECT_TRUE(is_missing(index, "little has no counter 2"));
  EXPECT_EQ(index.cpu, 4U);
  EXPECT_TRUE(is_missing(verdict(ask(0x11, {single(0), overflow()})), "little has no overflow"));
  EXPECT_TRUE(
      is_missing(verdict(ask(0x11, {named(ItemKind::kClass, "low2", 1)})), "little has no"));
  const auto plan = plan_for(ask(0x11, {named(ItemKind::kClass, "cycles", 2)}), hybrid_machine());
  ASSERT_TRUE(plan) << plan.error().sentence;
  EXPECT_NE(plan->parts[0].counters.any, plan->parts[1].counters.any);
}

TEST(Request, OverflowWhereThereIsNoInterruptIsNotSupported) {
  EXPECT_TRUE(is_missing(verdict(ask(0x10, {single(0), overflow()})), "overflow interrupts"));
}

TEST(Request, EventBufferWhereThereIsNoneIsNotSupported) {
  EXPECT_TRUE(is_missing(verdict(ask(0x10, {event_buffer(1)})), "unit eventbuf"));
  EXPECT_TRUE(verdict(ask(0x1, {event_buffer(1)})).is_granted());
}

TEST(Request, UnknownNamesAreNotSupported) {
  for (const ItemKind kind : {ItemKind::kClass, ItemKind::kBlock, ItemKind::kUnit}) {
    EXPECT_TRUE(is_missing(verdict(ask(0x1, {named(kind, "nothing", 1)})), "nothing"));
  }
  EXPECT_TRUE(is_missing(verdict(ask(0x1, {extra_register("nothing", 1)})), "nothing"));
}

TEST(Request, MoreThanThereCanEverBeIsNotSupported) {
  for (const Item& item :
       {counters_for_event(3, 0x80, 0), counters_for_event(0xffffffff, 0x3c, 0),
        named(ItemKind::kBlock, "pair", 3), named(ItemKind::kBlock, "pair", 0xffffffff),
        named(ItemKind::kUnit, "lbr", 2)}) {
    const Decision decision = verdict(ask(0x1, {item}));
    EXPECT_TRUE(says(decision, Answer::kNotSupported, Reason::kNeverFits, "")) << item.kind;
  }
  const Decision together = verdict(ask(0x1, {range(0, 2), counters_for_event(1, 0x80, 0)}));
  EXPECT_TRUE(says(together, Answer::kNotSupported, Reason::kNeverFits, "at once"));
  const Decision excluded =
      verdict(ask(0x1, {named(ItemKind::kUnit, "trace", 1), named(ItemKind::kUnit, "lbr", 1)}));
  EXPECT_TRUE(says(excluded, Answer::kNotSupported, Reason::kNeverFits, "exclude each other"));
}

TEST(Request, MachineWithoutAnyPmuSupportsNothing) {
  Machine machine = hybrid_machine();
  machine.topology = {};
  for (const Request& request : {ask(0, {single(0)}), ask(0x1, {single(0)}), ask_for_whole(0)}) {
    EXPECT_TRUE(says(verdict(request, machine), Answer::kNotSupported, Reason::kNoPmu, "no PMU"));
  }
}

TEST(Request, CpuWithoutAPmuIsNotSupported) {
  Machine machine = hybrid_machine();
  machine.online = machine.possible;
  const Decision decision = verdict(ask(0x101, {single(0)}), machine);
  EXPECT_TRUE(says(decision, Answer::kNotSupported, Reason::kNoPmu, "CPU 8"));
}

TEST(Request, PmuByNameIsTheOneThatIsMeant) {
  Request request = ask(0, {single(2)});
  request.pmu = wire_name("uncore");
  const auto plan = plan_for(request, hybrid_machine());
  ASSERT_TRUE(plan) << plan.error().sentence;
  ASSERT_EQ(plan->parts.size(), 1U);
  EXPECT_EQ(plan->parts[0].pmu, 2U);
  EXPECT_EQ(plan->parts[0].cpus, CpuSet::range(0, 0));
  request.pmu = wire_name("gpu");
  EXPECT_TRUE(says(verdict(request), Answer::kNotSupported, Reason::kNoPmu, "gpu"));
  Request elsewhere = ask(0x2, {single(2)});
  elsewhere.pmu = wire_name("uncore");
  EXPECT_TRUE(says(verdict(elsewhere), Answer::kNotSupported, Reason::kNoPmu, "CPU 1"));
}

TEST(Request, CpuOfflineIsInsufficientResources) {
  Machine machine = hybrid_machine();
  machine.online = CpuSet::range(0, 2);
  const Decision decision = verdict(ask(0x9, {single(0)}), machine);
  EXPECT_TRUE(says(decision, Answer::kInsufficientResources, Reason::kCpuOffline, "CPU 3"));
  EXPECT_EQ(decision.cpu, 3U);
}

TEST(Request, InvalidGoesBeforeNotSupportedBeforeInsufficient) {
  Machine machine = hybrid_machine();
  machine.online = CpuSet::range(0, 2);
  EXPECT_TRUE(is_malformed(verdict(ask(0x8, {single(4), range(1, 0)}), machine), "ends before"));
  EXPECT_TRUE(is_missing(verdict(ask(0x8, {single(4)}), machine), "no counter 4"));
  Request invalid = ask(0x1, {range(1, 0)});
  machine.topology = {};
  EXPECT_TRUE(is_malformed(verdict(invalid, machine), "ends before"));
}

TEST(Request, WholePmuIsPlannedForEachCpu) {
  const auto plan = plan_for(ask_for_whole(0x31), hybrid_machine());
  ASSERT_TRUE(plan) << plan.error().sentence;
  ASSERT_EQ(plan->parts.size(), 2U);
  EXPECT_TRUE(plan->parts[0].counters.whole);
  EXPECT_TRUE(plan->parts[1].counters.whole);
}

TEST(Request, EventsKeepTheirNamesAndTheirCounters) {
  const auto plan =
      plan_for(ask(0x1, {counters_for_event(2, 0x85, 3), named(ItemKind::kClass, "cycles", 1)}),
               hybrid_machine());
  ASSERT_TRUE(plan) << plan.error().sentence;
  const PmuDemand& part = plan->parts[0];
  ASSERT_EQ(part.counters.any.size(), 3U);
  EXPECT_EQ(part.counters.any[1], 0x3U);
  ASSERT_EQ(part.events.size(), 3U);
  EXPECT_EQ(part.events[1], (EventUse{.event = {.code = 0x85, .unit_mask = 3}, .item = 0}));
  EXPECT_EQ(part.events[2], std::nullopt);
}

}  // namespace
}  // namespace meterbank::arbiter
