// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/leases/due_times.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace meterbank::arbiter {
namespace {

TEST(DueTimes, HaveNothingDueAtFirst) {
  const DueTimes times(5);

  EXPECT_EQ(times.first(), DueTimes::kNever);
  EXPECT_TRUE(times.due(DueTimes::kNever).empty());
}

TEST(DueTimes, NameThoseThatAreDueWithThoseThatWereDueBefore) {
  DueTimes times(5);
  times.set(4, 20);
  times.set(0, 30);
  times.set(2, 10);

  EXPECT_EQ(times.first(), 10U);
  EXPECT_EQ(times.due(9), std::vector<LeaseNumber>{});
  EXPECT_EQ(times.due(20), (std::vector<LeaseNumber>{2, 4}));
  EXPECT_EQ(times.due(DueTimes::kNever), (std::vector<LeaseNumber>{0, 2, 4}));
}

TEST(DueTimes, ForgetATimeThatIsSetAnew) {
  DueTimes times(5);
  times.set(2, 10);
  times.set(2, 40);
  EXPECT_EQ(times.first(), 40U);
  times.set(2, DueTimes::kNever);

  EXPECT_EQ(times.first(), DueTimes::kNever);
  EXPECT_EQ(times, DueTimes(5));
}

TEST(DueTimes, TakeASingleNumber) {
  DueTimes times(1);
  times.set(0, 7);

  EXPECT_EQ(times.first(), 7U);
  EXPECT_EQ(times.due(7), std::vector<LeaseNumber>{0});
}

TEST(DueTimes, AgreeWithALookAtAllAfterEachOfManyChanges) {
  constexpr std::size_t kCount = 37;
  std::mt19937_64 random(8);
  DueTimes times(kCount);
  std::vector<Nanoseconds> plain(kCount, DueTimes::kNever);
  for (int change = 0; change < 20'000; ++change) {
    const auto number = static_cast<LeaseNumber>(random() % kCount);
    const Nanoseconds time = random() % 4 == 0 ? DueTimes::kNever : random() % 100;
    times.set(number, time);
    plain[number] = time;
    ASSERT_EQ(times.first(), *std::min_element(plain.begin(), plain.end()));
    const Nanoseconds now = random() % 100;
    std::vector<LeaseNumber> due;
    for (std::size_t i = 0; i < kCount; ++i) {
      if (plain[i] <= now) due.push_back(static_cast<LeaseNumber>(i));
    }
    ASSERT_EQ(times.due(now), due);
  }
}

}  // namespace
}  // namespace meterbank::arbiter
