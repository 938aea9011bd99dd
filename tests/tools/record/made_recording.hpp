// SPDX-License-Identifier: Apache-2.0
//
// Recordings of machines that do not exist, and what a reader sees of any recording.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <fstream>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../../reader/replay/hand_made.hpp"
#include "meterbank/reader/replay.hpp"
#include "meterbank/recording/recording.hpp"
#include "meterbank/recording/tick_writer.hpp"

namespace meterbank::record {

struct Machine {
  std::string host = "web1";
  std::string boot = std::string(32, '1');
  std::uint64_t monotonic_ns = 100'000'000'000;  // when CLOCK_REALTIME is 1,700,000,000 s
  std::uint32_t recorder = 1;
  std::string set = "queues";
  std::array<std::string, 4> units = {};  // one for each counter of the set
};

// Two counters, the time since its provider began and a real number, in a row that is stamped. The
// first counter is the number of the second that the row is of; others have odd values in some.
inline Counterset timed_counters(const std::string& name) {
  Counterset set = test::two_counters(name);
  set.form.words = 5;
  set.counters.resize(4);
  for (CounterView& counter : set.counters) counter.more = 4;
  set.counters[2].id = 3;
  set.counters[2].word = 2;
  set.counters[2].type = CounterType::kElapsedTime;
  set.counters[2].name = set.counters[2].symbol = "uptime";
  set.counters[3].id = 4;
  set.counters[3].word = 3;
  set.counters[3].type = CounterType::kLargeRawCount;
  set.counters[3].form = ValueForm::kReal;
  set.counters[3].name = set.counters[3].symbol = "load";
  set.stamp_word = 4;
  return set;
}

inline double load_at(std::uint64_t second) {
  if (second == 3) return std::numeric_limits<double>::quiet_NaN();
  if (second == 4) return std::numeric_limits<double>::infinity();
  if (second == 5) return -1e300;
  return static_cast<double>(second) / 4;
}

class MadeRecording {
 public:
  static constexpr std::uint64_t kStart = 1'700'000'000'000'000'000;
  static constexpr std::uint64_t kSecond = 1'000'000'000;

  explicit MadeRecording(Machine machine) : machine_(std::move(machine)) {
    provider_ = *replay_.add_provider(test::provider_called("shop"));
    Counterset set = timed_counters(machine_.set);
    for (std::size_t one = 0; one < set.counters.size(); ++one) {
      set.counters[one].unit = machine_.units[one];
    }
    set_ = *replay_.add_set(provider_, test::registered(std::move(set)));
    add_row("eu");
    recording::Head head;
    head.host = machine_.host;
    head.boot_id = machine_.boot;
    head.recorder.part1 = machine_.recorder;
    head.rates.push_back({kSecond, machine_.set == "queues" ? "" : machine_.set + "/*"});
    recording::append_head(head, bytes_);
  }

  void add_row(const std::string& name) {
    const auto slot = static_cast<std::uint32_t>(rows_.size());
    rows_.push_back(*replay_.begin_instance(set_, {.slot = slot, .name = name, .generation = 1}));
  }
  // The sample of this second. `late_ns`: of the wall clock; `set_ns`: how far that was set.
  void tick(std::uint64_t second, std::uint64_t late_ns = 0, std::int64_t set_ns = 0) {
    const std::uint64_t since = second * kSecond + late_ns;
    const Timestamp now{machine_.monotonic_ns + since,
                        kStart + since + static_cast<std::uint64_t>(set_ns)};
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      const auto words = replay_.words(set_, rows_[row]);
      words[0] = second;
      words[1] = second == 7 ? ~std::uint64_t{0} : second * 7 + row;
      words[2] = machine_.monotonic_ns - 5 * kSecond;
      words[3] = std::bit_cast<std::uint64_t>(load_at(second));
      words[4] = now.monotonic_ns;
    }
    replay_.show(now);
    if (!query_) query_.emplace(*Query::compile(replay_.catalog(), {}));
    query_->update(replay_.catalog());
    query_->collect(sample_, now);
    const recording::RateInput rate{&*query_, &sample_};
    writer_.tick({replay_.catalog(), {&rate, 1}, now, 1000}, schemas_, bytes_);
  }
  void ticks(std::uint64_t from, std::uint64_t to, std::uint64_t late_ns = 0) {
    for (std::uint64_t second = from; second < to; ++second) tick(second, late_ns);
  }
  void begin_chunk() { writer_.begin_chunk(); }
  // Ticks that no reader can read. Those behind them begin a chunk.
  void unreadable_ticks(std::uint64_t from, std::uint64_t to) {
    const std::size_t begin = bytes_.size();
    ticks(from, to);
    std::fill(bytes_.begin() + static_cast<std::ptrdiff_t>(begin), bytes_.end(), '\x1b');
    begin_chunk();
  }
  void gap(std::uint64_t from, std::uint64_t to) {
    recording::append_gap({recording::GapReason::kLate, to - from - 1, at(from), at(to)}, bytes_);
  }
  void mark(std::uint64_t second, const std::string& text) {
    recording::append_mark({at(second), text}, bytes_);
  }
  [[nodiscard]] std::string& bytes() noexcept { return bytes_; }
  std::string write(const std::string& path) const {
    std::ofstream(path, std::ios::binary) << bytes_;
    return path;
  }

 private:
  [[nodiscard]] Timestamp at(std::uint64_t second) const {
    return {machine_.monotonic_ns + second * kSecond, kStart + second * kSecond};
  }

  Machine machine_;
  Replay replay_;
  ReplayProviderId provider_{};
  ReplaySetId set_{};
  std::vector<ReplayRowId> rows_;
  std::optional<Query> query_;
  Sample sample_;
  recording::TickWriter writer_;
  recording::SchemaNumbers schemas_;
  std::string bytes_;
};

// Of each moment, by its wall clock in milliseconds: the values of its rows that were sampled then,
// "web1 queues/eu/uptime" = 12.
using Moments = std::map<std::uint64_t, std::map<std::string, double>>;

inline Moments moments_of(const std::string& path) {
  Moments moments;
  auto recording = recording::Recording::open(path, {.outside_labels = true});
  EXPECT_TRUE(recording) << recording.error().message();
  if (!recording) return moments;
  std::uint64_t last_ns = 0;
  while (recording->next()) {
    EXPECT_GT(recording->time().realtime_ns, last_ns);
    last_ns = recording->time().realtime_ns;
    auto query = *Query::compile(recording->catalog(), {});
    Sample sample;
    query.collect(sample, recording->time());
    auto& moment = moments[recording->time().realtime_ns / 1'000'000];
    for (const Row& row : sample) {
      const auto rate = recording->rate_of(*row.provider, *row.registered);
      if (!rate || (recording->due() >> *rate & 1U) == 0) continue;
      const std::string& host = row.provider->outside.host;
      for (const Value& value : row) {
        const bool is_cooked = value.kind() == CounterType::kElapsedTime;
        moment[host + " " + row.set().symbol + "/" + std::string(row.name()) + "/" +
               value.symbol()] =
            is_cooked ? value.cooked.value : static_cast<double>(value.raw.value);
      }
    }
  }
  EXPECT_TRUE(recording->damages().empty());
  return moments;
}

}  // namespace meterbank::record
