// SPDX-License-Identifier: Apache-2.0
//
// What a reader makes of shards.
#include <pthread.h>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>

#include "sharded_fixture.hpp"

namespace meterbank {
namespace {

using test::Job;
using test::ShardedSet;

class JoinedRows : public test::FormTest {
 protected:
  ShardedSet jobs_{GetParam()};
  ShardedInstance queue_ = jobs_.create("a");

  static void in_thread(const std::function<void()>& work) { std::thread(work).join(); }
  // In a thread while all numbers that own a block are taken by others.
  static void in_late_thread(std::uint32_t shards, ShardedInstance& queue,
                             const std::function<void()>& work) {
    std::vector<std::thread> early;
    std::atomic<std::uint32_t> counted{0};
    std::atomic<bool> over{false};
    for (std::uint32_t i = 0; i < shards; ++i) {
      early.emplace_back([&] {
        queue.add(Job::kOpen, 0);
        counted.fetch_add(1, std::memory_order_seq_cst);
        while (!over.load(std::memory_order_seq_cst)) std::this_thread::yield();
      });
    }
    while (counted.load(std::memory_order_seq_cst) != shards) std::this_thread::yield();
    in_thread(work);
    over.store(true, std::memory_order_seq_cst);
    for (std::thread& thread : early) thread.join();
  }
};

TEST_P(JoinedRows, AddUpWhatThreadsCounted) {
  queue_.add(Job::kDone, 1);
  std::vector<std::thread> threads;
  for (std::uint64_t i = 0; i < 3; ++i) {
    threads.emplace_back([this, i] {
      queue_.add(Job::kDone, 10 + i);
      queue_.counter(Job::kTwice).add(2);
      queue_.increment(Job::kTwice);
    });
  }
  for (std::thread& thread : threads) thread.join();
  jobs_.look();
  EXPECT_EQ(jobs_.status(), RowStatus::kFresh);
  EXPECT_EQ(jobs_.value(Job::kDone), 34U);
  EXPECT_EQ(jobs_.value(Job::kTwice), 9U);
}

TEST_P(JoinedRows, WrapLikeTheCountersOfOneThread) {
  queue_.add(Job::kOpen, 5);
  in_thread([this] { queue_.add(Job::kOpen, ~std::uint64_t{0} - 1); });  // minus two
  jobs_.look();
  EXPECT_EQ(jobs_.value(Job::kOpen), 3U);
}

TEST_P(JoinedRows, KeepTheMinimumAndTheMaximum) {
  jobs_.look();
  EXPECT_EQ(jobs_.value(Job::kShortest), 0U);  // of nothing
  const auto job = [this](std::uint64_t took) {
    queue_.raise(Job::kLongest, took);
    queue_.lower(Job::kShortest, took);
  };
  job(50);
  in_thread([&] { job(20); });
  std::thread holds_a_number([&] {
    job(40);
    in_thread([&] { job(90); });
  });
  holds_a_number.join();
  queue_.counter(Job::kLongest).raise(60);
  queue_.counter(Job::kShortest).lower(30);
  jobs_.collect();
  EXPECT_EQ(jobs_.value(Job::kLongest), 90U);
  EXPECT_EQ(jobs_.value(Job::kShortest), 20U);
}

TEST_P(JoinedRows, BeginANewLifeWithoutTheCountsOfTheLast) {
  ShardedSet jobs(GetParam(), 2, {.name = "jobs", .quarantine = std::chrono::milliseconds(0)});
  for (int life = 0; life < 20; ++life) {
    ShardedInstance queue = jobs.create("life");
    in_late_thread(2, queue, [&queue] {  // the shared one too
      queue.add(Job::kDone, 7);
      queue.lower(Job::kShortest, 3);
    });
    queue.update([](ShardValues& values) { values.add(Job::kTwice, 1); });
    jobs.look();
    ASSERT_EQ(jobs.value(Job::kDone), 7U);
    ASSERT_EQ(jobs.value(Job::kTwice), 1U);
    ASSERT_EQ(jobs.value(Job::kShortest), 3U);
    queue.close();
    jobs.look();
  }
}

TEST_P(JoinedRows, StayReadableAfterClosing) {
  jobs_.look();
  in_thread([this] { queue_.add(Job::kDone, 3); });
  queue_.close();
  jobs_.collect();
  EXPECT_EQ(jobs_.status(), RowStatus::kClosed);
  EXPECT_EQ(jobs_.value(Job::kDone), 3U);
}

TEST_P(JoinedRows, IgnoreCountersOutsideTheSchema) {
  queue_.add(5, 1);
  queue_.raise(4096, 1);
  queue_.counter(99).increment();
  queue_.update([](ShardValues& values) { values.add(77, 1); });
  ShardedSet small(GetParam(), 1);
  ShardedInstance queue = small.create("a");
  in_late_thread(1, queue, [&queue] {
    queue.add(5, 1);
    queue.update([](ShardValues& values) { values.add(77, 1); });
  });
  small.look();
  EXPECT_EQ(small.value(Job::kDone), 0U);
}

TEST_P(JoinedRows, SayHowTheyHangTogether) {
  ShardedSet jobs(GetParam(), 2);
  ShardedInstance queue = jobs.create("a");
  queue.add(Job::kDone, 1);
  jobs.look();
  EXPECT_EQ(jobs.consistency(),
            is_block() ? RowConsistency::kShards : RowConsistency::kIndependent);
  in_late_thread(2, queue, [&queue] { queue.add(Job::kDone, 1); });
  jobs.collect();
  const auto of_block = is_of_threads() ? RowConsistency::kSharedCounters : RowConsistency::kShards;
  EXPECT_EQ(jobs.consistency(), is_block() ? of_block : RowConsistency::kIndependent);
  EXPECT_EQ(jobs.value(Job::kDone), 2U);
}

TEST_P(JoinedRows, CountWhatAnUpdateFunctionCountsBesideItsValues) {
  queue_.update([this](ShardValues& values) {
    values.add(Job::kDone, 1);
    queue_.add(Job::kDone, 10);
    queue_.update([](ShardValues& inner) { inner.add(Job::kDone, 100); });
  });
  queue_.add(Job::kDone, 1000);
  jobs_.look();
  EXPECT_EQ(jobs_.value(Job::kDone), 1111U);
}

// pthread runs these behind the destructors of thread_local objects, and behind ours.
TEST_P(JoinedRows, LoseNothingThatAThreadCountsAtItsVeryEnd) {
  struct Last {
    ShardedInstance* queue;
    ~Last() { queue->add(Job::kDone, 1); }
  };
  static pthread_key_t key = [] {
    pthread_key_t made = 0;
    ::pthread_key_create(
        &made, [](void* queue) { static_cast<ShardedInstance*>(queue)->add(Job::kDone, 10); });
    return made;
  }();
  for (int round = 0; round < 100; ++round) {
    in_thread([this] {
      static thread_local Last last{&queue_};
      last.queue = &queue_;
      queue_.add(Job::kDone, 100);
      ::pthread_setspecific(key, &queue_);
    });
  }
  jobs_.look();
  EXPECT_EQ(jobs_.value(Job::kDone), 11'100U);
}

INSTANTIATE_TEST_SUITE_P(OfEachForm, JoinedRows, test::all_forms(), test::name_of_form);

TEST(JoinedBlockRows, HoldNothingOfAnUpdateThatThrows) {
  for (const std::uint32_t own : {2U, 0U}) {  // in a block of its own, and in the shared one
    ShardedSet jobs(test::Form{Consistency::kBlock, test::Blocks::kOfThreads}, 2);
    ShardedInstance queue = jobs.create("a");
    const auto update_that_throws = [&queue] {
      EXPECT_THROW(queue.update([](ShardValues& values) {
        values.add(Job::kDone, 5);
        throw std::runtime_error("no");
      }),
                   std::runtime_error);
      queue.add(Job::kTwice, 1);
    };
    if (own != 0) {
      update_that_throws();
    } else {
      queue.update([&](ShardValues&) { update_that_throws(); });
    }
    jobs.look();
    EXPECT_EQ(jobs.value(Job::kDone), 0U);
    EXPECT_EQ(jobs.value(Job::kTwice), 1U);
    EXPECT_EQ(jobs.consistency(),
              own != 0 ? RowConsistency::kShards : RowConsistency::kSharedCounters);
  }
}

TEST(JoinedBlockRows, KeepWhatTheyReturnedWhenAQueryIsAdapted) {
  ShardedSet jobs(test::jobs(Consistency::kBlock));
  ShardedInstance first = jobs.create("a");
  first.add(Job::kDone, 1);
  jobs.look();
  const ShardedInstance second = jobs.create("b");
  std::thread([&first] { first.add(Job::kDone, 1); }).join();
  jobs.look();
  ASSERT_EQ(jobs.rows(), 2U);
  EXPECT_EQ(jobs.value(Job::kDone, 0), 2U);
  EXPECT_EQ(jobs.value(Job::kDone, 1), 0U);
}

}  // namespace
}  // namespace meterbank
