// SPDX-License-Identifier: Apache-2.0
//
// Counters that several leases have: at the same time, or in turns. And counters that are away.
#include <gtest/gtest.h>

#include "scripted_kernel.hpp"

namespace meterbank::arbiter {
namespace {

pmu::Allocate sharing(std::vector<Item> items) {
  pmu::Allocate asked = allocate(std::move(items), 3);
  asked.head.flags |= pmu::kAllocateShares;
  return asked;
}
pmu::Allocate slice(std::uint32_t counters, std::uint32_t duty_permille) {
  pmu::Allocate asked = allocate({cycles(counters)});
  asked.head.duty_permille = duty_permille;
  return asked;
}
pmu::LeaseValues read(ScriptedKernel& world, ClientNumber client, std::uint64_t id) {
  world.say(client, 5000 + id, pmu::Read{world.token(client, id)});
  return world.answer<pmu::LeaseValues>(client, 5000 + id).value_or(pmu::LeaseValues{});
}

TEST(ArbiterSharing, OneCounterServesAllWhoCountTheSame) {
  ScriptedKernel world(small_machine());
  const ClientNumber one = world.connect();
  const ClientNumber two = world.connect();
  world.say(one, 1, sharing({cycles(), counters_for_event(1, 0xc0, 0)}));
  EXPECT_EQ(read(world, one, 1).head.quality, pmu::Quality::kExact);
  world.count(100, kMillisecond);
  world.say(two, 1, sharing({counters_for_event(1, 0xc0, 0), cycles(), identification_tag(1)}));
  EXPECT_EQ(world.open_count(), 2U);
  EXPECT_EQ(world.arbiter.book().room(0, CpuSet::range(0, 1), 0xf), 2U);
  EXPECT_EQ(world.answer<pmu::Granted>(two, 1)->head.quality, pmu::Quality::kShared);
  world.count(11, kMillisecond);
  const pmu::LeaseValues of_one = read(world, one, 1);
  const pmu::LeaseValues of_two = read(world, two, 1);
  EXPECT_EQ(of_one.values.at(0).value, 111U);
  EXPECT_EQ(of_two.values.at(0).value, 11U) << "from where it began";
  EXPECT_EQ(of_two.values.at(0).item, 0U);
  EXPECT_EQ(of_two.values.at(2).item, 1U);
  EXPECT_EQ(of_one.head.quality, pmu::Quality::kShared);
  const auto words = world.arbiter.slot_words(0, 0);
  EXPECT_EQ(std::count_if(
                words.begin(), words.end(),
                [](std::uint64_t word) { return (pmu::flags_of(word) & pmu::kSlotShared) != 0; }),
            2);

  world.say(one, 2, pmu::Free{world.token(one, 1)});
  EXPECT_EQ(world.arbiter.leases().size(), 1U);
  world.count(1, kMillisecond);
  EXPECT_EQ(read(world, two, 1).values.at(0).value, 12U) << "counts on without the first";
  world.say(two, 2, pmu::Free{world.token(two, 1)});
  EXPECT_EQ(world.open_count(), 0U);
  EXPECT_EQ(world.arbiter.book().room(0, CpuSet::range(0, 1), 0xf), 4U);
}

TEST(ArbiterSharing, OnlyEqualRequestsShare) {
  ScriptedKernel world(small_machine());
  const ClientNumber root = world.connect();
  world.say(root, 1, sharing({cycles()}));
  pmu::Allocate user_only = sharing({cycles()});
  user_only.items.front().flags = pmu::kItemExcludesKernel;
  world.say(root, 2, user_only);
  pmu::Allocate one_cpu = sharing({cycles()});
  one_cpu.groups = {{.mask = 1}};
  world.say(root, 3, one_cpu);
  world.say(root, 4, allocate({cycles()}));
  EXPECT_EQ(world.open_count(), 4U);
  EXPECT_EQ(world.arbiter.book().room(0, CpuSet::range(0, 0), 0xf), 0U);
  world.say(root, 5, sharing({cycles()}));
  EXPECT_NE(world.token(root, 5), 0U) << "it takes nothing";
}

TEST(ArbiterSlices, EqualTurnsThatSayWhatPartOfTheTimeTheyHad) {
  ScriptedKernel world(small_machine());
  const ClientNumber one = world.connect();
  const ClientNumber two = world.connect();
  world.say(one, 1, slice(4, 400));
  world.say(two, 1, slice(3, 500));
  ASSERT_NE(world.token(two, 1), 0U) << "they never count at the same time";
  for (int i = 0; i < 40; ++i) {
    world.count(10, 10 * kMillisecond);
    world.pass(10 * kMillisecond);
  }
  for (const ClientNumber client : {one, two}) {
    const pmu::LeaseValues values = read(world, client, 1);
    EXPECT_EQ(values.head.quality, pmu::Quality::kSliced);
    const pmu::Value& value = values.values.at(0);
    EXPECT_NEAR(static_cast<double>(value.running_ns), 200.0 * 1e6, 51.0 * 1e6);
    EXPECT_NEAR(static_cast<double>(value.enabled_ns), 400.0 * 1e6, 1.0 * 1e6);
  }
  world.say(world.connect(), 1, slice(1, 400));
  EXPECT_EQ(world.reason(3, 1), pmu::Reason::kTaken) << "a third each is not enough for 400";
  world.say(two, 2, pmu::Free{world.token(two, 1)});
  world.count(10, kMillisecond);
  const auto before = read(world, one, 1).values.at(0).running_ns;
  world.pass(kSecond);
  world.count(10, kMillisecond);
  EXPECT_EQ(read(world, one, 1).values.at(0).running_ns, before + kMillisecond) << "alone again";
}

TEST(ArbiterSlices, FullTimeLeasesGoBesideThem) {
  ScriptedKernel world(small_machine());
  const ClientNumber root = world.connect();
  world.say(root, 1, allocate({cycles(1)}));
  world.say(root, 2, slice(3, 300));
  world.say(root, 3, slice(3, 300));
  ASSERT_NE(world.token(root, 3), 0U);
  world.say(root, 4, allocate({cycles(1)}));
  EXPECT_EQ(world.reason(root, 4), pmu::Reason::kTaken);
  for (int i = 0; i < 10; ++i) {
    world.pass(50 * kMillisecond);
    const std::uint64_t word = world.arbiter.slot_words(0, 0)[1];
    EXPECT_NE(pmu::flags_of(word) & pmu::kSlotSliced, 0U);
  }
  EXPECT_EQ(world.state(world.token(root, 2)), pmu::LeaseState::kActive);
  EXPECT_EQ(world.state(world.token(root, 3)), pmu::LeaseState::kActive);
}

TEST(ArbiterValues, ACounterThatNeverRanHasNoValue) {
  ScriptedKernel world(small_machine());
  const ClientNumber root = world.connect();
  world.say(root, 1, allocate({cycles()}));
  world.starves = true;
  world.count(3, kMillisecond);
  EXPECT_EQ(read(world, root, 1).head.quality, pmu::Quality::kStarved);
  world.starves = false;
  world.count(0, kMillisecond);
  EXPECT_EQ(read(world, root, 1).head.quality, pmu::Quality::kExact) << "zero, counted";
}

TEST(ArbiterSuspension, ACpuThatGoesOfflineTakesItsCountersAlong) {
  ScriptedKernel world(small_machine());
  const ClientNumber root = world.connect();
  world.say(root, 1, allocate({cycles()}, 3));
  world.say(root, 2, allocate({single(3)}, 2));
  world.say(root, 3, allocate({cycles()}, 1));
  world.set_online(CpuSet::range(0, 0));
  EXPECT_EQ(world.state(world.token(root, 1)), pmu::LeaseState::kSuspended);
  EXPECT_EQ(world.state(world.token(root, 2)), pmu::LeaseState::kSuspended);
  EXPECT_EQ(world.state(world.token(root, 3)), pmu::LeaseState::kActive);
  EXPECT_EQ(world.all<pmu::Notice>(root).back().cause, pmu::Cause::kCpuOffline);
  world.say(root, 4, allocate({cycles()}, 2));
  EXPECT_EQ(world.reason(root, 4), pmu::Reason::kCpuOffline);
  pmu::Allocate waits = allocate({cycles()}, 2);
  waits.head.wait_ns = pmu::kForever;
  world.say(root, 5, waits);
  world.set_online(CpuSet::range(0, 1));
  EXPECT_EQ(world.state(world.token(root, 1)), pmu::LeaseState::kActive);
  EXPECT_EQ(world.state(world.token(root, 2)), pmu::LeaseState::kActive);
  EXPECT_NE(world.token(root, 5), 0U) << "it waited for the CPU";
}

TEST(ArbiterSuspension, AStolenCounterIsTriedAgainAndLostAfterTenSeconds) {
  ScriptedKernel world(small_machine());
  const ClientNumber root = world.connect();
  world.say(root, 1, allocate({cycles()}));
  const pmu::Token token = world.token(root, 1);
  const CarrierNumber carrier = world.lease(token)->carriers.front();
  world.lost = {carrier};
  world.sample_all();
  EXPECT_EQ(world.state(token), pmu::LeaseState::kSuspended);
  EXPECT_EQ(world.all<pmu::Notice>(root).back().cause, pmu::Cause::kTakenByOutsider);
  world.pass(3 * kSecond);
  world.lost.clear();
  world.pass(kSecond);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kActive);
  world.lost = {carrier};
  world.sample_all();
  world.pass(11 * kSecond);
  EXPECT_EQ(world.state(token), pmu::LeaseState::kNone);
  EXPECT_EQ(world.all<pmu::Notice>(root).back().kind, pmu::NoticeKind::kLost);
}

}  // namespace
}  // namespace meterbank::arbiter
