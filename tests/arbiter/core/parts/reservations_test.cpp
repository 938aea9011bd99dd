// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/parts/reservations.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "../scripted_kernel.hpp"

namespace meterbank::arbiter {
namespace {

class ReservationsTest : public testing::Test {
 protected:
  static Policy policy_with(std::vector<ReserveRule> reserves, std::vector<GuardRule> guards = {}) {
    Policy policy = Policy::standard();
    policy.reserves = std::move(reserves);
    policy.guards = std::move(guards);
    return policy;
  }
  static Plan plan_of(std::uint64_t cpu_mask) {
    return plan_for(request_of(allocate_whole(cpu_mask)), small_machine()).value();
  }
  [[nodiscard]] std::uint32_t room(std::uint32_t cpu) const {
    return book.room(0, CpuSet::range(cpu, cpu), 0xf);
  }
  // What the kernel was told, since the last call.
  std::vector<Guard> told() {
    std::vector<Guard> guards;
    while (const auto action = outbox.next([](const Lease&) { return pmu::LeaseValues{}; })) {
      if (const auto* guard = std::get_if<Guard>(&*action)) guards.push_back(*guard);
    }
    return guards;
  }

  MachineBook book = MachineBook::open(small_machine()).value();
  Outbox outbox{1};
  const Policy of_cpu_0 = policy_with({{.pmu = "cpu", .cpus = CpuSet::range(0, 0), .counters = 2}},
                                      {{.pmu = "cpu", .cpus = CpuSet::range(0, 0)}});
};

TEST_F(ReservationsTest, KeepWhatThePolicySays) {
  Reservations reservations(book, outbox, of_cpu_0);
  EXPECT_EQ(room(0), 4U);
  reservations.book();
  EXPECT_EQ(room(0), 2U);
  EXPECT_EQ(room(1), 4U);
  reservations.forget_bookings();
  EXPECT_EQ(room(0), 4U);
}

TEST_F(ReservationsTest, KeepWhatAnAdministratorSaysUntilAnotherPolicyComes) {
  Reservations reservations(book, outbox, of_cpu_0);
  reservations.reserve(plan_of(0b11), 3);
  EXPECT_EQ(room(0), 1U);
  EXPECT_EQ(room(1), 1U);
  reservations.reserve(plan_of(0b01), 0);
  EXPECT_EQ(room(0), 4U);
  reservations.adopt(of_cpu_0);
  EXPECT_EQ(room(0), 2U);
  EXPECT_EQ(room(1), 4U);
}

TEST_F(ReservationsTest, TellTheKernelWhatToGuardWhenItChanges) {
  Reservations reservations(book, outbox, of_cpu_0);
  EXPECT_TRUE(reservations.is_guarded(0, 0));
  EXPECT_FALSE(reservations.is_guarded(0, 1));
  EXPECT_TRUE(reservations.settle_guards(false));
  auto guards = told();
  ASSERT_EQ(guards.size(), 1U);
  EXPECT_EQ(guards.front().counters, 4U);
  EXPECT_EQ(reservations.guarded_at(0, 0), 4U);
  EXPECT_FALSE(reservations.settle_guards(false));

  ASSERT_TRUE(book.try_take(1, plan_of(0b01), {}).is_granted());
  EXPECT_TRUE(reservations.settle_guards(false));
  guards = told();
  ASSERT_EQ(guards.size(), 1U);
  EXPECT_EQ(guards.front().counters, 0U);
}

TEST_F(ReservationsTest, GuardNothingAtTheEndOrUnderAPolicyWithoutGuards) {
  Reservations reservations(book, outbox, of_cpu_0);
  EXPECT_TRUE(reservations.settle_guards(false));
  EXPECT_TRUE(reservations.settle_guards(true));
  EXPECT_EQ(reservations.guarded_at(0, 0), 0U);
  EXPECT_TRUE(reservations.settle_guards(false));
  reservations.adopt(policy_with({}));
  EXPECT_FALSE(reservations.is_guarded(0, 0));
  EXPECT_TRUE(reservations.settle_guards(false));
  EXPECT_EQ(reservations.guarded_at(0, 0), 0U);
}

TEST_F(ReservationsTest, AreCarriedOverWithWhatTheKernelWasTold) {
  Reservations reservations(book, outbox, of_cpu_0);
  reservations.reserve(plan_of(0b10), 3);
  EXPECT_TRUE(reservations.settle_guards(false));
  nlohmann::json saved;
  reservations.save(saved);

  MachineBook other_book = MachineBook::open(small_machine()).value();
  Reservations other(other_book, outbox, of_cpu_0);
  other.load(saved);
  other.book();
  EXPECT_EQ(other_book.room(0, CpuSet::range(1, 1), 0xf), 1U);
  EXPECT_FALSE(other.settle_guards(false));
}

}  // namespace
}  // namespace meterbank::arbiter
