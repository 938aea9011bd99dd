// SPDX-License-Identifier: Apache-2.0
//
// Rows of sharded sets that are of one moment.
#include <atomic>
#include <thread>

#include "sharded_fixture.hpp"

namespace meterbank {
namespace {

using test::Job;
using test::ShardedSet;

TEST(ExactShardedRows, AreThoseWithoutWriters) {
  ShardedSet jobs(test::jobs(Consistency::kBlock));
  ShardedInstance a = jobs.create("a"), b = jobs.create("b");
  a.add(Job::kDone, 1);
  std::thread([&] { a.add(Job::kDone, 2); }).join();
  std::thread([&] { b.add(Job::kDone, 3); }).join();
  jobs.look();

  const CollectSummary summary = jobs.collect(Cut::kTry);

  EXPECT_EQ(summary.cut, CutQuality::kExact);
  EXPECT_EQ(jobs.value(Job::kDone, 0), 3U);
  EXPECT_EQ(jobs.value(Job::kDone, 1), 3U);
}

TEST(ExactShardedRows, CannotBeHadOfIndependentCounters) {
  ShardedSet jobs(test::jobs(Consistency::kIndependent));
  ShardedInstance a = jobs.create("a");
  a.add(Job::kDone, 1);
  jobs.look();

  EXPECT_EQ(jobs.collect(Cut::kTry).cut, CutQuality::kPerBlock);
  EXPECT_EQ(jobs.value(Job::kDone), 1U);
}

TEST(ExactShardedRows, CannotBeHadWhereThreadsShare) {
  ShardedSet jobs(test::jobs(Consistency::kBlock, 1));
  ShardedInstance a = jobs.create("a");
  // What an update function counts by itself goes to the block that threads share.
  a.update([&](ShardValues& values) {
    values.add(Job::kDone, 1);
    a.add(Job::kDone, 1);
  });
  jobs.look();

  EXPECT_EQ(jobs.collect(Cut::kTry).cut, CutQuality::kPerBlock);
  EXPECT_EQ(jobs.consistency(), RowConsistency::kSharedCounters);
  EXPECT_EQ(jobs.value(Job::kDone), 2U);
}

// Two threads take turns, each in a block of its own: first a row is counted, then the other one.
TEST(ExactShardedRows, ShowNoEffectWithoutItsCause) {
  ShardedSet jobs(test::jobs(Consistency::kBlock));
  ShardedInstance cause = jobs.create("a"), effect = jobs.create("b");
  jobs.look();
  std::atomic<std::uint64_t> turn{0};
  std::atomic<bool> over{false};
  // The one thread counts the cause, and the other, having seen that, the effect.
  const auto write = [&](std::uint64_t parity, ShardedInstance& row) {
    while (!over.load(std::memory_order_relaxed)) {
      if (turn.load(std::memory_order_acquire) % 2 != parity) {
        std::this_thread::yield();
        continue;
      }
      row.increment(Job::kDone);
      turn.fetch_add(1, std::memory_order_release);
    }
  };
  std::thread first(write, 0, std::ref(cause)), second(write, 1, std::ref(effect));
  std::uint64_t exact = 0;
  const std::uint64_t wanted = test::depth(2000, 500'000);
  bool is_right = true;
  for (std::uint64_t round = 0; round < 200 * wanted && exact < wanted && is_right; ++round) {
    if (jobs.collect(Cut::kTry).cut != CutQuality::kExact) continue;
    ++exact;
    const std::uint64_t causes = jobs.value(Job::kDone, 0), effects = jobs.value(Job::kDone, 1);
    is_right = effects <= causes && causes - effects <= 1;
    EXPECT_TRUE(is_right) << causes << " causes, " << effects << " effects";
  }
  over.store(true, std::memory_order_relaxed);
  first.join();
  second.join();
  EXPECT_GT(exact, 0U);
}

}  // namespace
}  // namespace meterbank
