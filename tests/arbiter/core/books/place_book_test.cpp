// SPDX-License-Identifier: Apache-2.0
//
// Leases that never count at the same time, against a search of all combinations and placements.
#include "arbiter/core/books/place_book.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <iostream>
#include <map>
#include <random>
#include <vector>

#include "../../../support/depth.hpp"
#include "../../../support/sanitizers.hpp"

namespace meterbank::arbiter::place_book_test {
namespace {

constexpr CounterMask kAll = 0xf;

CounterDemand any_of(CounterMask mask, std::size_t count = 1) {
  CounterDemand demand;
  demand.any.assign(count, mask);
  return demand;
}
CounterDemand exactly(CounterMask mask) {
  CounterDemand demand;
  demand.exact = mask;
  return demand;
}
CounterDemand whole() {
  CounterDemand demand;
  demand.whole = true;
  return demand;
}

TEST(PlaceBook, LeasesOfDifferentTasksHaveTheSameCounters) {
  PlaceBook book(kAll);
  for (std::uint32_t task = 1; task <= 20; ++task) {
    EXPECT_EQ(book.take(task, any_of(kAll, 4), {.task = task}), Fit::kFits);
  }
  EXPECT_EQ(book.fits(any_of(kAll), {.task = 5}), Fit::kNotNow);
  EXPECT_EQ(book.fits(any_of(kAll), {}), Fit::kNotNow);
  EXPECT_EQ(book.blockers(any_of(kAll), {.task = 5}), (std::vector<LeaseId>{5}));
  EXPECT_EQ(book.fits(any_of(kAll, 4), {.task = 21}), Fit::kFits);
}

TEST(PlaceBook, LeasesOfDifferentSlicesTakeTurns) {
  PlaceBook book(kAll);
  EXPECT_EQ(book.take(1, any_of(kAll, 3), {.slice = 1}), Fit::kFits);
  EXPECT_EQ(book.take(2, any_of(kAll, 3), {.slice = 2}), Fit::kFits);
  EXPECT_EQ(book.take(3, any_of(kAll, 2), {.slice = 2}), Fit::kNotNow);
  // What counts all the time has to have room beside the largest of them.
  EXPECT_EQ(book.take(4, any_of(kAll, 2), {}), Fit::kNotNow);
  EXPECT_EQ(book.take(4, any_of(kAll, 1), {}), Fit::kFits);
  EXPECT_EQ(book.room_for(kAll, {}), 0U);
  EXPECT_EQ(book.room_for(kAll, {.slice = 3}), 3U);
  book.release(2);
  EXPECT_EQ(book.room_for(kAll, {.slice = 1}), 0U);
  book.release(1);
  EXPECT_EQ(book.room_for(kAll, {}), 3U);
}

TEST(PlaceBook, TasksAndSlicesAreCombined) {
  PlaceBook book(kAll);
  EXPECT_EQ(book.take(1, any_of(kAll, 2), {.task = 1}), Fit::kFits);
  EXPECT_EQ(book.take(2, any_of(kAll, 2), {.slice = 1}), Fit::kFits);
  // Task 1 may run in the turn of slice 1: there they are together.
  EXPECT_EQ(book.fits(any_of(kAll, 1), {.task = 1}), Fit::kNotNow);
  EXPECT_EQ(book.fits(any_of(kAll, 1), {.slice = 1}), Fit::kNotNow);
  EXPECT_EQ(book.fits(any_of(kAll, 2), {.task = 2}), Fit::kFits);
  EXPECT_EQ(book.fits(any_of(kAll, 2), {.slice = 2}), Fit::kFits);
  EXPECT_EQ(book.fits(any_of(kAll, 2), {.task = 2, .slice = 1}), Fit::kFits);
  EXPECT_EQ(book.fits(any_of(kAll, 4), {.task = 2, .slice = 2}), Fit::kFits);
  EXPECT_EQ(book.fits(any_of(kAll, 1), {.task = 1, .slice = 1}), Fit::kNotNow);
}

TEST(PlaceBook, AWholePmuLeaseIsAloneWithItsAlternatives) {
  PlaceBook book(kAll);
  EXPECT_EQ(book.take(1, whole(), {.slice = 1}), Fit::kFits);
  EXPECT_EQ(book.take(2, any_of(kAll, 4), {.slice = 2}), Fit::kFits);
  EXPECT_EQ(book.fits(any_of(kAll), {}), Fit::kNotNow);
  EXPECT_EQ(book.fits(whole(), {}), Fit::kNotNow);
  book.release(1);
  EXPECT_EQ(book.fits(any_of(0, 1), {.slice = 2}), Fit::kNever);
}

TEST(PlaceBook, PlacementIsWhereItCounts) {
  PlaceBook book(kAll);
  EXPECT_EQ(book.placement(1), nullptr);
  ASSERT_EQ(book.take(1, exactly(0x3), {.task = 1}), Fit::kFits);
  ASSERT_EQ(book.take(2, exactly(0x3), {.task = 2}), Fit::kFits);
  ASSERT_EQ(book.take(3, any_of(kAll), {}), Fit::kFits);
  EXPECT_EQ(book.placement(1)->exact, 0x3U);
  EXPECT_EQ(book.placement(2)->exact, 0x3U);
  EXPECT_NE(book.placement(3), nullptr);
  book.release(1);
  EXPECT_EQ(book.placement(1), nullptr);
  book.release(1);
  EXPECT_EQ(book.holders().size(), 2U);
}

// ---- Against all combinations ----

struct Held {
  CounterDemand demand;
  Alternative alternative;
};
using HeldByLease = std::map<LeaseId, Held>;

// Whether each of the masks can have a counter of its own, tried one after the other.
bool can_be_placed(const std::vector<CounterMask>& masks, std::size_t next, CounterMask room) {
  if (next == masks.size()) return true;
  for (CounterMask left = masks[next] & room; left != 0; left &= left - 1) {
    if (can_be_placed(masks, next + 1, room & ~(left & (~left + 1)))) return true;
  }
  return false;
}

bool fits_together(const std::vector<const CounterDemand*>& demands) {
  CounterMask room = kAll;
  std::vector<CounterMask> masks;
  for (const CounterDemand* demand : demands) {
    if (demand->whole) return demands.size() == 1;
    if ((demand->exact & ~room) != 0) return false;
    room &= ~demand->exact;
    masks.insert(masks.end(), demand->any.begin(), demand->any.end());
  }
  return can_be_placed(masks, 0, room);
}

constexpr std::uint32_t kTasks = 3;
constexpr std::uint64_t kSlices = 3;

// Every task runs in the turn of every slice, with everything else that counts then.
bool oracle_fits(const HeldByLease& holders, const Held& wanted) {
  for (std::uint32_t task = 0; task <= kTasks; ++task) {
    for (std::uint64_t slice = 0; slice <= kSlices; ++slice) {
      const auto counts = [&](const Alternative& alternative) {
        return (alternative.task == 0 || alternative.task == task) &&
               (alternative.slice == 0 || alternative.slice == slice);
      };
      if (!counts(wanted.alternative)) continue;
      std::vector<const CounterDemand*> demands{&wanted.demand};
      for (const auto& [lease, held] : holders) {
        if (counts(held.alternative)) demands.push_back(&held.demand);
      }
      if (!fits_together(demands)) return false;
    }
  }
  return true;
}

class Stream {
 public:
  explicit Stream(std::uint32_t seed) : random_(seed) {}
  std::uint32_t below(std::uint32_t bound) { return static_cast<std::uint32_t>(random_() % bound); }

  Held next() {
    Held held;
    const std::uint32_t kind = below(16);
    if (kind == 0) {
      held.demand = whole();
    } else if (kind < 5) {
      held.demand = exactly(1 + below(15));
    } else {
      for (std::uint32_t left = 1 + below(2); left != 0; --left) {
        held.demand.any.push_back(below(3) == 0 ? kAll : 1 + below(15));
      }
      if (below(8) == 0) held.demand.exact = CounterMask{1} << below(4);
    }
    if (below(3) != 0) held.alternative.task = below(kTasks + 1);
    if (below(3) != 0) held.alternative.slice = below(kSlices + 1);
    return held;
  }

 private:
  std::mt19937 random_;
};

// The control: books that take every lease for one that counts all the time.
struct Answers {
  std::uint64_t granted = 0, refused = 0, disagreements = 0, control_disagreements = 0;
};

Answers run_stream(std::uint32_t requests) {
  Answers answers;
  Stream stream(11);
  PlaceBook book(kAll);
  HeldByLease holders;
  LeaseId next = 1;
  for (std::uint32_t step = 0; step < requests; ++step) {
    if (!holders.empty() && stream.below(16) < 7) {
      const auto gone =
          std::next(holders.begin(), stream.below(static_cast<std::uint32_t>(holders.size())));
      book.release(gone->first);
      holders.erase(gone);
      continue;
    }
    const Held wanted = stream.next();
    const bool expected = oracle_fits(holders, wanted);
    if (step % 16 == 0) {
      PlaceBook simple(kAll);
      for (const auto& [lease, held] : holders) (void)simple.take(lease, held.demand, {});
      const bool is_same = (simple.fits(wanted.demand, {}) == Fit::kFits) == expected;
      answers.control_disagreements += is_same ? 0 : 1;
    }
    const bool foretold = book.fits(wanted.demand, wanted.alternative) == Fit::kFits;
    const bool is_taken = book.take(next, wanted.demand, wanted.alternative) == Fit::kFits;
    answers.disagreements += foretold == expected && is_taken == expected ? 0 : 1;
    if (!is_taken) {
      ++answers.refused;
      continue;
    }
    ++answers.granted;
    holders.emplace(next++, wanted);
  }
  for (const auto& [lease, held] : holders) book.release(lease);
  EXPECT_EQ(book.fits(whole(), {}), Fit::kFits);
  EXPECT_TRUE(book.holders().empty());
  return answers;
}

TEST(PlaceBook, AgreesWithASearchOfAllCombinations) {
  const auto requests = static_cast<std::uint32_t>(
      test::depth(test::kHasSanitizer ? 5'000 : 50'000, 1'000'000));
  const Answers answers = run_stream(requests);
  std::cout << requests << " steps: " << answers.granted << " granted, " << answers.refused
            << " refused, " << answers.disagreements << " disagreements; "
            << answers.control_disagreements << " of the control\n";
  EXPECT_EQ(answers.disagreements, 0U);
  EXPECT_GT(answers.granted, requests / 8);
  EXPECT_GT(answers.refused, requests / 16);
  EXPECT_GT(answers.control_disagreements, 0U);
}

}  // namespace
}  // namespace meterbank::arbiter::place_book_test
