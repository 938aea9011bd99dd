// SPDX-License-Identifier: Apache-2.0
//
// Writers of blocks that belong to processors lose nothing when they move, are interrupted, cannot
// use sequences, or die.
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <random>
#include <thread>

#include "../support/sample_words.hpp"
#include "processors.hpp"

namespace meterbank::processor_writers_test {
namespace {

using test::Blocks;
using test::Form;
using test::goes_by_processor;
using test::Hopper;
using test::Job;
using test::runs_long;
using test::ShardedSet;
using test::shards_of;
using test::transact;

class ProcessorWriters : public testing::TestWithParam<Consistency> {
 protected:
  void SetUp() override {
    if (!test::has_sequences()) GTEST_SKIP();
  }
  [[nodiscard]] static Form form() { return {GetParam(), Blocks::kOfProcessors}; }
  [[nodiscard]] static bool is_block() { return GetParam() == Consistency::kBlock; }
};

// The same changes to both, from one thread that moves about.
TEST_P(ProcessorWriters, CountWhatThreadsWithNumbersCount) {
  ShardedSet by_thread({GetParam(), Blocks::kOfThreads});
  ShardedSet by_processor(form());
  ShardedInstance ones[] = {by_thread.create("a"), by_processor.create("a")};
  ASSERT_FALSE(goes_by_processor(ones[0]));
  ASSERT_TRUE(goes_by_processor(ones[1]));
  by_thread.look();
  by_processor.look();
  Hopper hopper;
  std::mt19937_64 random(7);
  const std::uint64_t steps = test::depth(50'000, 1'000'000);
  for (std::uint64_t step = 0; step < steps; ++step) {
    const std::uint64_t what = random();
    const std::uint64_t value = random() >> (random() % 64);
    const std::uint64_t other = random() % 1000;
    if (what % 64 == 0) hopper.hop();
    for (ShardedInstance& one : ones) {
      switch (what / 64 % 6) {
        case 0:
          one.add(Job::kDone, value);
          break;
        case 1:
          one.raise(Job::kLongest, value / (other + 1));
          break;
        case 2:
          one.lower(Job::kShortest, ~value);
          break;
        case 3:
          one.counter(Job::kOpen).add(other - 500);
          break;
        case 4:
          one.add(99, value);
          break;
        default:
          one.update([&](ShardValues& values) {
            for (std::uint64_t turn = 0; turn < other % 40; ++turn) values.add(Job::kTwice, turn);
            values.raise(Job::kLongest, value % 100'000);
            values.lower(Job::kShortest, value);
            values.add(77, 1);
          });
      }
    }
    if (step % 512 != 0 && step + 1 != steps) continue;
    by_thread.collect();
    by_processor.collect();
    for (const Job job : {Job::kDone, Job::kTwice, Job::kLongest, Job::kShortest, Job::kOpen}) {
      ASSERT_EQ(by_thread.value(job), by_processor.value(job)) << "step " << step;
    }
  }
}

TEST_P(ProcessorWriters, AreAddedUpExactlyWhileTheyMove) {
  constexpr std::size_t kThreads = 16;
  const std::uint64_t each = test::depth(20'000, 1'000'000);
  ShardedSet jobs(form());
  ShardedInstance queue = jobs.create("a");
  std::atomic<std::size_t> running{kThreads};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      Hopper hopper;
      ShardedCounter open = queue.counter(Job::kOpen);
      for (std::uint64_t turn = 0; turn < each; ++turn) {
        if (turn % 100 == 0) hopper.hop();
        transact(queue);
        queue.raise(Job::kLongest, turn);
        open.increment();
      }
      running.fetch_sub(1, std::memory_order_seq_cst);
    });
  }
  jobs.look();
  std::uint64_t last = 0;
  while (running.load(std::memory_order_seq_cst) != 0) {
    jobs.collect();
    if (jobs.status() != RowStatus::kFresh) continue;
    if (is_block()) {
      ASSERT_EQ(jobs.value(Job::kTwice), 2 * jobs.value(Job::kDone));
    }
    ASSERT_GE(jobs.value(Job::kDone), last);
    last = jobs.value(Job::kDone);
  }
  for (std::thread& thread : threads) thread.join();
  jobs.collect();
  EXPECT_EQ(jobs.value(Job::kDone), kThreads * each);
  EXPECT_EQ(jobs.value(Job::kTwice), 2 * kThreads * each);
  EXPECT_EQ(jobs.value(Job::kOpen), kThreads * each);
  EXPECT_EQ(jobs.value(Job::kLongest), each - 1);
  EXPECT_EQ(jobs.consistency(),
            is_block() ? RowConsistency::kShards : RowConsistency::kIndependent);
}

std::atomic<ShardedInstance*> stormed{nullptr};
std::atomic<std::uint64_t> handled{0};

// Returns what is handled now. The same signal is pending once only: a sender that goes on keeps
// the processor from the thread that has to handle it.
std::uint64_t wait_until_handled(std::uint64_t before) {
  std::uint64_t now = before;
  for (; now == before; now = handled.load(std::memory_order_seq_cst)) ::sched_yield();
  return now;
}

// Signals as fast as another thread can send them, wherever they hit.
TEST_P(ProcessorWriters, LoseNothingToAStormOfSignals) {
  ShardedSet jobs(form());
  ShardedInstance queue = jobs.create("a");
  stormed.store(&queue, std::memory_order_seq_cst);
  handled.store(0, std::memory_order_seq_cst);
  struct sigaction action {};
  action.sa_handler = [](int) {
    ShardedInstance& hit = *stormed.load(std::memory_order_seq_cst);
    hit.add(Job::kOpen, 1);
    hit.update([](ShardValues& values) noexcept { values.add(Job::kOpen, 1); });
    handled.fetch_add(2, std::memory_order_seq_cst);
  };
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGUSR1, &action, nullptr);
  const std::uint64_t enough = test::depth(5'000, 100'000);
  std::atomic<bool> over{false};
  std::uint64_t done = 0;
  std::thread writer([&] {
    while (!over.load(std::memory_order_seq_cst)) {
      for (int turn = 0; turn < 100; ++turn) transact(queue);
      done += 100;
    }
  });
  for (std::uint64_t before = 0; before < enough;) {
    ::pthread_kill(writer.native_handle(), SIGUSR1);
    before = wait_until_handled(before);
  }
  over.store(true, std::memory_order_seq_cst);
  writer.join();
  ::signal(SIGUSR1, SIG_DFL);
  jobs.look();
  EXPECT_EQ(jobs.value(Job::kDone), done);
  EXPECT_EQ(jobs.value(Job::kTwice), 2 * done);
  EXPECT_EQ(jobs.value(Job::kOpen), handled.load(std::memory_order_seq_cst));
}

// A handler that moves its thread: what was true of the processor before is not true behind it.
TEST_P(ProcessorWriters, LoseNothingWhenTheyAreMovedBetweenAnyTwoInstructions) {
  ShardedSet jobs(form());
  ShardedInstance queue = jobs.create("a");
  struct sigaction action {};
  handled.store(0, std::memory_order_seq_cst);
  action.sa_handler = [](int) {
    static thread_local int at = 0;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(static_cast<std::size_t>(++at) % test::processors(), &one);
    ::sched_setaffinity(0, sizeof one, &one);  // where this fails, the thread stays
    handled.fetch_add(1, std::memory_order_seq_cst);
  };
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGUSR1, &action, nullptr);
  std::atomic<bool> over{false};
  std::atomic<std::uint64_t> done{0};
  std::vector<std::thread> writers;
  for (int i = 0; i < 2; ++i) {
    writers.emplace_back([&] {
      std::uint64_t mine = 0;
      for (; !over.load(std::memory_order_seq_cst); mine += 100) {
        for (int turn = 0; turn < 100; ++turn) {
          transact(queue);
          queue.add(Job::kOpen, 1);
        }
      }
      done.fetch_add(mine, std::memory_order_seq_cst);
    });
  }
  const std::uint64_t enough = test::depth(2'000, 10'000);
  for (std::uint64_t before = 0; before < enough;) {
    for (std::thread& writer : writers) ::pthread_kill(writer.native_handle(), SIGUSR1);
    before = wait_until_handled(before);
  }
  over.store(true, std::memory_order_seq_cst);
  for (std::thread& writer : writers) writer.join();
  ::signal(SIGUSR1, SIG_DFL);
  jobs.look();
  EXPECT_EQ(jobs.value(Job::kDone), done.load(std::memory_order_seq_cst));
  EXPECT_EQ(jobs.value(Job::kTwice), 2 * done.load(std::memory_order_seq_cst));
  EXPECT_EQ(jobs.value(Job::kOpen), done.load(std::memory_order_seq_cst));
}

// As if another library had taken the registration away in the middle.
TEST_P(ProcessorWriters, ShareWhereTheirThreadIsNotRegistered) {
  ShardedSet jobs(form());
  ShardedInstance queue = jobs.create("a");
  bool unregistered = false;
  std::thread([&] {
    transact(queue);
#if defined(SYS_rseq) && defined(METERBANK_RESTARTABLE)
#if defined(__x86_64__)
    char* pointer = nullptr;
    asm("movq %%fs:0, %0" : "=r"(pointer));
    constexpr std::uint32_t kMark = 0x53053053;
#else
    char* const pointer = static_cast<char*>(__builtin_thread_pointer());
    constexpr std::uint32_t kMark = 0xd428bc00;
#endif
    constexpr int kUnregister = 1;
    for (const std::uint32_t bytes : {32U, 64U}) {
      if (::syscall(SYS_rseq, pointer + shards_of(queue).rseq, bytes, kUnregister, kMark) == 0) {
        unregistered = true;
        break;
      }
    }
#endif
    for (int turn = 0; turn < 1000; ++turn) transact(queue);
    queue.raise(Job::kLongest, 9);
    queue.lower(Job::kShortest, 5);
    queue.counter(Job::kOpen).add(3);
  }).join();
  if (!unregistered) GTEST_SKIP() << "the library registered in a way that is not known here";
  transact(queue);
  jobs.look();
  EXPECT_EQ(jobs.value(Job::kDone), 1002U);
  EXPECT_EQ(jobs.value(Job::kTwice), 2004U);
  EXPECT_EQ(jobs.value(Job::kLongest), 9U);
  EXPECT_EQ(jobs.value(Job::kShortest), 5U);
  EXPECT_EQ(jobs.value(Job::kOpen), 3U);
  EXPECT_EQ(jobs.consistency(),
            is_block() ? RowConsistency::kSharedCounters : RowConsistency::kIndependent);
}

// Each instruction is interrupted, so no sequence ever ends; the counts must.
TEST_P(ProcessorWriters, EndUnderADebuggerThatGoesStepByStep) {
  ShardedSet jobs(form());
  ShardedInstance queue = jobs.create("a");
  const pid_t child = ::fork();
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(77);
    ::raise(SIGSTOP);
    queue.add(Job::kDone, 1);
    transact(queue);
    const detail::Shards& shards = shards_of(queue);
    // The child's pages are its own, so its counts are all there is.
    std::uint64_t done = 0;
    for (std::uint32_t shard = 0; shard <= shards.own; ++shard) {
      done += shards.first[shard].writer.value(static_cast<std::uint32_t>(Job::kDone));
    }
    ::_exit(done == 2 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  int steps = 0;
  for (; WIFSTOPPED(status) && steps < 1'000'000; ++steps) {
    ASSERT_EQ(::ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr), 0);
    ASSERT_EQ(::waitpid(child, &status, 0), child);
  }
  if (WIFSTOPPED(status)) ::kill(child, SIGKILL);
  ASSERT_TRUE(WIFEXITED(status)) << "after " << steps << " steps";
  if (WEXITSTATUS(status) == 77) GTEST_SKIP();
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_P(ProcessorWriters, NeedNoSharedBlockHoweverManyThreadsThereAre) {
  ShardedSet jobs(form(), test::processors());
  ShardedInstance queue = jobs.create("a");
  const std::uint32_t many = shards_of(queue).own + 3;
  std::atomic<std::uint32_t> counted{0};
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < many; ++i) {
    threads.emplace_back([&] {
      transact(queue);
      counted.fetch_add(1, std::memory_order_seq_cst);
      while (counted.load(std::memory_order_seq_cst) != many) std::this_thread::yield();
      transact(queue);
    });
  }
  for (std::thread& thread : threads) thread.join();
  jobs.look();
  EXPECT_EQ(jobs.value(Job::kDone), 2 * many);
  EXPECT_EQ(jobs.consistency(),
            is_block() ? RowConsistency::kShards : RowConsistency::kIndependent);
}

// A provider that is killed in the middle leaves whole rows.
TEST_P(ProcessorWriters, LeaveWholeRowsWhenTheyAreKilled) {
  const std::uint64_t rounds = test::depth(10, 300);
  for (std::uint64_t round = 0; round < rounds; ++round) {
    const test::TemporaryDirectory directory;
    const pid_t child = ::fork();
    if (child == 0) {
      auto provider = Provider::create({.name = "jobs", .directory = directory.path()});
      const auto set = provider->add(test::jobs(GetParam(), test::processors()));
      ShardedInstance queue = *set->create_sharded_instance("a");
      std::vector<std::thread> threads;
      for (int i = 0; i < 3; ++i) {
        threads.emplace_back([&queue] {
          Hopper hopper;
          for (std::uint64_t turn = 0;; ++turn) {
            if (turn % 64 == 0) hopper.hop();
            transact(queue);
          }
        });
      }
      for (;;) ::pause();
    }
    auto catalog = Catalog::open({.directory = directory.path()});
    auto query = Query::compile(*catalog, {"jobs/*/*"});
    Sample sample;
    std::uint64_t seen = 0;
    const auto look = [&] {
      query->collect(sample, Timestamp{});
      if (content_of(sample).status.empty() || !holds_values(content_of(sample).status[0])) return;
      const std::uint64_t done = content_of(sample).row(0)[0];
      EXPECT_GE(done, seen);
      if (is_block()) {
        EXPECT_EQ(content_of(sample).row(0)[1], 2 * done);
      }
      seen = done;
    };
    while (seen < 1000) {
      catalog->refresh();
      query->update(*catalog);
      look();
    }
    ::kill(child, SIGKILL);
    ASSERT_EQ(::waitpid(child, nullptr, 0), child);
    const std::uint64_t before = seen;
    look();
    ASSERT_GE(seen, before);
    ASSERT_FALSE(HasFailure());
  }
}

INSTANTIATE_TEST_SUITE_P(OfEachConsistency, ProcessorWriters,
                         testing::Values(Consistency::kBlock, Consistency::kIndependent),
                         [](const auto& made) {
                           return made.param == Consistency::kBlock ? "Block" : "Independent";
                         });

}  // namespace
}  // namespace meterbank::processor_writers_test
