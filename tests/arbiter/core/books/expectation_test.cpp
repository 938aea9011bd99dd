// SPDX-License-Identifier: Apache-2.0
//
// Holders without a lease, and moments that have not come.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../../../support/sanitizers.hpp"
#include "book_checks.hpp"

namespace meterbank::arbiter {
namespace {

Unleased perf_on(const CpuSet& cpus, std::uint32_t counters) {
  return {.kind = UnleasedKind::kOutsider,
          .name = "perf",
          .pmu = 0,
          .cpus = cpus,
          .among = 0xf,
          .counters = counters};
}

TEST(UnleasedHolders, AnOutsiderIsBookedAsFarAsThereIsRoom) {
  MachineBook book = open_book();
  ASSERT_TRUE(is_granted(book.try_grant(1, ask(0x1, {range(0, 2)}))));
  EXPECT_EQ(book.book_unleased(1, perf_on(CpuSet::range(0, 1), 3)), 2U);
  EXPECT_EQ(count_of(book, 0, OwnerKind::kForeign), 1U);
  EXPECT_EQ(count_of(book, 1, OwnerKind::kForeign), 3U);
  EXPECT_EQ(owner_of(book, 0, 3).foreign, "perf");
  EXPECT_EQ(owner_of(book, 0, 3).unleased, UnleasedKind::kOutsider);
  EXPECT_EQ(owner_of(book, 0, 1).lease, 1U);
  EXPECT_EQ(book.probe(CpuSet::range(1, 1), {.code = 0x80}), 1U);
  const Decision refused = book.test(ask(0x1, {single(3)}));
  EXPECT_TRUE(is_refused(refused, Reason::kTaken, {1}));  // or the other goes: either is enough
  EXPECT_EQ(refused.foreign, "perf");
  // Its counters are all alike, so it makes room for a request for one of them.
  EXPECT_TRUE(is_granted(book.try_grant(2, ask(0x2, {single(0)}))));
  book.forget_unleased(1);
  book.forget_unleased(1);
  EXPECT_EQ(count_of(book, 0, OwnerKind::kForeign), 0U);
  EXPECT_TRUE(is_granted(book.try_grant(3, ask(0x1, {single(3)}))));
}

TEST(UnleasedHolders, ANewBookingOfAHolderReplacesTheOldOne) {
  MachineBook book = open_book();
  Unleased use{.kind = UnleasedKind::kReserve,
               .name = "reserve",
               .pmu = 0,
               .cpus = CpuSet::range(0, 3),
               .among = 0xf,
               .counters = 2};
  EXPECT_EQ(book.book_unleased(9, use), 0U);
  use.cpus = CpuSet::range(1, 1);
  use.counters = 4;
  EXPECT_EQ(book.book_unleased(9, use), 0U);
  EXPECT_EQ(count_of(book, 0, OwnerKind::kForeign), 0U);
  EXPECT_EQ(count_of(book, 1, OwnerKind::kForeign), 4U);
  use.counters = ~0U;
  use.cpus = CpuSet::range(0, 9);  // some have no such PMU
  EXPECT_EQ(book.book_unleased(9, use), ~0U - 4);
}

TEST(UnleasedHolders, CountersThatTheKernelStillHoldsAreInLimbo) {
  MachineBook book = open_book();
  ASSERT_EQ(book.book_unleased(5, {.kind = UnleasedKind::kLimbo,
                                   .name = "lease 4",
                                   .pmu = 0,
                                   .cpus = CpuSet::range(0, 0),
                                   .among = 0x1,
                                   .counters = 1}),
            0U);
  EXPECT_EQ(owner_of(book, 0, 0).kind, OwnerKind::kLimbo);
  EXPECT_TRUE(is_refused(book.test(ask(0x1, {single(0)})), Reason::kLimbo, {}));
  EXPECT_TRUE(is_refused(book.test(ask_for_whole(0x1)), Reason::kLimbo, {}));
  EXPECT_TRUE(is_granted(book.test(ask(0x1, {range(1, 3)}))));
}

TEST(UnleasedHolders, HoldersWithoutALeaseCountBesideEveryAlternative) {
  MachineBook book = open_book();
  const Plan all = plan_of(ask(0x1, {range(0, 2)}));
  ASSERT_TRUE(is_granted(book.try_take(1, all, {.slice = 1})));
  EXPECT_EQ(book.book_unleased(1, perf_on(CpuSet::range(0, 0), 2)), 1U);
  EXPECT_TRUE(is_granted(book.try_take(2, all, {.slice = 2})));
  EXPECT_TRUE(is_refused(book.try_take(3, plan_of(ask(0x1, {range(0, 3)})), {.slice = 3}),
                         Reason::kForeign, {}));
}

constexpr int kMoments = test::kHasSanitizer ? 300 : 3000;

// The same by doing it, in a copy.
std::optional<std::size_t> steps_in_a_copy(MachineBook book, const Plan& plan,
                                           const Alternative& alternative,
                                           const std::vector<Leaving>& leaving,
                                           const Coming* coming) {
  const LeaseId guest = MachineBook::kForeignFirst - 1;
  if (coming != nullptr) {
    EXPECT_TRUE(book.try_take(guest, coming->plan, coming->alternative).is_granted());
  }
  if (book.test(plan, alternative).is_granted()) return 0;
  for (const Leaving& one : leaving) {
    book.release(one.lease);
    if (book.test(plan, alternative).is_granted()) return one.step;
  }
  return std::nullopt;
}

class Moments {
 public:
  explicit Moments(std::uint32_t seed) : random_(seed) {}

  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }
  Plan plan() {
    std::vector<Item> items;
    for (std::uint32_t left = 1 + below(2); left != 0; --left) {
      if (below(4) == 0) {
        items.push_back(single(below(4)));
      } else {
        items.push_back(counters_for_event(1, below(2) == 0 ? 0x3c : 0x81, 0));
      }
    }
    const std::uint64_t cpus = 1 + below(15);
    const Request request = below(12) == 0 ? ask_for_whole(cpus) : ask(cpus, std::move(items));
    return plan_for(request, machine_).value_or(Plan{});
  }
  Alternative alternative() {
    return {.task = below(3) == 0 ? 1 + below(2) : 0, .slice = below(3) == 0 ? 1 + below(2) : 0U};
  }
  const Machine& machine() const { return machine_; }

 private:
  Machine machine_ = hybrid_machine();
  std::mt19937 random_;
};

TEST(Expectations, AreWhatHappensInACopy) {
  Moments moments(7);
  std::set<std::optional<std::size_t>> seen;
  for (int moment = 0; moment < kMoments; ++moment) {
    MachineBook book = open_book(moments.machine());
    std::vector<Leaving> leaving;
    for (LeaseId lease = 1; lease <= 12; ++lease) {
      const Plan plan = moments.plan();
      if (plan.parts.empty()) continue;
      if (!book.try_take(lease, plan, moments.alternative()).is_granted()) continue;
      if (moments.below(5) != 0) leaving.push_back({leaving.size() + 1, lease});
    }
    const Plan plan = moments.plan();
    const Plan other = moments.plan();
    if (plan.parts.empty() || other.parts.empty()) continue;
    const Alternative alternative = moments.alternative();
    const Coming coming{other, moments.alternative()};
    const bool has_guest = book.would_fit(coming.plan, coming.alternative);
    EXPECT_EQ(has_guest, book.test(coming.plan, coming.alternative).is_granted());
    const Coming* guest = has_guest && moments.below(2) == 0 ? &coming : nullptr;
    const auto steps = book.steps_until_fit(plan, alternative, leaving, guest);
    ASSERT_EQ(steps, steps_in_a_copy(book, plan, alternative, leaving, guest)) << moment;
    seen.insert(steps);
  }
  EXPECT_GT(seen.size(), 6U) << "the moments are all alike";
}

TEST(Expectations, TrialsAreUndone) {
  MachineBook book = open_book();
  ASSERT_TRUE(is_granted(book.try_grant(1, ask(0x1, {range(0, 1)}))));
  const Ownership ownership = book.ownership();
  const Plan plan = plan_for(ask(0x1, {single(2)}), book.machine()).value();
  const std::uint64_t clock = book.clock();
  MachineBook::Before before = book.before(plan);
  ASSERT_TRUE(is_granted(book.try_take(2, plan, {})));
  EXPECT_NE(book.ownership(), ownership);
  book.release(2);
  EXPECT_TRUE(book.has_changed(plan, clock));
  book.undo(std::move(before));
  EXPECT_EQ(book.ownership(), ownership);
  // No waiter has a reason to ask again.
  EXPECT_FALSE(book.has_changed(plan, clock));
  EXPECT_EQ(book.clock(), clock);
}

TEST(Expectations, OnlyChangesNearAPlanAreItsOwn) {
  MachineBook book = open_book();
  const Plan plan = plan_for(ask(0x1, {single(0)}), book.machine()).value();
  std::uint64_t clock = book.clock();
  ASSERT_TRUE(is_granted(book.try_grant(1, ask(0x2, {single(0)}))));
  EXPECT_FALSE(book.has_changed(plan, clock));
  ASSERT_TRUE(is_granted(book.try_grant(2, ask(0x1, {single(1)}))));
  EXPECT_TRUE(book.has_changed(plan, clock));
  clock = book.clock();
  EXPECT_FALSE(book.has_changed(plan, clock));
  book.release(2);
  EXPECT_TRUE(book.has_changed(plan, clock));
  clock = book.clock();
  book.set_online(CpuSet::range(0, 0));
  EXPECT_TRUE(book.has_changed(plan, clock));
}

}  // namespace
}  // namespace meterbank::arbiter
