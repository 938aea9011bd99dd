// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/parts/outsiders.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "../scripted_kernel.hpp"

namespace meterbank::arbiter {
namespace {

class OutsidersTest : public testing::Test {
 protected:
  // Which CPU 0 has free, out of four.
  [[nodiscard]] std::ptrdiff_t free_counters() const {
    const auto owners = book.owners(0, 0).counters;
    return std::count_if(owners.begin(), owners.end(),
                         [](const CounterOwner& owner) { return owner.kind == OwnerKind::kFree; });
  }
  static Outsider perf(std::uint32_t counters) {
    Outsider outsider;
    outsider.name = "perf";
    outsider.pid = 7;
    outsider.cpus = CpuSet::range(0, 0);
    outsider.counters = counters;
    return outsider;
  }
  // How many actions of this sort are pending; takes out all.
  template <typename Wanted>
  std::size_t asked() {
    std::size_t count = 0;
    while (const auto action = outbox.next([](const Lease&) { return pmu::LeaseValues{}; })) {
      if (std::holds_alternative<Wanted>(*action)) ++count;
    }
    return count;
  }
  static Opening opening() { return {.pmu = 0, .cpu = 0, .event = {}}; }

  MachineBook book = MachineBook::open(small_machine()).value();
  Outbox outbox{1};
  Outsiders outsiders{book, outbox, true};
};

TEST_F(OutsidersTest, AsksForOneSurveyAtATime) {
  outsiders.survey();
  outsiders.survey();
  EXPECT_EQ(asked<Survey>(), 1U);
  outsiders.surveyed({}, kSecond);
  outsiders.survey();
  EXPECT_EQ(asked<Survey>(), 1U);
  Outsiders without_backend(book, outbox, false);
  without_backend.survey();
  EXPECT_EQ(asked<Survey>(), 0U);
}

TEST_F(OutsidersTest, BooksTheCountersThatAreKnownAndGivesThemBack) {
  outsiders.surveyed({perf(3)}, kSecond);
  EXPECT_EQ(free_counters(), 1);
  outsiders.surveyed({perf(2)}, 2 * kSecond);
  EXPECT_EQ(free_counters(), 2);
  outsiders.surveyed({}, 3 * kSecond);
  EXPECT_EQ(free_counters(), 4);
  EXPECT_FALSE(outsiders.has_any());
}

TEST_F(OutsidersTest, RemembersSinceWhenAnOutsiderIsThereAndRecordsItOnce) {
  outsiders.surveyed({perf(1)}, kSecond);
  EXPECT_EQ(asked<Record>(), 1U);
  outsiders.surveyed({perf(2)}, 5 * kSecond);
  EXPECT_EQ(asked<Record>(), 0U);
  ASSERT_EQ(outsiders.all().size(), 1U);
  EXPECT_EQ(outsiders.all().front().first_ns, kSecond);
  EXPECT_EQ(outsiders.all().front().last_ns, 5 * kSecond);
}

TEST_F(OutsidersTest, LendsNoCounterThatTheKernelRefusedUntilItIsTimeToTryAgain) {
  outsiders.surveyed({}, kSecond);
  outsiders.note_refused(opening(), kSecond);
  outsiders.note_refused(opening(), kSecond);
  EXPECT_EQ(free_counters(), 2);
  const Nanoseconds until = kSecond + Outsiders::kRetry;
  EXPECT_EQ(outsiders.deadline(false), until);
  EXPECT_FALSE(outsiders.passed(until - 1, false));
  EXPECT_EQ(free_counters(), 2);
  EXPECT_TRUE(outsiders.passed(until, false));
  EXPECT_EQ(free_counters(), 4);
  EXPECT_EQ(outsiders.deadline(false), std::nullopt);
}

TEST_F(OutsidersTest, BooksWhatWasRefusedUnderTheNameOfASuspect) {
  outsiders.surveyed({perf(0)}, kSecond);
  EXPECT_EQ(free_counters(), 4);
  outsiders.note_refused(opening(), kSecond);
  const auto owners = book.owners(0, 0).counters;
  EXPECT_TRUE(std::any_of(owners.begin(), owners.end(),
                          [](const CounterOwner& owner) { return owner.foreign == "perf"; }));
  // It is found out how many: what was refused is no longer counted beside them.
  outsiders.surveyed({perf(3)}, 2 * kSecond);
  EXPECT_EQ(free_counters(), 1);
}

TEST_F(OutsidersTest, SurveysMoreOftenWhileRequestsWait) {
  outsiders.surveyed({perf(1)}, kSecond);
  EXPECT_FALSE(outsiders.passed(kSecond + Outsiders::kRetry, false));
  EXPECT_EQ(asked<Survey>(), 0U);
  EXPECT_EQ(outsiders.deadline(true), kSecond + Outsiders::kRetry);
  EXPECT_FALSE(outsiders.passed(kSecond + Outsiders::kRetry, true));
  EXPECT_EQ(asked<Survey>(), 1U);
  EXPECT_EQ(outsiders.deadline(true), std::nullopt);  // one is under way
}

TEST_F(OutsidersTest, IsInTheWayOnlyWhereThePlanWantsCounters) {
  const Plan plan = plan_for(request_of(allocate({cycles()}, 1)), small_machine()).value();
  Outsider outsider = perf(1);
  EXPECT_TRUE(is_in_way(outsider, plan));
  EXPECT_FALSE(is_in_way(outsider, plan, 1));
  outsider.cpus = CpuSet::range(1, 1);
  EXPECT_FALSE(is_in_way(outsider, plan));
  outsider.cpus = {};
  EXPECT_TRUE(is_in_way(outsider, plan, 0));
  outsider.pmu = 1;
  EXPECT_FALSE(is_in_way(outsider, plan));
}

TEST_F(OutsidersTest, AreCarriedOver) {
  outsiders.surveyed({perf(3)}, kSecond);
  nlohmann::json saved;
  outsiders.save(saved);
  MachineBook other_book = MachineBook::open(small_machine()).value();
  Outsiders other(other_book, outbox, true);
  other.load(saved);
  ASSERT_EQ(other.all().size(), 1U);
  EXPECT_EQ(other.all().front().name, "perf");
  EXPECT_FALSE(other.is_stale(kSecond));
  EXPECT_TRUE(other.is_stale(2 * kSecond));
  EXPECT_EQ(other_book.room(0, CpuSet::range(0, 0), 0xf), 4U);
  other.book();
  EXPECT_EQ(other_book.room(0, CpuSet::range(0, 0), 0xf), 1U);
}

}  // namespace
}  // namespace meterbank::arbiter
