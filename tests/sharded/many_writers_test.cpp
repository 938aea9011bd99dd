// SPDX-License-Identifier: Apache-2.0
//
// Many threads count one instance while readers look, are killed, and signals come in between.
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <iostream>
#include <latch>
#include <thread>

#include "../support/sample_words.hpp"
#include "../support/sanitizers.hpp"
#include "sharded_fixture.hpp"

namespace meterbank {
namespace {

using test::Blocks;
using test::Job;
using test::runs_long;
using test::ShardedSet;

// One transaction: a reader of a block set that sees some of it sees all. Handlers and ends of
// threads, which may share, count what is open as well, so that a second writer of a block would
// be missed there.
void transact(ShardedInstance& queue) {
  queue.update([](ShardValues& values) noexcept {
    values.add(Job::kDone, 1);
    values.add(Job::kTwice, 2);
    values.add(Job::kOpen, 1);
  });
}

// They begin when all of them run, so that none has ended before another one counts.
class Writers {
 public:
  Writers(ShardedInstance& queue, std::size_t threads, std::uint64_t each)
      : begin_(static_cast<std::ptrdiff_t>(threads)) {
    for (std::size_t i = 0; i < threads; ++i) {
      threads_.emplace_back([this, &queue, each] {
        begin_.arrive_and_wait();
        for (std::uint64_t turn = 0; turn < each; ++turn) transact(queue);
      });
    }
  }
  void join() {
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::latch begin_;
  std::vector<std::thread> threads_;
};

class ManyWriters : public test::FormTest {};

TEST_P(ManyWriters, AreAddedUpExactly) {
  constexpr std::size_t kThreads = 16;
  const std::uint64_t each = test::depth(20'000, 500'000);
  ShardedSet jobs(GetParam(), kThreads + 1);
  ShardedInstance queue = jobs.create("a");
  Writers writers(queue, kThreads, each);
  writers.join();
  jobs.look();
  EXPECT_EQ(jobs.value(Job::kDone), kThreads * each);
  EXPECT_EQ(jobs.value(Job::kTwice), 2 * kThreads * each);
  EXPECT_NE(jobs.consistency(), RowConsistency::kSharedCounters);
}

TEST_P(ManyWriters, AreAddedUpExactlyWhereMostHaveToShare) {
  constexpr std::size_t kThreads = 16;
  const std::uint64_t each = test::depth(20'000, 500'000);
  ShardedSet jobs(GetParam(), 3);
  ShardedInstance queue = jobs.create("a");
  std::atomic<std::size_t> started{0};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      transact(queue);
      started.fetch_add(1, std::memory_order_seq_cst);
      while (started.load(std::memory_order_seq_cst) != kThreads) std::this_thread::yield();
      for (std::uint64_t turn = 1; turn < each; ++turn) transact(queue);
    });
  }
  for (std::thread& thread : threads) thread.join();
  jobs.look();
  EXPECT_EQ(jobs.value(Job::kDone), kThreads * each);
  EXPECT_EQ(jobs.value(Job::kTwice), 2 * kThreads * each);
  const auto of_block = is_of_threads() ? RowConsistency::kSharedCounters : RowConsistency::kShards;
  EXPECT_EQ(jobs.consistency(), is_block() ? of_block : RowConsistency::kIndependent);
}

std::atomic<ShardedInstance*> interrupted{nullptr};
std::atomic<std::uint64_t> handled{0};

// While it lives, a handler counts each 200 us of processor time, in whatever thread it hits.
class CountingSignals {
 public:
  explicit CountingSignals(ShardedInstance& queue) {
    handled.store(0, std::memory_order_seq_cst);
    interrupted.store(&queue, std::memory_order_seq_cst);
    struct sigaction action {};
    action.sa_handler = [](int) {
      ShardedInstance& hit = *interrupted.load(std::memory_order_seq_cst);
      hit.add(Job::kOpen, 1);
      hit.update([](ShardValues& values) noexcept { values.add(Job::kOpen, 1); });
      handled.fetch_add(2, std::memory_order_seq_cst);
    };
    action.sa_flags = SA_RESTART;
    ::sigaction(SIGPROF, &action, nullptr);
    const itimerval fast{{0, 200}, {0, 200}};
    ::setitimer(ITIMER_PROF, &fast, nullptr);
  }
  CountingSignals(const CountingSignals&) = delete;
  CountingSignals& operator=(const CountingSignals&) = delete;
  ~CountingSignals() { stop(); }
  void stop() {
    const itimerval off{};
    ::setitimer(ITIMER_PROF, &off, nullptr);
    ::signal(SIGPROF, SIG_IGN);
  }
};

TEST_P(ManyWriters, LoseNothingToSignalHandlersThatCountToo) {
  ShardedSet jobs(GetParam(), 4);
  ShardedInstance queue = jobs.create("a");
  CountingSignals signals(queue);
  const std::uint64_t enough = test::depth(400, 1'000);
  std::uint64_t rounds = 0;
  constexpr std::uint64_t kEach = 20'000;
  constexpr std::size_t kThreads = 2;
  while (handled.load(std::memory_order_seq_cst) < enough) {
    Writers writers(queue, kThreads, kEach);
    writers.join();
    ++rounds;
  }
  signals.stop();
  jobs.look();
  EXPECT_EQ(jobs.value(Job::kDone), rounds * kThreads * kEach);
  EXPECT_EQ(jobs.value(Job::kTwice), 2 * rounds * kThreads * kEach);
  EXPECT_EQ(jobs.value(Job::kOpen),
            rounds * kThreads * kEach + handled.load(std::memory_order_seq_cst));
}

// The life of a reader process: looks until it is killed. Exits by itself if anything is wrong.
[[noreturn]] void look_until_killed(const std::string& directory, bool is_block, int ready) {
  auto catalog = Catalog::open({.directory = directory});
  auto query = Query::compile(*catalog, {"jobs/*/*"});
  catalog->refresh();
  query->update(*catalog);
  Sample sample;
  query->collect(sample, Timestamp{});
  if (content_of(sample).status.size() != 1) ::_exit(2);
  std::uint64_t last = 0;
  for (std::uint64_t seen = 0;;) {
    query->collect(sample, Timestamp{});
    if (content_of(sample).status[0] == RowStatus::kBusy) continue;
    const std::uint64_t done = content_of(sample).row(0)[0];
    const std::uint64_t twice = content_of(sample).row(0)[1];
    if (is_block && twice != 2 * done) ::_exit(3);
    if (done < last) ::_exit(4);
    last = done;
    if (++seen == 100 && ::write(ready, "x", 1) != 1) ::_exit(5);
  }
}

// A reader process that looks until it is killed, and the next one, until `over`.
void kill_readers(const ShardedSet& jobs, bool is_block, std::atomic<bool>& over,
                  std::uint64_t& killed) {
  // A child of this process may find a sanitizer's own locks held by a thread that it has not.
  if (test::kHasSanitizer) return;
  while (killed < 3 || !over.load(std::memory_order_seq_cst)) {
    std::array<int, 2> pipe{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    const pid_t reader = ::fork();
    if (reader == 0) look_until_killed(jobs.directory(), is_block, pipe[1]);
    ::close(pipe[1]);
    char ready = 0;
    // It has seen a hundred samples, or is gone. A handler that counts may interrupt the wait.
    auto bytes = ::read(pipe[0], &ready, 1);
    while (bytes < 0 && errno == EINTR) bytes = ::read(pipe[0], &ready, 1);
    ::close(pipe[0]);
    ::kill(reader, SIGKILL);
    int status = 0;
    while (::waitpid(reader, &status, 0) < 0 && errno == EINTR) {
    }
    ASSERT_TRUE(bytes == 1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
        << "the reader ended by itself, code " << WEXITSTATUS(status) << ", signal "
        << WTERMSIG(status);
    ++killed;
  }
}

TEST_P(ManyWriters, DoNotMindReadersThatAreKilled) {
  constexpr std::size_t kThreads = 4;
  const std::uint64_t each = test::depth(250'000, 1'000'000);
  ShardedSet jobs(GetParam(), kThreads + 1);
  ShardedInstance queue = jobs.create("a");
  queue.add(Job::kOpen, 0);
  std::atomic<bool> over{false};
  std::thread counting([&] {
    Writers writers(queue, kThreads, each);
    writers.join();
    over.store(true, std::memory_order_seq_cst);
  });
  std::uint64_t killed = 0;
  kill_readers(jobs, is_block(), over, killed);
  counting.join();
  jobs.look();
  EXPECT_EQ(jobs.value(Job::kDone), kThreads * each);
  EXPECT_EQ(jobs.value(Job::kTwice), 2 * kThreads * each);
  std::cout << "  " << killed << " readers killed during " << kThreads * each << " updates\n";
}

INSTANTIATE_TEST_SUITE_P(OfEachForm, ManyWriters, test::all_forms(), test::name_of_form);

class ManyWritersOfABlock : public test::FormTest {};

constexpr std::uint64_t kShortThread = 1'000;  // updates

// A thread counts on when its number is no longer its own. pthread runs this behind what gives the
// number back, because the key is younger.
constexpr std::uint64_t kAtTheEnd = 50;
pthread_key_t key_of_end() {
  static const pthread_key_t key = [] {
    pthread_key_t made = 0;
    ::pthread_key_create(&made, [](void* queue) {
      for (std::uint64_t turn = 0; turn < kAtTheEnd; ++turn) {
        static_cast<ShardedInstance*>(queue)->add(Job::kOpen, 1);
      }
    });
    return made;
  }();
  return key;
}

// A thread that has a number and stops in the middle of its updates until it is told to go on.
struct ShortThread {
  std::thread thread;
  std::atomic<bool> may_end{false};

  void start(ShardedInstance& queue, std::uint64_t number) {
    may_end.store(false, std::memory_order_seq_cst);
    thread = std::thread([this, &queue, number] {
      ::pthread_setspecific(key_of_end(), &queue);
      for (std::uint64_t turn = 0; turn < kShortThread / 2; ++turn) transact(queue);
      may_end.wait(false, std::memory_order_seq_cst);
      for (std::uint64_t turn = 0; turn < kShortThread / 2; ++turn) transact(queue);
      queue.raise(Job::kLongest, number);
    });
  }
  void let_end() {
    may_end.store(true, std::memory_order_seq_cst);
    may_end.notify_one();
  }
};

// Sixteen threads at a time, four of them on their way out and about to be replaced, until there
// were enough of them and of the handlers. Returns how many threads there were.
std::uint64_t count_in_short_threads(ShardedInstance& queue, std::uint64_t enough) {
  constexpr std::uint64_t kThreads = 16;
  constexpr std::uint64_t kEnding = 4;
  constexpr std::uint64_t kHandled = 20;
  std::array<ShortThread, kThreads> threads;
  std::uint64_t made = 0;
  while (made < enough || handled.load(std::memory_order_seq_cst) < kHandled) {
    ShortThread& place = threads[made % kThreads];
    if (place.thread.joinable()) place.thread.join();
    place.start(queue, ++made);
    threads[(made + kEnding - 1) % kThreads].let_end();
  }
  for (ShortThread& place : threads) {
    place.let_end();
    if (place.thread.joinable()) place.thread.join();
  }
  return made;
}

struct Storm {
  test::Form form;
  std::uint32_t shards;                 // blocks of threads
  std::uint64_t threads, threads_long;  // that come and go
};
class ManyWritersInAStorm : public testing::TestWithParam<Storm> {
 protected:
  void SetUp() override {
    if (GetParam().form.blocks == Blocks::kOfProcessors && !test::has_sequences()) GTEST_SKIP();
  }
};

TEST_P(ManyWritersInAStorm, AreAddedUpExactly) {
  const std::uint64_t enough = test::depth(GetParam().threads, GetParam().threads_long);
  ShardedSet jobs(GetParam().form, GetParam().shards);
  ShardedInstance queue = jobs.create("a");
  queue.add(Job::kOpen, 0);
  CountingSignals signals(queue);
  std::atomic<bool> over{false};
  std::uint64_t threads = 0;
  std::thread counting([&] {
    threads = count_in_short_threads(queue, enough);
    over.store(true, std::memory_order_seq_cst);
  });
  std::uint64_t killed = 0;
  // Where threads share, a reader may see half a transaction.
  const bool is_whole =
      GetParam().form.consistency == Consistency::kBlock && GetParam().shards > 16;
  kill_readers(jobs, is_whole, over, killed);
  counting.join();
  signals.stop();
  jobs.look();
  const std::uint64_t updates = threads * kShortThread;
  EXPECT_EQ(jobs.value(Job::kDone), updates);
  EXPECT_EQ(jobs.value(Job::kTwice), 2 * updates);
  EXPECT_EQ(jobs.value(Job::kLongest), threads);
  EXPECT_EQ(jobs.value(Job::kOpen),
            updates + threads * kAtTheEnd + handled.load(std::memory_order_seq_cst));
  std::cout << "  " << updates << " updates by " << threads << " threads and "
            << handled.load(std::memory_order_seq_cst) << " by handlers, " << killed
            << " readers killed\n";
}

constexpr test::Form kOfThreads[] = {{Consistency::kBlock, Blocks::kOfThreads},
                                     {Consistency::kIndependent, Blocks::kOfThreads}};
constexpr test::Form kOfProcessors[] = {{Consistency::kBlock, Blocks::kOfProcessors},
                                        {Consistency::kIndependent, Blocks::kOfProcessors}};

// Blocks for all threads, for few of them, and of processors.
INSTANTIATE_TEST_SUITE_P(
    OfEachForm, ManyWritersInAStorm,
    testing::Values(Storm{kOfThreads[0], 24, 400, 100'000}, Storm{kOfThreads[1], 24, 400, 100'000},
                    Storm{kOfThreads[0], 3, 100, 10'000}, Storm{kOfThreads[1], 3, 100, 10'000},
                    Storm{kOfProcessors[0], 24, 400, 20'000},
                    Storm{kOfProcessors[1], 24, 400, 20'000}),
    [](const auto& made) {
      return test::name_of_form({made.param.form, made.index}) + std::to_string(made.param.shards);
    });

// Every transaction that ended before a read is in it, none that began after it is; each is in as a
// whole; nothing runs backwards.
TEST_P(ManyWritersOfABlock, AreReadTransactionByTransaction) {
  constexpr std::size_t kThreads = 3;
  struct alignas(kLinePair) Progress {
    std::atomic<std::uint64_t> begun{0}, ended{0};
  };
  std::array<Progress, kThreads> progress;
  ShardedSet jobs(GetParam(), kThreads + 1);
  ShardedInstance queue = jobs.create("a");
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (Progress& mine : progress) {
    threads.emplace_back([&] {
      std::uint64_t turn = 0;
      while (!over.load(std::memory_order_relaxed)) {  // relaxed: any time will do
        // release, both: what is claimed is seen with or before what it is claimed of.
        mine.begun.store(++turn, std::memory_order_release);
        transact(queue);
        mine.ended.store(turn, std::memory_order_release);
      }
    });
  }
  const auto sum = [&](std::atomic<std::uint64_t> Progress::*which) {
    std::uint64_t all = 0;
    // acquire: pairs with the releases above.
    for (Progress& one : progress) all += (one.*which).load(std::memory_order_acquire);
    return all;
  };
  jobs.look();
  const std::uint64_t looks = test::depth(20'000, 1'000'000);
  std::uint64_t last = 0;
  std::uint64_t moved = 0;
  for (std::uint64_t look = 0; look < looks || moved < 100; ++look) {
    const std::uint64_t ended = sum(&Progress::ended);
    jobs.collect();
    if (jobs.status() != RowStatus::kFresh) continue;  // a checkpoint is older by its nature
    const std::uint64_t begun = sum(&Progress::begun);
    const std::uint64_t done = jobs.value(Job::kDone);
    ASSERT_EQ(jobs.value(Job::kTwice), 2 * done);
    ASSERT_GE(done, ended);
    ASSERT_LE(done, begun);
    ASSERT_GE(done, last);
    moved += done != last ? 1U : 0U;
    last = done;
  }
  over.store(true, std::memory_order_relaxed);
  for (std::thread& thread : threads) thread.join();
  jobs.collect();
  EXPECT_EQ(jobs.value(Job::kDone), sum(&Progress::ended));
}

INSTANTIATE_TEST_SUITE_P(OfEachForm, ManyWritersOfABlock,
                         testing::Values(test::Form{Consistency::kBlock, test::Blocks::kOfThreads},
                                         test::Form{Consistency::kBlock,
                                                    test::Blocks::kOfProcessors}),
                         test::name_of_form);

}  // namespace
}  // namespace meterbank
