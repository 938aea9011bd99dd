// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/parts/kernel_counters.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "../scripted_kernel.hpp"

namespace meterbank::arbiter {
namespace {

constexpr Nanoseconds kConfirm = kMillisecond;
using Opened = KernelCounters::Opened;
using Closing = KernelCounters::Closing;
using Watched = KernelCounters::Watched;

class KernelCounterSets : public testing::Test {
 protected:
  KernelCounterSets() {
    lease.number = 3;
    lease.asked = allocate({cycles(1)});
    lease.asked.head.flags |= pmu::kAllocateShares;
    set_plan(lease, plan_for(request_of(lease.asked), small_machine()).value());
  }

  CarrierNumber open(KernelCounters& among) {
    return among.open(lease, pieces_of(lease).front(), {});
  }
  CarrierNumber open_for_real() {
    const CarrierNumber number = open(counters);
    EXPECT_EQ(counters.opened(number, {.kernel_ids = {77}}), Opened::kOpen);
    (void)asked();
    return number;
  }
  static OpenOutcome failed() { return {.fault = OpenFault::kNoCounter, .kernel_ids = {}}; }
  static Reading counted(std::uint64_t value, Nanoseconds running_ns = 0) {
    return {.value = value, .enabled_ns = running_ns, .running_ns = running_ns};
  }
  // All that the kernel was asked since the last call.
  std::vector<Action> asked() {
    std::vector<Action> all;
    while (auto action = outbox.next([](const Lease&) { return pmu::LeaseValues{}; })) {
      all.push_back(std::move(*action));
    }
    return all;
  }
  template <typename... Expected>
  ::testing::AssertionResult was_asked() {
    const std::vector<Action> all = asked();
    std::size_t position = 0;
    const bool is_same = all.size() == sizeof...(Expected) &&
                         (... && std::holds_alternative<Expected>(all[position++]));
    if (is_same) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << all.size() << " other actions";
  }

  Lease lease;
  Outbox outbox{1};
  KernelCounters counters{outbox, true, kConfirm};
};

TEST_F(KernelCounterSets, AreOpenOnceTheKernelSaysSo) {
  const CarrierNumber number = open(counters);
  EXPECT_EQ(counters.at(number).state(), CarrierState::kOpening);
  EXPECT_EQ(counters.at(number).leases, std::vector<LeaseNumber>{3});
  EXPECT_TRUE(was_asked<Open>());

  EXPECT_EQ(counters.opened(number, {.kernel_ids = {77}}), Opened::kOpen);
  EXPECT_EQ(counters.at(number).state(), CarrierState::kOpen);
  EXPECT_EQ(counters.at(number).kernel_ids, std::vector<std::uint64_t>{77});
  EXPECT_EQ(counters.opened(number, {}), Opened::kIgnored) << "nothing was asked of it";
  EXPECT_EQ(counters.opened(number + 1, {}), Opened::kIgnored) << "it does not exist";
}

TEST_F(KernelCounterSets, NeverUseANumberAgain) {
  const CarrierNumber first = open(counters);
  EXPECT_EQ(counters.opened(first, failed()), Opened::kFailed);
  counters.forget(first);
  const CarrierNumber announced = counters.next_number();

  EXPECT_EQ(open(counters), announced);
  EXPECT_NE(announced, first);
}

TEST_F(KernelCounterSets, AreOpenAndFreeAtOnceWithoutABackend) {
  KernelCounters books_alone(outbox, false, kConfirm);
  const CarrierNumber number = open(books_alone);
  EXPECT_EQ(books_alone.at(number).state(), CarrierState::kOpen);
  books_alone.join(number, 4);
  books_alone.pause(number);
  EXPECT_TRUE(books_alone.resume(number));
  EXPECT_EQ(books_alone.close(number), Closing::kFree);

  EXPECT_TRUE(was_asked<>());
}

TEST_F(KernelCounterSets, AreSharedOnlyWhileTheyAreOpen) {
  const CarrierNumber number = open(counters);
  const std::vector<Opening> same = counters.at(number).openings;
  std::vector<Opening> other = same;
  other.front().event.code ^= 1;
  EXPECT_EQ(counters.find_shared(same), nullptr) << "not yet";
  EXPECT_EQ(counters.opened(number, {.kernel_ids = {77}}), Opened::kOpen);

  EXPECT_EQ(counters.find_shared(same), &counters.at(number));
  EXPECT_EQ(counters.find_shared(other), nullptr);
  EXPECT_EQ(counters.close(number), Closing::kWaits);
  EXPECT_EQ(counters.find_shared(same), nullptr);
}

TEST_F(KernelCounterSets, TellWhoJoinedAtTheNextSample) {
  const CarrierNumber number = open_for_real();
  counters.join(number, 4);
  counters.join(number, 5);
  counters.leave(number, 5);
  EXPECT_TRUE((was_asked<ReadCounters, ReadCounters>()));

  const auto sampled = counters.sampled(number, {counted(9)}, 500);
  EXPECT_EQ(sampled.joined, std::vector<LeaseNumber>{4});
  EXPECT_FALSE(sampled.has_lost);
  EXPECT_EQ(counters.at(number).leases, (std::vector<LeaseNumber>{3, 4}));
  EXPECT_EQ(counters.at(number).sampled_ns, 500U);
  EXPECT_TRUE(counters.sampled(number, {counted(9)}, 600).joined.empty()) << "once";
}

TEST_F(KernelCounterSets, KeepWhatALostCounterHadCountedLast) {
  const CarrierNumber number = open_for_real();
  (void)counters.sampled(number, {counted(9)}, 500);
  Reading lost;
  lost.has_counter = false;

  EXPECT_TRUE(counters.sampled(number, {lost}, 600).has_lost);
  EXPECT_EQ(counters.at(number).readings.front().value, 9U);
  EXPECT_FALSE(counters.at(number).readings.front().has_counter);
}

TEST_F(KernelCounterSets, ArePausedUntilTheKernelResumesThem) {
  const CarrierNumber number = open_for_real();
  counters.pause(number);
  counters.pause(number);
  counters.sample(number);
  EXPECT_TRUE(was_asked<Pause>()) << "once, and no sample of what is paused";
  EXPECT_FALSE(counters.resume(number));
  EXPECT_TRUE(was_asked<Resume>());

  EXPECT_EQ(counters.opened(number, failed()), Opened::kNotResumed);
  EXPECT_EQ(counters.at(number).state(), CarrierState::kPaused);
  EXPECT_FALSE(counters.resume(number));
  EXPECT_EQ(counters.opened(number, {.kernel_ids = {78}}), Opened::kResumed);
  EXPECT_EQ(counters.at(number).kernel_ids, std::vector<std::uint64_t>{78});
}

TEST_F(KernelCounterSets, AreLookedAtLessOftenTheLongerTheKernelKeepsThem) {
  const CarrierNumber number = open_for_real();
  EXPECT_FALSE(counters.confirmed(number, true, 0)) << "it is not closed";
  EXPECT_EQ(counters.close(number), Closing::kWaits);
  EXPECT_EQ(counters.close(number), Closing::kWasClosed);
  EXPECT_TRUE((was_asked<Close, Confirm>()));

  EXPECT_FALSE(counters.confirmed(number, false, 0));
  EXPECT_EQ(counters.at(number).next_ns, kConfirm);
  EXPECT_TRUE(counters.due(kConfirm - 1).empty());
  EXPECT_EQ(counters.due(kConfirm), std::vector<CarrierNumber>{number});
  counters.look_again(number);
  EXPECT_TRUE(was_asked<Confirm>());
  EXPECT_TRUE(counters.due(kConfirm).empty()) << "it was looked at";
  EXPECT_FALSE(counters.confirmed(number, false, kConfirm));
  EXPECT_EQ(counters.at(number).next_ns, kConfirm + 2 * kConfirm);
  EXPECT_TRUE(counters.confirmed(number, true, 5 * kConfirm));
}

TEST_F(KernelCounterSets, KnowWhenTheFirstLookIsDue) {
  const CarrierNumber one = open_for_real();
  const CarrierNumber other = open_for_real();
  EXPECT_EQ(counters.next_ns(), 0U);
  counters.look_again_at(one, 30);
  counters.look_again_at(other, 20);
  EXPECT_EQ(counters.next_ns(), 20U);
  EXPECT_EQ(counters.due(19), std::vector<CarrierNumber>{});
  EXPECT_EQ(counters.due(30), (std::vector<CarrierNumber>{one, other})) << "by number";

  counters.look_again_at(other, 0);
  EXPECT_EQ(counters.next_ns(), 30U);
  counters.forget(one);
  EXPECT_EQ(counters.next_ns(), 0U);
}

TEST_F(KernelCounterSets, ShowWhetherAHolderCountsOnAfterItsFence) {
  for (const bool counts_on : {false, true}) {
    const CarrierNumber number = open_for_real();
    counters.watch(number, 100);
    EXPECT_TRUE((was_asked<Pause, ReadCounters>()));
    (void)counters.sampled(number, {counted(9, 50)}, 10);
    EXPECT_EQ(counters.watched(number), Watched::kTooEarly);
    counters.look_again(number);
    EXPECT_TRUE(was_asked<ReadCounters>());
    (void)counters.sampled(number, {counted(9, counts_on ? 60 : 50)}, 100);

    EXPECT_EQ(counters.watched(number), counts_on ? Watched::kHasRun : Watched::kHasStopped);
  }
}

TEST_F(KernelCounterSets, LoadWhatTheySaved) {
  const CarrierNumber open_one = open_for_real();
  const CarrierNumber closed = open_for_real();
  EXPECT_EQ(counters.close(closed), Closing::kWaits);
  EXPECT_FALSE(counters.confirmed(closed, false, 10));
  nlohmann::json saved;
  counters.save(saved);

  KernelCounters loaded(outbox, true, kConfirm);
  ASSERT_TRUE(loaded.load(saved));

  nlohmann::json again;
  loaded.save(again);
  EXPECT_EQ(again, saved);
  EXPECT_EQ(loaded.at(open_one).state(), CarrierState::kOpen);
  EXPECT_EQ(loaded.next_number(), counters.next_number());
  EXPECT_EQ(loaded.next_ns(), 10 + kConfirm);
}

TEST_F(KernelCounterSets, RefuseASavedCarrierWithoutAReadingOfEachCounter) {
  (void)open_for_real();
  nlohmann::json saved;
  counters.save(saved);
  saved["carriers"].front()["readings"].clear();

  KernelCounters loaded(outbox, true, kConfirm);
  EXPECT_FALSE(loaded.load(saved));
}

}  // namespace
}  // namespace meterbank::arbiter
