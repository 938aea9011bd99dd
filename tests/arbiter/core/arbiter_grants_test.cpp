// SPDX-License-Identifier: Apache-2.0
//
// From a request to a grant: verification, all or nothing, dry runs, room, owners and words.
#include <gtest/gtest.h>

#include "scripted_kernel.hpp"

namespace meterbank::arbiter {
namespace {

template <typename Wanted>
std::size_t count_of(const ScriptedKernel& world) {
  return static_cast<std::size_t>(
      std::count_if(world.executed.begin(), world.executed.end(),
                    [](const Action& action) { return std::holds_alternative<Wanted>(action); }));
}

TEST(ArbiterGrants, WaitForTheKernel) {
  ScriptedKernel world(small_machine());
  const ClientNumber client = world.connect();
  world.arbiter.received(client, 1, allocate({cycles(2)}, 3), world.now);
  std::vector<Action> actions;
  while (auto action = world.arbiter.next_action()) actions.push_back(std::move(*action));
  ASSERT_EQ(actions.size(), 1U);
  const auto& open = std::get<Open>(actions.front());
  EXPECT_EQ(open.openings.size(), 4U) << "two events on two CPUs";
  const auto& [number, lease] = *world.arbiter.leases().begin();
  EXPECT_EQ(lease.state(), pmu::LeaseState::kPreparing);
  EXPECT_FALSE(pmu::is_in_force(world.arbiter.lease_word(number), lease.token));

  world.arbiter.opened(open.carrier, {.kernel_ids = {5, 6, 7, 8}}, world.now);
  world.run();
  const auto granted = world.answer<pmu::Granted>(client, 1);
  ASSERT_TRUE(granted);
  EXPECT_EQ(granted->head.grade, pmu::Grade::kVerified);
  EXPECT_EQ(granted->head.quality, pmu::Quality::kExact);
  ASSERT_EQ(granted->counters.size(), 4U);
  EXPECT_EQ(granted->counters[3].kernel_id, 8U);
  EXPECT_TRUE(pmu::is_in_force(world.arbiter.lease_word(number), granted->head.token));
  for (const pmu::GrantedCounter& counter : granted->counters) {
    const auto words = world.arbiter.slot_words(0, counter.cpu);
    const std::uint64_t word = words.at(counter.slot - world.arbiter.first_slot(0, counter.cpu));
    EXPECT_EQ(pmu::state_of<pmu::CounterState>(word), pmu::CounterState::kLeased);
    EXPECT_EQ(pmu::low_token_of(word), granted->head.token & 0xffffffffffff);
  }
}

TEST(ArbiterGrants, ProveAndBookRequestsWithoutAnEvent) {
  ScriptedKernel world(small_machine());
  const ClientNumber root = world.connect();
  world.say(root, 1, allocate({single(2), named(ItemKind::kClass, "any", 1)}));
  const auto granted = world.answer<pmu::Granted>(root, 1);
  ASSERT_TRUE(granted);
  EXPECT_EQ(granted->head.grade, pmu::Grade::kLedger);
  EXPECT_EQ(granted->head.quality, pmu::Quality::kUnverified);
  ASSERT_EQ(granted->counters.size(), 2U);
  EXPECT_EQ(granted->counters[0].counter, 2U);
  EXPECT_EQ(granted->counters[0].item, 0U);
  EXPECT_EQ(granted->counters[1].item, 1U);
  EXPECT_EQ(count_of<Verify>(world), 1U);
  EXPECT_EQ(count_of<Open>(world), 0U);
  const std::uint64_t word = world.arbiter.slot_words(0, 0).at(2);
  EXPECT_NE(pmu::flags_of(word) & pmu::kSlotExact, 0U);
}

TEST(ArbiterGrants, MixedRequestsAreOpenedAndProved) {
  ScriptedKernel world(small_machine());
  const ClientNumber root = world.connect();
  world.say(root, 1, allocate({single(0), cycles(2), identification_tag(7)}));
  ASSERT_NE(world.token(root, 1), 0U);
  EXPECT_EQ(count_of<Open>(world), 1U);
  EXPECT_EQ(count_of<Verify>(world), 1U);
  EXPECT_EQ(world.answer<pmu::Granted>(root, 1)->counters.size(), 3U);
  EXPECT_EQ(world.arbiter.book().room(0, CpuSet::range(0, 0), 0xf), 1U);
}

TEST(ArbiterGrants, AllOrNothingWhenOneCpuHasNoRoom) {
  ScriptedKernel world(small_machine());
  const ClientNumber root = world.connect();
  world.thieves[{0, 1}] = 3;
  world.say(root, 1, allocate({single(0), cycles(2)}, 3));
  EXPECT_EQ(world.reason(root, 1), pmu::Reason::kUnverified);
  EXPECT_EQ(world.open_count(), 0U);
  EXPECT_TRUE(world.arbiter.leases().empty());
  EXPECT_EQ(world.arbiter.book().room(0, CpuSet::range(0, 0), 0xf), 4U);
  EXPECT_EQ(world.arbiter.statistics().mismatches, 1U);
}

TEST(ArbiterGrants, CloseWhatWasOpenedIfTheRestFails) {
  ScriptedKernel world(small_machine());
  const ClientNumber root = world.connect();
  world.thieves[{0, 0}] = 2;
  world.keeps = 2;
  world.say(root, 1, allocate({single(0), cycles(2)}));
  EXPECT_EQ(count_of<Open>(world), 1U);
  EXPECT_EQ(world.reason(root, 1), pmu::Reason::kUnverified);
  EXPECT_EQ(world.open_count(), 0U);
  EXPECT_TRUE(world.arbiter.leases().empty());
  world.restart_from(world.arbiter.save());
  world.pass(kSecond);
  EXPECT_TRUE(world.arbiter.carriers().empty());
}

TEST(ArbiterGrants, ExactCountersThatTheKernelDoesNotHaveAreRefused) {
  ScriptedKernel world(small_machine());
  const ClientNumber root = world.connect();
  world.thieves[{0, 0}] = 2;
  world.say(root, 1, allocate_whole());
  EXPECT_EQ(world.reason(root, 1), pmu::Reason::kUnverified);
  EXPECT_TRUE(world.arbiter.leases().empty());
}

TEST(ArbiterGrants, WithoutABackendBooksAreEnough) {
  ScriptedKernel world(small_machine(), Policy::standard(), {.has_backend = false});
  const ClientNumber root = world.connect();
  world.say(root, 1, allocate({cycles()}));
  const auto granted = world.answer<pmu::Granted>(root, 1);
  ASSERT_TRUE(granted);
  EXPECT_EQ(granted->head.grade, pmu::Grade::kLedger);
  EXPECT_TRUE(world.executed.empty());
  world.say(root, 2, pmu::Free{granted->head.token});
  EXPECT_TRUE(world.answer<pmu::Done>(root, 2));
  EXPECT_TRUE(world.arbiter.leases().empty());
}

TEST(ArbiterGrants, ADryRunSaysWhatItWouldAndDoesNothing) {
  ScriptedKernel world(small_machine());
  const ClientNumber root = world.connect();
  pmu::Allocate dry = allocate({cycles(4)});
  dry.head.flags |= pmu::kAllocateDryRun;
  dry.head.wait_ns = kSecond;
  world.say(root, 1, dry);
  ASSERT_TRUE(world.answer<pmu::Granted>(root, 1));
  EXPECT_EQ(world.token(root, 1), 0U);
  EXPECT_TRUE(world.arbiter.leases().empty());
  EXPECT_TRUE(world.executed.empty());
  world.say(root, 2, allocate({cycles()}));
  world.say(world.connect(), 3, dry);
  EXPECT_EQ(world.reason(2, 3), pmu::Reason::kTaken);
  EXPECT_FALSE(world.answer<pmu::Queued>(2, 3));
}

TEST(ArbiterGrants, TasksShareCountersAndCpusComeOnTop) {
  ScriptedKernel world(small_machine());
  const ClientNumber one = world.connect();
  pmu::Allocate of_task = allocate_of_task({cycles(3)}, 1000);
  world.say(one, 1, of_task);
  of_task.head.task = 1001;
  world.say(one, 2, of_task);
  ASSERT_NE(world.token(one, 1), 0U);
  ASSERT_NE(world.token(one, 2), 0U) << "only one task runs on a CPU at a time";
  world.say(one, 3, allocate({cycles(2)}));
  EXPECT_EQ(world.reason(one, 3), pmu::Reason::kTaken);
  world.say(one, 4, allocate({cycles(1)}));
  EXPECT_NE(world.token(one, 4), 0U);
  EXPECT_EQ(world.answer<pmu::Granted>(one, 1)->counters.front().cpu, pmu::kNoCpu);
}

TEST(ArbiterGrants, DescriptorsFollowTheGrantOfATask) {
  ScriptedKernel world(small_machine());
  const ClientNumber root = world.connect();
  pmu::Allocate asked = allocate_of_task({cycles(2)}, 1000);
  asked.head.flags |= pmu::kAllocateDelegates;
  world.say(root, 1, asked);
  EXPECT_EQ(world.answer<pmu::Granted>(root, 1)->head.descriptor_count, 2U);
  ASSERT_EQ(world.delivered.size(), 2U);
  EXPECT_EQ(world.delivered[1].message.position, 1U);
  EXPECT_EQ(world.delivered[1].message.token, world.token(root, 1));
}

TEST(ArbiterGrants, RoomIsWhatTheKernelSaysAtMost) {
  ScriptedKernel world(small_machine());
  const ClientNumber root = world.connect();
  world.say(root, 1, allocate({cycles()}));
  pmu::Probe probe;
  probe.flags = pmu::kAllocateHasGroups;
  probe.group_count = 1;
  probe.groups = {{.mask = 3}};
  probe.item = cycles();
  world.say(root, 2, probe);
  EXPECT_EQ(world.answer<pmu::Room>(root, 2)->counters, 3U);
  EXPECT_EQ(world.answer<pmu::Room>(root, 2)->is_probed, 1U);
  world.thieves[{0, 1}] = 2;
  world.say(root, 3, probe);
  EXPECT_EQ(world.answer<pmu::Room>(root, 3)->counters, 2U);
  probe.item = named(ItemKind::kClass, "any", 1);
  world.say(root, 4, probe);
  EXPECT_EQ(world.answer<pmu::Room>(root, 4)->is_probed, 0U);
  probe.item = single(1);
  world.say(root, 5, probe);
  EXPECT_EQ(world.reason(root, 5), pmu::Reason::kMalformed);
}

TEST(ArbiterGrants, OwnersAreShownWithTheirTokens) {
  ScriptedKernel world(small_machine());
  const ClientNumber root = world.connect();
  world.say(root, 1, allocate({cycles(), identification_tag(5)}));
  world.say(root, 2, pmu::Owners{.cpu = 0});
  const auto owners = world.answer<pmu::OwnersAnswer>(root, 2);
  ASSERT_TRUE(owners);
  ASSERT_EQ(owners->owners.size(), 4U);
  std::size_t held = 0;
  for (const pmu::CounterOwner& owner : owners->owners) {
    if (owner.kind == pmu::OwnerKind::kFree) continue;
    ++held;
    EXPECT_EQ(owner.kind, pmu::OwnerKind::kTaggedWithSource);
    EXPECT_EQ(owner.token, world.token(root, 1));
    EXPECT_EQ(owner.tag, 5U);
    EXPECT_EQ(owner.code, 0x3cU);
  }
  EXPECT_EQ(held, 1U);
}

TEST(ArbiterGrants, GuardsGiveWayBeforeAnythingIsOpenedAndComeBack) {
  Policy policy = Policy::standard();
  policy.guards.push_back({.pmu = "cpu", .cpus = CpuSet::range(0, 1)});
  policy.reserves.push_back({.pmu = "cpu", .cpus = CpuSet::range(0, 0), .counters = 1});
  ScriptedKernel world(small_machine(), policy);
  const ClientNumber root = world.connect();
  EXPECT_EQ((world.guards[{0, 0}]), 3U) << "the reserve is left to processes without a lease";
  EXPECT_EQ((world.guards[{0, 1}]), 4U);
  EXPECT_EQ(pmu::state_of<pmu::CounterState>(world.arbiter.slot_words(0, 1)[0]),
            pmu::CounterState::kGuarded);
  world.say(root, 1, allocate({cycles(2)}));
  const auto granted = world.answer<pmu::Granted>(root, 1);
  ASSERT_TRUE(granted);
  EXPECT_EQ(granted->head.grade, pmu::Grade::kGuarded);
  EXPECT_EQ((world.guards[{0, 0}]), 1U);
  world.say(root, 2, pmu::Free{granted->head.token});
  EXPECT_EQ((world.guards[{0, 0}]), 3U);
  world.say(root, 3, allocate({cycles(4)}));
  EXPECT_EQ(world.reason(root, 3), pmu::Reason::kForeign) << "one is reserved";
}

TEST(ArbiterGrants, OnlyAdministratorsReserveAndRevoke) {
  ScriptedKernel world(small_machine());
  const ClientNumber user = world.connect_as(77);
  const ClientNumber root = world.connect();
  pmu::AdminReserve reserve;
  reserve.count = 4;
  world.say(user, 1, reserve);
  EXPECT_EQ(world.answer<pmu::Rejected>(user, 1)->reason, pmu::Rejection::kNotAllowed);
  pmu::AdminReserve too_many;
  too_many.count = 77;
  world.say(root, 1, too_many);
  EXPECT_EQ(world.reason(root, 1), pmu::Reason::kNeverFits);
  world.say(root, 2, reserve);
  EXPECT_TRUE(world.answer<pmu::Done>(root, 2));
  world.say(root, 3, allocate({cycles()}));
  EXPECT_EQ(world.reason(root, 3), pmu::Reason::kForeign);
  EXPECT_NE(
      world.answer<pmu::Refused>(root, 3)->sentence.find("kept for processes without a lease"),
      std::string::npos);
  const std::uint64_t word = world.arbiter.slot_words(0, 0).at(0);
  EXPECT_EQ(pmu::flags_of(word), pmu::kSlotReserved);
  reserve.count = 0;
  world.say(root, 4, reserve);
  world.say(root, 5, allocate({cycles()}));
  ASSERT_NE(world.token(root, 5), 0U);
  world.say(user, 6, pmu::AdminRevoke{world.token(root, 5), 0});
  EXPECT_TRUE(world.answer<pmu::Rejected>(user, 6));
  EXPECT_EQ(world.state(world.token(root, 5)), pmu::LeaseState::kActive);
}

TEST(ArbiterGrants, TokensNeverRepeat) {
  ScriptedKernel world(small_machine(), Policy::standard(), {.epoch = 9, .leases_max = 4});
  const ClientNumber root = world.connect();
  std::vector<pmu::Token> tokens;
  for (std::uint64_t id = 1; id < 50; ++id) {
    world.say(root, id, allocate({cycles()}));
    tokens.push_back(world.token(root, id));
    EXPECT_EQ(pmu::epoch_of(tokens.back()), 9);
    world.say(root, 1000 + id, pmu::Free{tokens.back()});
  }
  std::sort(tokens.begin(), tokens.end());
  EXPECT_EQ(std::adjacent_find(tokens.begin(), tokens.end()), tokens.end());
  EXPECT_NE(tokens.front(), 0U);
}

}  // namespace
}  // namespace meterbank::arbiter
