// SPDX-License-Identifier: Apache-2.0
//
// Question: what does it cost to count one instance from any thread?
// Limit: U as in publish.cpp. Baselines: one atomic word, and a mutex around an ordinary instance.
// Rows "by number" are of blocks that belong to threads, rows "by processor" of blocks that belong
// to processors, where the system has restartable sequences.
#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <thread>

#include "blocks.hpp"
#include "rows.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

constexpr std::size_t kTurning = 1024;

[[gnu::noinline]] void bare_hot(SharedWord& word, std::uint64_t turns) {
  // U. relaxed: one writer, and nothing is ordered by it.
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    word.store(word.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
}
[[gnu::noinline]] void bare_turning(SharedWord* const* words, std::uint64_t turns) {
  // U over kTurning words in turn, relaxed as above.
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    SharedWord& word = *words[turn % kTurning];
    word.store(word.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
}
[[gnu::noinline]] void add_atomic(SharedWord& word, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    word.fetch_add(1, std::memory_order_relaxed);  // relaxed: it orders nothing
  }
}
[[gnu::noinline]] void add_locked(std::mutex& mutex, Instance& instance, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    const std::lock_guard lock(mutex);
    instance.add(0, 1);
  }
}
[[gnu::noinline]] void add_sharded(ShardedInstance& instance, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) instance.add(0, 1);
}
[[gnu::noinline]] void increment_sharded(ShardedCounter& counter, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) counter.increment();
}
[[gnu::noinline]] void update_sharded(ShardedInstance& instance, std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    instance.update([](ShardValues& values) noexcept {
      for (std::uint32_t word = 0; word < 8; ++word) values.add(word, 1);
    });
  }
}

// The loops stay on one processor; a second thread needs another, if there is one.
void go_elsewhere() noexcept {
  cpu_set_t there;
  CPU_ZERO(&there);
  for (std::size_t processor = 1; processor < CPU_SETSIZE; ++processor) CPU_SET(processor, &there);
  static_cast<void>(::sched_setaffinity(0, sizeof there, &there));
}

// A second thread that does the same all the time.
template <typename F>
class Beside {
 public:
  explicit Beside(F work)
      : thread_([this, work] {
          go_elsewhere();
          // relaxed: any time will do
          while (!over_.load(std::memory_order_relaxed)) {
            work();
            runs_.store(true, std::memory_order_relaxed);
          }
        }) {
    while (!runs_.load(std::memory_order_relaxed)) std::this_thread::yield();  // relaxed: as above
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;
  ~Beside() {
    over_.store(true, std::memory_order_relaxed);  // relaxed: as above
    thread_.join();
  }

 private:
  std::atomic<bool> over_{false};
  std::atomic<bool> runs_{false};
  std::thread thread_;
};

template <typename F>
Comparison to_u(const Effort& effort, std::uint64_t turns, F& work) {
  static const Blocks bare({.words = 8, .consistency = Consistency::kIndependent}, kTurning);
  static const std::vector<SharedWord*> words = bare.first_words();
  return compare_to_slower(
      effort.rounds, turns, [&] { work(turns); }, [&] { bare_hot(*words.front(), turns); },
      [&] { bare_turning(words.data(), turns); });
}

template <typename F>
void both_rows(const Effort& effort, Table& table, const char* what, F work,
               std::optional<double> limit_of_one) {
  const std::uint64_t turns = effort.operations / 4;
  table.ratio_row(fmt::format("{}, one thread (limit: U)", what), to_u(effort, turns, work),
                  limit_of_one);
  const Beside second([work, turns] { work(turns / 8); });
  table.ratio_row(fmt::format("{}, two threads, each (limit: U)", what), to_u(effort, turns, work),
                  {});
}

enum class By { kNumber, kProcessor };

ShardedInstance sharded(Workplace& workplace, Consistency consistency, std::uint32_t shards,
                        By by) {
  SetShape shape{.consistency = consistency, .many = false, .shards = shards};
  shape.checkpoint = consistency == Consistency::kBlock;
  ::setenv("METERBANK_RSEQ", by == By::kNumber ? "0" : "1", 1);
  const Registration set = workplace.add(shape);
  ::unsetenv("METERBANK_RSEQ");
  return must(set.create_sharded_instance("i"));
}

void processor_rows(const Effort& effort, Table& table) {
  if (detail::rseq_area() == 0) {
    return table.note_row("increment from any thread, by processor", "no restartable sequences");
  }
  Workplace workplace;
  const auto shards = static_cast<std::uint32_t>(std::max(8L, ::sysconf(_SC_NPROCESSORS_CONF)));
  ShardedInstance independent =
      sharded(workplace, Consistency::kIndependent, shards, By::kProcessor);
  ShardedInstance block = sharded(workplace, Consistency::kBlock, shards, By::kProcessor);
  ShardedCounter counter = independent.counter(0U);
  both_rows(
      effort, table, "increment from any thread, by processor",
      [&counter](std::uint64_t turns) { increment_sharded(counter, turns); }, 1.7);
  both_rows(
      effort, table, "commit 1 of 8, by processor",
      [&block](std::uint64_t turns) { add_sharded(block, turns); }, std::nullopt);
  both_rows(
      effort, table, "commit 8 of 8, by processor",
      [&block](std::uint64_t turns) { update_sharded(block, turns); }, std::nullopt);
}

}  // namespace

void shard_rows(const Effort& effort, Table& table) {
  processor_rows(effort, table);
  Workplace workplace;
  ShardedInstance independent = sharded(workplace, Consistency::kIndependent, 8, By::kNumber);
  ShardedInstance block = sharded(workplace, Consistency::kBlock, 8, By::kNumber);
  // The first thread that counts has the one block that is there for a thread, the others share.
  ShardedInstance crowded = sharded(workplace, Consistency::kIndependent, 1, By::kNumber);
  const Beside first([&crowded] {
    crowded.add(0, 1);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  const SetShape shape{.many = false, .checkpoint = true};
  const Registration plain = workplace.add(shape);
  std::vector<Instance> instances = workplace.fill(plain, shape, 1);
  std::mutex mutex;
  alignas(kLinePair) SharedWord word{0};

  const auto by = [](ShardedInstance& instance) {
    return [&instance](std::uint64_t turns) { add_sharded(instance, turns); };
  };
  both_rows(effort, table, "increment, sharded, independent, by number", by(independent), 6);
  both_rows(effort, table, "commit 1 of 8, sharded, by number", by(block), 6);
  both_rows(
      effort, table, "commit 8 of 8, sharded, by number",
      [&block](std::uint64_t turns) { update_sharded(block, turns); }, 20);
  both_rows(effort, table, "increment, in the shared block", by(crowded), 4);
  both_rows(
      effort, table, "increment of an atomic word",
      [&word](std::uint64_t turns) { add_atomic(word, turns); }, 4);
  both_rows(
      effort, table, "commit 1 of 8 under a mutex",
      [&](std::uint64_t turns) { add_locked(mutex, instances[0], turns); }, 30);
}

}  // namespace meterbank::bench
