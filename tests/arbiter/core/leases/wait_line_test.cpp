// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/leases/wait_line.hpp"

#include <gtest/gtest.h>

#include <list>
#include <vector>

#include "../scripted_kernel.hpp"

namespace meterbank::arbiter {
namespace {

constexpr Nanoseconds kAgeing = 10 * kSecond;

class WaitLines : public testing::Test {
 protected:
  WaitLines() { line.set_time(100 * kSecond); }

  // Asked `age` ago.
  Lease& join(pmu::Priority priority, Nanoseconds age = 0, std::uint64_t cpu_mask = 1) {
    Lease& lease = leases.emplace_back();
    lease.number = static_cast<LeaseNumber>(leases.size());
    lease.arrival = leases.size();
    lease.asked = allocate({cycles(1)}, cpu_mask);
    lease.asked.head.priority = static_cast<std::uint32_t>(priority);
    lease.asked_ns = 100 * kSecond - age;
    lease.plan = plan_for(request_of(lease.asked), small_machine()).value();
    line.join(lease);
    return lease;
  }

  std::vector<LeaseNumber> walked() {
    std::vector<LeaseNumber> numbers;
    line.walk(book, [&](LeaseNumber number) { numbers.push_back(number); });
    return numbers;
  }

  std::list<Lease> leases;
  WaitLine line{kAgeing};
  MachineBook book = MachineBook::open(small_machine()).value();
};

TEST_F(WaitLines, ServesHigherClassesFirstAndThenEarlierArrivals) {
  join(pmu::Priority::kBatch);
  join(pmu::Priority::kCritical);
  join(pmu::Priority::kBatch);
  join(pmu::Priority::kCritical);

  EXPECT_EQ(line.in_order(), (std::vector<LeaseNumber>{2, 4, 1, 3}));
}

TEST_F(WaitLines, MovesARequestUpAClassForEachAgeing) {
  const Lease& old = join(pmu::Priority::kBatch);
  const std::uint32_t first_class = line.class_of(old);
  EXPECT_EQ(line.promotion_ns(old), 100 * kSecond + kAgeing);
  line.set_time(100 * kSecond + kAgeing);
  Lease& young = join(pmu::Priority::kBatch);
  young.asked_ns = 100 * kSecond + kAgeing;

  EXPECT_EQ(line.class_of(old), first_class + 1);
  EXPECT_EQ(line.promotion_ns(old), 100 * kSecond + 2 * kAgeing);
}

TEST_F(WaitLines, SortsAnewWhenARequestHasAged) {
  const Lease& batch = join(pmu::Priority::kBatch, 9 * kSecond);
  const Lease& monitoring = join(pmu::Priority::kMonitoring);
  ASSERT_EQ(static_cast<std::uint32_t>(pmu::Priority::kBatch) + 1,
            static_cast<std::uint32_t>(pmu::Priority::kMonitoring));
  ASSERT_EQ(line.in_order(), (std::vector<LeaseNumber>{monitoring.number, batch.number}));
  line.set_time(101 * kSecond);

  EXPECT_EQ(line.in_order(), (std::vector<LeaseNumber>{batch.number, monitoring.number}))
      << "the same class, and it came first";
  EXPECT_TRUE(line.is_in_order());
}

TEST_F(WaitLines, StopsAtTheHighestClass) {
  const Lease& lease = join(pmu::Priority::kCritical, 50 * kSecond);

  EXPECT_EQ(line.class_of(lease), static_cast<std::uint32_t>(pmu::Priority::kCritical));
  EXPECT_EQ(line.promotion_ns(lease), 0U);
}

TEST_F(WaitLines, KeepsClassesWithoutAgeing) {
  WaitLine still(0);
  still.set_time(100 * kSecond);
  Lease lease;
  still.join(lease);

  EXPECT_EQ(still.class_of(lease), lease.asked.head.priority);
  EXPECT_EQ(still.promotion_ns(lease), 0U);
  EXPECT_FALSE(still.has_moved_since(0));
}

TEST_F(WaitLines, CountsThoseAhead) {
  Lease& one = join(pmu::Priority::kBatch);
  const Lease& two = join(pmu::Priority::kBatch);
  EXPECT_EQ(line.count_ahead_of(one), 0U);
  EXPECT_EQ(line.count_ahead_of(two), 1U);
  line.leave(one);

  EXPECT_EQ(line.count_ahead_of(two), 0U);
  EXPECT_EQ(line.count_ahead_of(one), 1U) << "it does not wait: all are ahead";
}

TEST_F(WaitLines, TakesALeaseOnceAndLetsItLeaveOnce) {
  Lease& lease = join(pmu::Priority::kBatch);
  line.note_refusal(lease, book.clock());
  line.join(lease);
  EXPECT_EQ(line.size(), 1U);
  EXPECT_TRUE(walked().empty()) << "nothing has changed for it";
  line.leave(lease);
  line.leave(lease);

  EXPECT_TRUE(line.empty());
  line.join(lease);
  EXPECT_EQ(walked(), std::vector<LeaseNumber>{1})
      << "what it was told before it left is out of date";
}

TEST_F(WaitLines, WalkToThoseForWhomSomethingHasChanged) {
  const Lease& here = join(pmu::Priority::kBatch, 0, 1);
  const Lease& there = join(pmu::Priority::kBatch, 0, 2);
  const Lease& both = join(pmu::Priority::kBatch, 0, 3);
  EXPECT_EQ(walked(), (std::vector<LeaseNumber>{1, 2, 3})) << "none was refused yet";
  for (const Lease* one : {&here, &there, &both}) line.note_refusal(*one, book.clock());
  EXPECT_TRUE(walked().empty());

  book.touch(here.plan);
  EXPECT_EQ(walked(), (std::vector<LeaseNumber>{1, 3}));
  line.note_refusal(here, book.clock());
  EXPECT_EQ(walked(), std::vector<LeaseNumber>{3});
  line.note_refusal(there, 0);
  EXPECT_EQ(walked(), (std::vector<LeaseNumber>{2, 3}));
}

TEST_F(WaitLines, WalkToThoseBehindForWhomSomethingChangesOnTheWay) {
  join(pmu::Priority::kBatch, 0, 2);
  const Lease& behind = join(pmu::Priority::kBatch, 0, 1);
  line.note_refusal(behind, book.clock());
  std::vector<LeaseNumber> numbers;
  line.walk(book, [&](LeaseNumber number) {
    numbers.push_back(number);
    book.touch(behind.plan);
  });

  EXPECT_EQ(numbers, (std::vector<LeaseNumber>{1, 2}));
}

TEST_F(WaitLines, AlwaysWalkToThoseWhoseCountersMayComeFreeElsewhere) {
  Lease& shared = join(pmu::Priority::kBatch);
  shared.asked.head.flags |= pmu::kAllocateShares;
  Lease& sliced = join(pmu::Priority::kBatch);
  sliced.asked.head.duty_permille = 500;
  for (const Lease* one : {&shared, &sliced}) line.note_refusal(*one, book.clock());

  EXPECT_EQ(walked(), (std::vector<LeaseNumber>{1, 2}));
}

TEST_F(WaitLines, NamesRivalsAheadThatWantTheSameCounters) {
  const Lease& here = join(pmu::Priority::kBatch, 0, 1);
  join(pmu::Priority::kBatch, 0, 2);
  const Lease& both = join(pmu::Priority::kBatch, 0, 3);
  const Lease& last = join(pmu::Priority::kBatch, 0, 1);
  join(pmu::Priority::kBatch, 0, 1);

  EXPECT_EQ(line.rivals_ahead_of(last, 4), (std::vector<const Lease*>{&here, &both}));
  EXPECT_EQ(line.rivals_ahead_of(last, 1), (std::vector<const Lease*>{&here}));
}

TEST_F(WaitLines, SaysWhetherTimeAloneHasMovedARequest) {
  Lease& lease = join(pmu::Priority::kBatch);
  line.set_time(105 * kSecond);
  EXPECT_FALSE(line.has_moved_since(101 * kSecond));
  lease.retry_ns = 104 * kSecond;
  EXPECT_TRUE(line.has_moved_since(101 * kSecond)) << "it may ask the kernel again";
  lease.retry_ns = 0;
  line.set_time(111 * kSecond);

  EXPECT_TRUE(line.has_moved_since(105 * kSecond)) << "it went up a class";
  EXPECT_FALSE(line.has_moved_since(110 * kSecond));
}

}  // namespace
}  // namespace meterbank::arbiter
