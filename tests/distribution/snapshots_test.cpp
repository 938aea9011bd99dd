// SPDX-License-Identifier: Apache-2.0
//
// What a reader sees of distributions while threads record in them as fast as they can.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <iostream>
#include <numeric>
#include <thread>
#include <vector>

#include "../support/depth.hpp"
#include "../support/recorded_pattern.hpp"
#include "../support/sample_words.hpp"
#include "../support/temporary_directory.hpp"
#include "meterbank/publisher.hpp"
#include "meterbank/reader.hpp"

namespace meterbank::snapshots_test {
namespace {

using test::RecordedPattern;
using Shape = DistributionShape;

enum class Call : std::uint32_t { kLatency, kServed };

constexpr std::array kFewBuckets{
    CounterSpec{.id = 1,
                .name = "Latency",
                .symbol = "latency",
                .form = ValueForm::kDistribution,
                .buckets = RecordedPattern::kBuckets},
    CounterSpec{.id = 2, .name = "Served/sec", .symbol = "served"},
};
constexpr std::array kManyBuckets{
    CounterSpec{.id = 1,
                .name = "Latency",
                .symbol = "latency",
                .form = ValueForm::kDistribution,
                .buckets = {.scale = 5, .least = 1e-3, .most = 1e3}},
    CounterSpec{.id = 2, .name = "Served/sec", .symbol = "served"},
};

// Threads that repeat one action from the construction to the end.
class HotThreads {
 public:
  template <typename Work>  // work(thread, turn)
  HotThreads(std::uint32_t count, Work work) {
    for (std::uint32_t thread = 0; thread < count; ++thread) {
      threads_.emplace_back([this, thread, work]() mutable {
        auto turn = work(thread);
        // relaxed: seen soon enough
        while (!over_.load(std::memory_order_relaxed)) turn();
      });
    }
  }
  HotThreads(const HotThreads&) = delete;
  HotThreads& operator=(const HotThreads&) = delete;
  ~HotThreads() { stop(); }
  void stop() {
    over_.store(true, std::memory_order_relaxed);  // relaxed: orders nothing
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

 private:
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

class Snapshots : public testing::Test {
 protected:
  Registration add(std::span<const CounterSpec> counters, std::uint32_t shards = 0) {
    return *provider_.add({.name = "Calls",
                           .symbol = "calls",
                           .shards = shards,
                           .sharded = shards != 0,
                           .counters = counters});
  }
  // Takes so many snapshots that hold values, and more until the row has moved often enough.
  // look(words) judges each; false is a fault.
  template <typename Look>
  void take(std::uint64_t wanted, Look look) {
    catalog_.refresh();
    query_ = *Query::compile(catalog_, {"calls/*/latency"});
    const CounterView& counter = *plan_of(query_)->selections[0].set->set->find("latency");
    place_ = {counter.shape, counter.word, counter.more};
    const std::size_t words = test::block_of(*plan_of(query_), 0).words;
    std::uint64_t last = 0, taken = 0;
    // On a busy machine writers may begin late.
    for (std::uint64_t moved = 0; taken < wanted || moved <= 100;) {
      query_.collect(sample_, Timestamp{});
      if (!holds_values(content_of(sample_).status[0])) {
        ++busy_;
        continue;
      }
      ++taken;
      if (content_of(sample_).status[0] == RowStatus::kFresh) ++fresh_;
      const std::span<const std::uint64_t> row{content_of(sample_).row(0), words};
      const std::uint64_t count = row[place_.own];
      if (!look(row) || count < last) ++wrong_;
      if (count != last) ++moved;
      last = count;
    }
    std::cout << "  " << taken << " snapshots, " << fresh_ << " of them fresh, beside " << last
              << " recorded values; " << busy_ << " attempts at nothing\n";
  }
  [[nodiscard]] Distribution now() {
    query_.collect(sample_, Timestamp{});
    const std::size_t words = test::block_of(*plan_of(query_), 0).words;
    return *Distribution::of(place_, {content_of(sample_).row(0), words});
  }
  [[nodiscard]] bool has_whole_parts(std::span<const std::uint64_t> row) const {
    const auto more = row.subspan(place_.more);
    const std::uint64_t parts =
        std::accumulate(&more[Shape::kBuckets], &more[Shape::kBuckets] + place_.shape.buckets,
                        more[Shape::kBelow] + more[Shape::kAbove]);
    return parts == row[place_.own];
  }

  test::TemporaryDirectory directory_;
  Provider provider_ = *Provider::create({.name = "calls", .directory = directory_.path()});
  Catalog catalog_ = *Catalog::open({.directory = directory_.path()});
  Query query_ = *Query::compile(catalog_, {});
  Sample sample_;
  DistributionPlace place_;
  std::uint64_t busy_ = 0, fresh_ = 0, wrong_ = 0;
};

// Every word of the row is what one number of recorded values makes it.
TEST_F(Snapshots, AreConsistentForOneBusyRecorder) {
  Instance one = *add(kFewBuckets).create_instance("one");
  HotThreads writer(1, [&one](std::uint32_t) {
    return [recorder = one.recorder(Call::kLatency), index = std::uint64_t{0}]() mutable {
      recorder.record(RecordedPattern::value(index++));
    };
  });
  std::uint64_t newest = 0;
  take(test::depth(300'000, 12'000'000), [&](std::span<const std::uint64_t> row) {
    const auto recorded = RecordedPattern::recorded(place_, row);
    if (!recorded || *recorded < newest) return false;
    newest = *recorded;
    return true;
  });
  EXPECT_EQ(wrong_, 0U);
}

// With values that stay the same, the sum follows from the buckets; each thread goes through them
// in turn, so that no two parts are further apart than there are threads.
bool is_of_turns(const DistributionPlace& place, std::span<const std::uint64_t> row,
                 std::uint64_t threads) {
  const auto more = row.subspan(place.more);
  const std::array parts{more[Shape::kBelow],       more[Shape::kBuckets],
                         more[Shape::kBuckets + 1], more[Shape::kBuckets + 2],
                         more[Shape::kBuckets + 3], more[Shape::kAbove],
                         more[Shape::kRefused]};
  double sum = 0;
  for (std::uint64_t at = 0; at + 1 < parts.size(); ++at) {
    sum += static_cast<double>(parts[at]) * RecordedPattern::value(at, 1);
    if (parts[at] - parts[at + 1] > threads) return false;  // 2^64 - x where it is negative
  }
  if (std::bit_cast<double>(more[Shape::kSum]) != sum) return false;
  if (row[place.own] == 0) return true;
  const auto is_in = [&parts](std::uint64_t at) { return parts[at] != 0; };
  std::uint64_t first = 0, last = 5;
  while (!is_in(first)) ++first;
  while (!is_in(last)) --last;
  return std::bit_cast<double>(more[Shape::kLeast]) == RecordedPattern::value(first, 1) &&
         std::bit_cast<double>(more[Shape::kMost]) == RecordedPattern::value(last, 1);
}

auto records_in_turns(ShardedInstance& one) {
  return [&one](std::uint32_t) {
    return [recorder = one.recorder(Call::kLatency), index = std::uint64_t{0}]() mutable {
      recorder.record(RecordedPattern::value(index++ % RecordedPattern::kTurn, 1));
    };
  };
}

TEST_F(Snapshots, HoldEachValueOfTwoThreadsWhollyOrNotAtAll) {
  constexpr std::uint32_t kThreads = 2;
  ShardedInstance one = *add(kFewBuckets, 8).create_sharded_instance("one");
  HotThreads writers(kThreads, records_in_turns(one));
  take(test::depth(200'000, 12'000'000), [&](std::span<const std::uint64_t> row) {
    return has_whole_parts(row) && is_of_turns(place_, row, kThreads);
  });
  EXPECT_EQ(wrong_, 0U);
  EXPECT_EQ(content_of(sample_).consistency[0], RowConsistency::kShards);
}

// The sum and the extremes may lag behind, the count may not.
TEST_F(Snapshots, CountTheBucketsOfThreadsThatShare) {
  constexpr std::uint32_t kThreads = 3;
  ShardedInstance one = *add(kFewBuckets, 1).create_sharded_instance("one");
  HotThreads writers(kThreads, records_in_turns(one));
  take(test::depth(200'000, 2'500'000),
       [&](std::span<const std::uint64_t> row) { return has_whole_parts(row); });
  EXPECT_EQ(wrong_, 0U);
  writers.stop();
  const Distribution rest = now();
  EXPECT_TRUE(is_of_turns(
      place_, {content_of(sample_).row(0), place_.more + place_.shape.more_words()}, kThreads));
  EXPECT_EQ(content_of(sample_).consistency[0], RowConsistency::kSharedCounters);
  EXPECT_EQ(rest.least, -0.5);
  EXPECT_EQ(rest.most, 101.0);
}

// Hundreds of words: a commit and a copy of them overlap for longer.
TEST_F(Snapshots, AgreeForManyBuckets) {
  Instance one = *add(kManyBuckets).create_instance("one");
  HotThreads writer(1, [&one](std::uint32_t) {
    return [recorder = one.recorder(Call::kLatency), state = std::uint32_t{1}]() mutable {
      state = state * 1664525 + 1013904223;
      recorder.record(1e-4 * (state >> 8));
    };
  });
  take(test::depth(50'000, 500'000),
       [&](std::span<const std::uint64_t> row) { return has_whole_parts(row); });
  EXPECT_EQ(wrong_, 0U);
}

// ---- Control: a recorder with two commits a value must be found ----

TEST_F(Snapshots, ControlOfARecorderWithTwoCommitsFindsThemApart) {
  Instance one = *add(kFewBuckets).create_instance("one");
  HotThreads writer(1, [&one](std::uint32_t) {
    const Recorder recorder = one.recorder(Call::kLatency);
    const DistributionPlace place = recorder.distribution();
    return [&one, place]() {
      one.add(place.more + place.shape.word_of(4), 1);
      one.add(place.own, 1);
    };
  });
  std::uint64_t apart = 0;
  while (apart == 0) {
    take(1, [&](std::span<const std::uint64_t> row) {
      apart += has_whole_parts(row) ? 0U : 1U;
      return true;
    });
  }
  EXPECT_GT(apart, 0U);
}

}  // namespace
}  // namespace meterbank::snapshots_test
