// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/parts/ledger_words.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "../scripted_kernel.hpp"

namespace meterbank::arbiter {
namespace {

using pmu::state_of;

// One lease of one shared counter on CPU 0.
class LedgerWordsTest : public testing::Test {
 protected:
  LedgerWordsTest() {
    Lease wanted;
    wanted.client = 5;
    wanted.asked = allocate({cycles(1)});
    wanted.asked.head.flags |= pmu::kAllocateShares;
    set_plan(wanted, plan_for(request_of(wanted.asked), small_machine()).value());
    lease = &leases.add(std::move(wanted));
    const Piece& piece = pieces_of(*lease).front();
    const CarrierNumber number = carriers.open(*lease, piece, {});
    lease->carriers = {number};
    lease->items = {0};
    EXPECT_TRUE(book.try_take(booking_of(number), piece.plan, {}).is_granted());
  }
  void begin() {
    const CarrierNumber number = lease->carriers.front();
    EXPECT_EQ(carriers.opened(number, {.kernel_ids = {77}}), KernelCounters::Opened::kOpen);
    lease->began = {{.value = 100}};
    EXPECT_TRUE(leases.become(*lease, pmu::LeaseState::kActive));
    book.touch(lease->plan);
  }
  // How many slots of CPU 0 are in this state.
  std::size_t count(pmu::CounterState state) {
    std::size_t found = 0;
    for (const std::uint64_t word : words.slot_words(0, 0)) {
      if (state_of<pmu::CounterState>(word) == state) ++found;
    }
    return found;
  }

  MachineBook book = MachineBook::open(small_machine()).value();
  Outbox outbox{1};
  const Policy policy = Policy::standard();
  LeaseTable leases{1, 100, policy};
  KernelCounters carriers{outbox, true, kMillisecond};
  Turns turns{kSecond};
  Reservations reservations{book, outbox, policy};
  LedgerWords words{{.book = book,
                     .leases = leases,
                     .carriers = carriers,
                     .turns = turns,
                     .reservations = reservations}};
  Lease* lease = nullptr;
};

TEST_F(LedgerWordsTest, ShowALeaseUntilItHasEnded) {
  begin();
  EXPECT_EQ(state_of<pmu::LeaseState>(words.lease_word(lease->number)), pmu::LeaseState::kActive);
  EXPECT_TRUE(leases.become(*lease, pmu::LeaseState::kNone));
  EXPECT_EQ(state_of<pmu::LeaseState>(words.lease_word(lease->number)), pmu::LeaseState::kNone);
  EXPECT_EQ(words.lease_word(99), pmu::ledger_word(pmu::LeaseState::kNone, 0, 0));
}

TEST_F(LedgerWordsTest, ShowWhoHasACounterAsSoonAsTheBookIsToldOfTheChange) {
  begin();
  EXPECT_EQ(count(pmu::CounterState::kLeased), 1U);
  EXPECT_EQ(count(pmu::CounterState::kFree), 3U);
  EXPECT_TRUE(leases.become(*lease, pmu::LeaseState::kRevoking));
  EXPECT_EQ(count(pmu::CounterState::kRevoking), 0U);
  book.touch(lease->plan);
  EXPECT_EQ(count(pmu::CounterState::kRevoking), 1U);
}

TEST_F(LedgerWordsTest, ShowReservesAsFreeAndGuardsAsGuarded) {
  Policy guarded = policy;
  guarded.guards = {{.pmu = "cpu", .cpus = CpuSet::range(0, 0)}};
  guarded.reserves = {{.pmu = "cpu", .cpus = CpuSet::range(0, 0), .counters = 1}};
  reservations.adopt(guarded);
  EXPECT_TRUE(reservations.settle_guards(false));
  EXPECT_EQ(count(pmu::CounterState::kGuarded), 2U);
  EXPECT_EQ(count(pmu::CounterState::kFree), 1U);
}

TEST_F(LedgerWordsTest, SlotsStandByCpu) {
  EXPECT_EQ(words.first_slot(0, 0), 0U);
  EXPECT_EQ(words.first_slot(0, 1), 4U);
  begin();
  const auto counters = words.counters_of(*lease);
  ASSERT_EQ(counters.size(), 1U);
  EXPECT_EQ(counters.front().kernel_id, 77U);
  EXPECT_LT(counters.front().slot, 4U);
}

TEST_F(LedgerWordsTest, ValuesBeginAtNothingAndSayWhatTheyAreWorth) {
  begin();
  const Reading reading{.value = 130, .enabled_ns = 9, .running_ns = 9};
  (void)carriers.sampled(lease->carriers.front(), {reading}, kSecond);
  pmu::LeaseValues values = words.values_of(*lease);
  ASSERT_EQ(values.values.size(), 1U);
  EXPECT_EQ(values.values.front().value, 30U);
  EXPECT_EQ(values.head.sampled_ns, kSecond);
  EXPECT_EQ(values.head.quality, pmu::Quality::kExact);

  (void)carriers.sampled(lease->carriers.front(), {{.value = 130, .enabled_ns = 9}}, kSecond);
  EXPECT_EQ(words.values_of(*lease).head.quality, pmu::Quality::kStarved);
  EXPECT_TRUE(leases.become(*lease, pmu::LeaseState::kFenced));
  EXPECT_EQ(words.quality_of(*lease), pmu::Quality::kFenced);
}

}  // namespace
}  // namespace meterbank::arbiter
