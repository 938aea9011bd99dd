// SPDX-License-Identifier: Apache-2.0
//
// Question: what does it cost to record a value so that another process can read the distribution,
// and to time a region?
// Figure: 10 ns, and 12 ns from any thread, however many there are.
// Limits: a histogram of this process alone in the manner of HdrHistogram (log-linear buckets,
// plain increments), and the same behind a mutex, which is how most libraries let another thread
// read it. Values are spread over four decades, so that bucket and branch are not always the same
// ones.
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <functional>
#include <mutex>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "../../tests/support/sample_words.hpp"
#include "meterbank/reader.hpp"
#include "rows.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

constexpr std::size_t kValues = 1 << 16;  // more than a processor learns to foresee

constexpr std::array kCounters{
    CounterSpec{.id = 1,
                .name = "Latency",
                .symbol = "latency",
                .unit = "s",
                .form = ValueForm::kDistribution,
                .buckets = {.scale = 4, .least = 1e-6, .most = 10}},
    CounterSpec{.id = 2, .name = "Served/sec", .symbol = "served"},
};
constexpr CountersetSpec kSet{.name = "Calls", .symbol = "calls", .counters = kCounters};
constexpr CountersetSpec kSharded{
    .name = "All Calls", .symbol = "all_calls", .sharded = true, .counters = kCounters};

// 2^5 linear buckets in each factor of two, of nanoseconds: a relative error of 1.6 %.
class LogLinear {
 public:
  void record(std::uint64_t value) noexcept {
    constexpr unsigned kBits = 5;
    const auto exponent = static_cast<unsigned>(std::bit_width(value | (1U << kBits)) - 1);
    const unsigned shift = exponent - kBits;
    ++buckets_[(shift << kBits) + (value >> shift)];
    ++count_;
    sum_ += value;
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  std::array<std::uint64_t, std::size_t{65} << 5> buckets_{};
  std::uint64_t count_ = 0, sum_ = 0, least_ = UINT64_MAX, most_ = 0;
};

struct RandomValues {
  std::vector<double> seconds;
  std::vector<std::uint64_t> nanoseconds;

  RandomValues() {
    std::mt19937_64 random(7);
    std::uniform_real_distribution<double> exponents(-6, -2);
    for (std::size_t i = 0; i < kValues; ++i) {
      seconds.push_back(std::pow(10, exponents(random)));
      nanoseconds.push_back(static_cast<std::uint64_t>(seconds.back() * 1e9));
    }
  }
};

[[gnu::noinline]] void record_all(Recorder& recorder, const std::vector<double>& values,
                                  std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) recorder.record(values[turn % kValues]);
}
[[gnu::noinline]] void record_all(ShardedRecorder& recorder, const std::vector<double>& values,
                                  std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) recorder.record(values[turn % kValues]);
}
[[gnu::noinline]] void record_all(LogLinear& histogram, const std::vector<std::uint64_t>& values,
                                  std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) histogram.record(values[turn % kValues]);
}
[[gnu::noinline]] void record_locked(std::mutex& mutex, LogLinear& histogram,
                                     const std::vector<std::uint64_t>& values,
                                     std::uint64_t turns) {
  for (std::uint64_t turn = 0; turn < turns; ++turn) {
    const std::lock_guard lock(mutex);
    histogram.record(values[turn % kValues]);
  }
}

void recording(const Effort& effort, Table& table, Instance& instance) {
  const RandomValues values;
  const std::uint64_t turns = effort.operations;
  Recorder recorder = instance.recorder(0);
  LogLinear alone;
  std::mutex mutex;
  const auto recorded = [&] { record_all(recorder, values.seconds, turns); };
  table.time_row("record a value (limit: log-linear, this process alone)",
                 compare(effort.rounds, turns, recorded,
                         [&] { record_all(alone, values.nanoseconds, turns); }),
                 10.0);
  table.ratio_row("record a value (limit: log-linear behind a mutex)",
                  compare(effort.rounds, turns, recorded,
                          [&] { record_locked(mutex, alone, values.nanoseconds, turns); }),
                  1.0);
  keep(alone.count());
  table.ratio_row("record a value in an update with a count (limit: the same alone)",
                  compare(
                      effort.rounds, turns,
                      [&] {
                        for (std::uint64_t turn = 0; turn < turns; ++turn) {
                          instance.update([&](Values& update) noexcept {
                            update.add(1, 1);
                            update.record(recorder, values.seconds[turn % kValues]);
                          });
                        }
                      },
                      recorded),
                  {});
}

// A second thread that does what `work` says, on another processor if there is one.
class Second {
 public:
  explicit Second(std::function<void()> work)
      : thread_([this, work = std::move(work)](const std::stop_token& over) {
          cpu_set_t there;
          CPU_ZERO(&there);
          for (std::size_t i = 1; i < CPU_SETSIZE; ++i) CPU_SET(i, &there);
          static_cast<void>(::sched_setaffinity(0, sizeof there, &there));
          while (!over.stop_requested()) {
            work();
            runs_.store(true, std::memory_order_relaxed);  // relaxed: any time will do
          }
        }) {
    while (!runs_.load(std::memory_order_relaxed)) std::this_thread::yield();  // relaxed: as above
  }

 private:
  std::atomic<bool> runs_{false};
  std::jthread thread_;
};

// Both threads record into one distribution, or both into one histogram behind one mutex.
void recording_from_threads(const Effort& effort, Table& table, ShardedInstance& instance) {
  const RandomValues values;
  const std::uint64_t turns = effort.operations / 4;
  ShardedRecorder recorder = instance.recorder(0);
  LogLinear histogram;
  std::mutex mutex;
  std::atomic<bool> locked{false};  // relaxed, all: which of the two the second thread does, soon
  const auto record = [&](std::uint64_t count) {
    if (locked.load(std::memory_order_relaxed)) {
      record_locked(mutex, histogram, values.nanoseconds, count);
    } else {
      record_all(recorder, values.seconds, count);
    }
  };
  const auto row = [&](const char* what, double hold_ns) {
    const auto side = [&](bool is_locked) {
      return [&, is_locked] {
        locked.store(is_locked, std::memory_order_relaxed);
        record(turns);
      };
    };
    table.time_row(what, compare(effort.rounds, turns, side(false), side(true)), hold_ns);
  };
  row("record a value, sharded, one thread (limit: log-linear behind a mutex)", 12.0);
  const Second second([&] { record(turns / 64); });
  row("record a value, sharded, two threads, each (limit: the same)", 12.0);
}

void timing(const Effort& effort, Table& table, const Instance& instance) {
  LatencyRecorder latency(instance.recorder(0));
  LatencyRecorder kernel(instance.recorder(0), TickClock::monotonic());
  const std::uint64_t turns = effort.operations;
  const auto time_nothing = [turns](LatencyRecorder<>& recorder) {
    for (std::uint64_t turn = 0; turn < turns; ++turn) const LatencyScope scope(recorder);
  };
  table.ratio_row(
      latency.clock().kind() == LatencyClock::kProcessor
          ? "time a region by the processor's clock (limit: by CLOCK_MONOTONIC)"
          : "time a region: no clock but CLOCK_MONOTONIC here",
      compare(
          effort.rounds, turns, [&] { time_nothing(latency); }, [&] { time_nothing(kernel); }),
      {});
  LatencyChain chain(latency.clock());
  table.ratio_row("time a region that follows another one, by a chain (limit: by a scope)",
                  compare(
                      effort.rounds, turns,
                      [&] {
                        for (std::uint64_t turn = 0; turn < turns; ++turn) chain.record(latency);
                      },
                      [&] { time_nothing(latency); }),
                  {});
}

void reading(const Effort& effort, Table& table, const Workplace& workplace) {
  const Catalog catalog = must(Catalog::open({.directory = workplace.directory()}));
  Query query = must(Query::compile(catalog, {"calls"}));
  Sample sample;
  query.prepare(sample);
  const std::uint64_t turns = std::max<std::uint64_t>(16, effort.operations / 64);
  const std::size_t words = plan_of(query)->words;
  std::vector<std::uint64_t> source(words, 1), target(words);
  table.ratio_row(
      "snapshot of one distribution, " + std::to_string(words) + " words (limit: memcpy)",
      compare(
          effort.rounds, turns,
          [&] {
            for (std::uint64_t turn = 0; turn < turns; ++turn) query.collect(sample, Timestamp{});
          },
          [&] {
            for (std::uint64_t turn = 0; turn < turns; ++turn) {
              std::copy(source.begin(), source.end(), target.begin());
              keep(target.data());
            }
          }),
      {});
}

}  // namespace

void distribution_rows(const Effort& effort, Table& table) {
  Workplace workplace;
  Provider provider =
      must(Provider::create({.name = "recorded", .directory = workplace.directory()}));
  const Registration set = must(provider.add(kSet));
  Instance instance = must(set.create_instance("one"));
  recording(effort, table, instance);
  ShardedInstance all = must(must(provider.add(kSharded)).create_sharded_instance("one"));
  recording_from_threads(effort, table, all);
  timing(effort, table, instance);
  reading(effort, table, workplace);
}

}  // namespace meterbank::bench
