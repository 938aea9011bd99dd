// SPDX-License-Identifier: Apache-2.0
//
// Distributions that many threads record in.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

#include "../support/cooked_values.hpp"
#include "../support/sample_words.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace meterbank::recorder_test {
namespace {

enum class Call : std::uint32_t { kLatency, kServed };

constexpr std::array kCallCounters{
    CounterSpec{.id = 1,
                .name = "Latency",
                .symbol = "latency",
                .unit = "s",
                .form = ValueForm::kDistribution,
                .buckets = {.scale = 3, .least = 1, .most = 1000}},
    CounterSpec{.id = 2, .name = "Served/sec", .symbol = "served"},
};

class ShardedRecorderTest : public testing::TestWithParam<std::uint32_t> {
 protected:
  static CountersetSpec spec() {
    return {.name = "Calls",
            .symbol = "calls",
            .shards = GetParam(),
            .sharded = true,
            .counters = kCallCounters};
  }
  Distribution now() {
    query_.collect(sample_);
    const auto rows = test::cooked_values(nullptr, sample_);
    EXPECT_NE(rows.at(0).distribution, nullptr);
    return rows.at(0).distribution != nullptr ? *rows[0].distribution : Distribution();
  }

  test::TemporaryDirectory directory_;
  Provider provider_ = *Provider::create({.name = "calls", .directory = directory_.path()});
  ShardedInstance instance_ = *provider_.add(spec())->create_sharded_instance("one");
  ShardedRecorder recorder_ = instance_.recorder(Call::kLatency);
  Catalog catalog_ = *Catalog::open({.directory = directory_.path()});
  Query query_ = *Query::compile(catalog_, {});
  Sample sample_;
};

TEST_P(ShardedRecorderTest, CountsEverythingOfAllThreads) {
  constexpr int kThreads = 8, kRecorded = 20'000;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      ShardedRecorder recorder = recorder_;
      for (int i = 0; i < kRecorded; ++i) recorder.record(1 + thread);
      recorder.record(std::nan(""));
    });
  }
  for (std::thread& thread : threads) thread.join();
  const Distribution seen = now();
  EXPECT_EQ(seen.count, std::uint64_t{kThreads} * kRecorded);
  EXPECT_EQ(seen.refused, std::uint64_t{kThreads});
  EXPECT_EQ(seen.sum, 36.0 * kRecorded);  // 1 + 2 + ... + 8
  EXPECT_EQ(seen.least, 1.0);
  EXPECT_EQ(seen.most, 8.0);
}

TEST_P(ShardedRecorderTest, TimesTheRegionsOfAllThreads) {
  constexpr int kThreads = 4, kTimed = 1000;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([this] {
      LatencyRecorder latency(recorder_);
      for (int i = 0; i < kTimed; ++i) const LatencyScope scope(latency);
      LatencyScope(latency).discard();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(now().count, std::uint64_t{kThreads} * kTimed);
}

TEST_P(ShardedRecorderTest, KeepsTheExtremesWhateverShardTheyAreIn) {
  recorder_.record(500);
  std::thread([this] { ShardedRecorder(recorder_).record(-3); }).join();
  std::thread([this] { ShardedRecorder(recorder_).record(2000); }).join();
  EXPECT_EQ(now().least, -3.0);
  EXPECT_EQ(now().most, 2000.0);
  EXPECT_EQ(now().below, 1U);
  EXPECT_EQ(now().above, 1U);
}

TEST_P(ShardedRecorderTest, BeginsEachLifeAnew) {
  const Registration set = *provider_.add(
      {.name = "Lives", .symbol = "lives", .shards = GetParam(), .counters = kCallCounters});
  for (int life = 0; life < 1200; ++life) {  // until slots have been used again
    ShardedInstance instance = *set.create_sharded_instance("one");
    instance.recorder(Call::kLatency).record(7);
  }
  ShardedInstance fresh = *set.create_sharded_instance("fresh");
  fresh.recorder(Call::kLatency).record(9);
  catalog_.refresh();
  query_ = *Query::compile(catalog_, {"lives/fresh/latency"});
  const Distribution seen = now();
  EXPECT_EQ(seen.count, 1U);
  EXPECT_EQ(seen.least, 9.0);
}

// In blocks of threads, and of processors where the system has restartable sequences: few buckets.
TEST_P(ShardedRecorderTest, RecordsInOneCommitWithTheCountersBesideIt) {
  constexpr int kThreads = 4, kEach = 20'000;
  std::array counters = kCallCounters;
  counters[0].buckets = {.scale = 0, .least = 1, .most = 1000};
  const Registration set = *provider_.add({.name = "Small calls",
                                           .symbol = "small_calls",
                                           .shards = GetParam(),
                                           .by_processor = true,
                                           .counters = counters});
  ShardedInstance instance = *set.create_sharded_instance("one");
  query_ = *Query::compile(*Catalog::open({.directory = directory_.path()}), {"small_calls/*/*"});
  const ShardedRecorder other = recorder_;  // of a set with more words
  std::vector<std::thread> threads;
  std::atomic<int> running{kThreads};
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int i = 0; i < kEach; ++i) {
        instance.update([&](ShardValues& values) noexcept {
          values.record(instance.recorder(Call::kLatency), i % 700);
          values.add(Call::kServed, 1);
          values.record(ShardedRecorder(), 1);
          values.record(other, 1);
        });
      }
      running.fetch_sub(1, std::memory_order_seq_cst);
    });
  }
  while (running.load(std::memory_order_seq_cst) != 0) {
    query_.collect(sample_, Timestamp{});
    if (content_of(sample_).consistency[0] != RowConsistency::kShards) continue;
    EXPECT_EQ(content_of(sample_).row(0)[0], content_of(sample_).row(0)[1]);
  }
  for (std::thread& thread : threads) thread.join();
  const Distribution seen = now();
  EXPECT_EQ(seen.count, std::uint64_t{kThreads} * kEach);
  EXPECT_EQ(content_of(sample_).row(0)[1], std::uint64_t{kThreads} * kEach);
  EXPECT_EQ(seen.most, 699.0);
}

// Count and parts agree in every snapshot, also where threads share a shard.
TEST_P(ShardedRecorderTest, AgreesInEverySnapshot) {
  constexpr int kSnapshots = 50'000;  // tests/distribution takes more
  std::atomic<bool> done{false};
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 3; ++writer) {
    writers.emplace_back([&] {
      ShardedRecorder recorder = recorder_;
      std::uint32_t state = 1;
      while (!done.load(std::memory_order_relaxed)) {  // relaxed: seen soon enough
        state = state * 1664525 + 1013904223;
        recorder.record(state >> 20);
      }
    });
  }
  std::uint64_t last = 0;
  int without = 0, backwards = 0;
  for (int i = 0; i < kSnapshots; ++i) {
    query_.collect(sample_, Timestamp{});
    const auto rows = test::cooked_values(nullptr, sample_);
    if (!holds_values(content_of(sample_).status[0])) continue;
    if (rows[0].distribution == nullptr) {
      ++without;
      continue;
    }
    if (rows[0].distribution->count < last) ++backwards;
    last = rows[0].distribution->count;
  }
  done.store(true, std::memory_order_relaxed);  // relaxed: orders nothing
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(without, 0);
  EXPECT_EQ(backwards, 0);
  EXPECT_GT(last, 0U);
}

// Shards for all threads, and fewer than there are.
INSTANTIATE_TEST_SUITE_P(Shards, ShardedRecorderTest, testing::Values(16U, 1U));

}  // namespace
}  // namespace meterbank::recorder_test
