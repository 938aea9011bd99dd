// SPDX-License-Identifier: Apache-2.0
//
// Numbers that go from thread to thread, and what belongs to them.
#include "shards/index_set.hpp"

#include <array>
#include <thread>

#include "sharded_fixture.hpp"

namespace meterbank {
namespace {

using test::Job;
using test::ShardedSet;

TEST(IndexSet, GivesTheLowestFreeNumber) {
  IndexSet<StdAtomics, 2> set;
  for (std::uint32_t number = 0; number < 128; ++number) ASSERT_EQ(set.take(), number);
  EXPECT_EQ(set.take(), set.kNone);
  set.give_back(100);
  set.give_back(7);
  EXPECT_EQ(set.take(), 7U);
  EXPECT_EQ(set.take(), 100U);
  EXPECT_EQ(set.take(), set.kNone);
}

TEST(IndexSet, KeepsOnlyTheNumberOfTheChildOfAFork) {
  IndexSet<StdAtomics, 2> set;
  for (int i = 0; i < 70; ++i) static_cast<void>(set.take());
  set.keep_only(65);
  for (std::uint32_t number = 0; number < 65; ++number) ASSERT_EQ(set.take(), number);
  EXPECT_EQ(set.take(), 66U);
  set.keep_only(set.kNone);
  EXPECT_EQ(set.take(), 0U);
}

TEST(IndexSet, HandsOverWhatItsHoldersStored) {
  IndexSet<StdAtomics, 1> set;
  struct alignas(64) Owned {
    std::uint64_t count = 0;  // no atomic: one thread has the number
  };
  std::array<Owned, 64> owned;
  const std::uint64_t rounds = test::depth(50'000, 2'000'000);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (std::uint64_t round = 0; round < rounds; ++round) {
        const std::uint32_t number = set.take();
        ++owned[number].count;
        set.give_back(number);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::uint64_t sum = 0;
  for (const Owned& one : owned) sum += one.count;
  EXPECT_EQ(sum, 4 * rounds);
  EXPECT_EQ(owned[4].count, 0U);  // four threads never need a fifth number
}

class ThreadNumbers : public test::FormTest {};

// Each thread is short: it takes a number, counts once and ends.
TEST_P(ThreadNumbers, LoseAndRepeatNothingOverThousandsOfShortThreads) {
  ShardedSet jobs(GetParam());
  ShardedInstance queue = jobs.create("a");
  jobs.look();
  const std::uint64_t all = test::depth(4'000, 250'000);  // of each consistency
  constexpr std::uint64_t kAtATime = 8;
  std::uint64_t last = 0;
  for (std::uint64_t made = 0; made < all; made += kAtATime) {
    std::array<std::thread, kAtATime> threads;
    for (std::thread& thread : threads) {
      thread = std::thread([&queue] {
        queue.update([](ShardValues& values) {
          values.add(Job::kDone, 1);
          values.add(Job::kTwice, 2);
        });
      });
    }
    jobs.collect();
    ASSERT_GE(jobs.value(Job::kDone), last);
    ASSERT_LE(jobs.value(Job::kDone), made + kAtATime);
    last = jobs.value(Job::kDone);
    for (std::thread& thread : threads) thread.join();
    jobs.collect();
    ASSERT_EQ(jobs.value(Job::kDone), made + kAtATime);
    ASSERT_EQ(jobs.value(Job::kTwice), 2 * (made + kAtATime));
  }
}

// A number that is free again is used again, so eight threads at a time never need the shared one.
TEST_P(ThreadNumbers, AreUsedAgain) {
  ShardedSet jobs(GetParam(), 16);
  ShardedInstance queue = jobs.create("a");
  for (int round = 0; round < 100; ++round) {
    std::array<std::thread, 8> threads;
    for (std::thread& thread : threads) {
      thread = std::thread([&queue] { queue.add(Job::kDone, 1); });
    }
    for (std::thread& thread : threads) thread.join();
  }
  jobs.look();
  EXPECT_EQ(jobs.value(Job::kDone), 800U);
  EXPECT_NE(jobs.consistency(), RowConsistency::kSharedCounters);
}

INSTANTIATE_TEST_SUITE_P(OfEachForm, ThreadNumbers, test::all_forms(), test::name_of_form);

}  // namespace
}  // namespace meterbank
