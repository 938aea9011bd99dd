// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/leases/lease_times.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "../scripted_kernel.hpp"
#include "arbiter/core/leases/lease_table.hpp"

namespace meterbank::arbiter {
namespace {

constexpr Nanoseconds kNow = 100 * kSecond;

class LeaseTimesOf : public testing::Test {
 protected:
  LeaseTimesOf() {
    Lease asked;
    asked.client = 5;
    lease = &table.add(std::move(asked));
  }

  std::optional<Nanoseconds> deadline(Nanoseconds now = kNow) {
    times.note(*lease, now);
    return times.deadline(now);
  }

  LeaseTable table{1, 8, Policy::standard()};
  LeaseTimes times{8};
  Lease* lease = nullptr;
};

TEST_F(LeaseTimesOf, AWaitHaveItsEnd) {
  EXPECT_EQ(deadline(), std::nullopt) << "it waits for ever";
  lease->deadline_ns = kNow + kSecond;

  EXPECT_EQ(deadline(), kNow + kSecond);
}

TEST_F(LeaseTimesOf, ARequestThatTheKernelRefusedHaveItsNextTryOnce) {
  lease->retry_ns = kNow + kSecond;

  EXPECT_EQ(deadline(), kNow + kSecond);
  EXPECT_EQ(deadline(kNow + kSecond), std::nullopt);
}

TEST_F(LeaseTimesOf, AnActiveLeaseHaveTheEndOfItsHoldAndOfItsTerm) {
  table.become(*lease, pmu::LeaseState::kActive);
  lease->ends_ns = kNow + 3 * kSecond;
  EXPECT_EQ(deadline(), kNow + 3 * kSecond);

  lease->asked.head.term_ns = 2 * kSecond;
  lease->heartbeat_ns = kNow;
  EXPECT_EQ(deadline(), kNow + kTick) << "its client has to act";
  EXPECT_EQ(times.due(kNow + 2 * kSecond), std::vector<LeaseNumber>{lease->number});
  EXPECT_EQ(times.due(kNow + 2 * kSecond - 1), std::vector<LeaseNumber>{});
}

TEST_F(LeaseTimesOf, ALeaseThatAnOutsiderTookHaveItsLoss) {
  table.become(*lease, pmu::LeaseState::kSuspended);
  lease->away_ns = kNow;
  EXPECT_EQ(deadline(), std::nullopt) << "its CPU is offline, for as long as it may be";
  lease->cause = pmu::Cause::kTakenByOutsider;

  EXPECT_EQ(deadline(), kNow + kAwayMax);
}

TEST_F(LeaseTimesOf, ARevokedLeaseWithoutADeadlineAreOver) {
  table.become(*lease, pmu::LeaseState::kRevoking);

  EXPECT_EQ(deadline(), 1U);
}

TEST_F(LeaseTimesOf, AnEndedLeaseAreNone) {
  table.become(*lease, pmu::LeaseState::kActive);
  lease->deadline_ns = kNow + kSecond;
  ASSERT_EQ(deadline(), kNow + kTick);
  table.become(*lease, pmu::LeaseState::kNone);

  EXPECT_EQ(deadline(), std::nullopt);
  EXPECT_EQ(times, LeaseTimes(8));
}

}  // namespace
}  // namespace meterbank::arbiter
