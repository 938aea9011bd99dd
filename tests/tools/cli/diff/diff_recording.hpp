// SPDX-License-Identifier: Apache-2.0
//
// Recordings of a few counters, made tick by tick.
#pragma once

#include <unistd.h>

#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../../../reader/replay/hand_made.hpp"
#include "meterbank/reader/query.hpp"
#include "meterbank/recording/file_frames.hpp"
#include "meterbank/recording/tick_writer.hpp"

namespace meterbank::cli {

inline constexpr std::uint64_t kDiffSecond = 1'000'000'000;
inline constexpr std::uint64_t kDiffBegin = 1'764'000'000;  // seconds since 1970

// Provider `orders` with instances of two counters: a count and a level.
class DiffRecording {
 public:
  explicit DiffRecording(std::uint64_t begin_s = kDiffBegin, Counterset set = test::two_counters(),
                         std::vector<std::string> instances = {"eu", "us"},
                         const std::vector<std::string>& patterns_of_rates = {""},
                         std::string provider = "orders")
      : name_(std::move(provider)), schema_(std::move(set)), names_(std::move(instances)) {
    time_ = {begin_s * kDiffSecond, begin_s * kDiffSecond};
    recording::Head head;
    for (const std::string& patterns : patterns_of_rates) {
      head.rates.push_back({kDiffSecond, patterns});
    }
    append_head(head, bytes_);
    begin_provider();
  }

  void begin_provider() {
    ReplayedProvider facts = test::provider_called(name_, lives_);
    facts.uid = ::getuid();
    facts.pid = 42 + lives_;
    facts.start_time = 1 + lives_;
    provider_ = *replay_.add_provider(facts);
    set_ = *replay_.add_set(provider_, test::registered(schema_));
    rows_.clear();
    for (std::uint32_t slot = 0; slot < names_.size(); ++slot) {
      rows_.push_back(
          *replay_.begin_instance(set_, {.slot = slot, .name = names_[slot], .generation = 1}));
    }
    ++lives_;
  }
  // The same provider again, as another process whose counters begin at zero.
  void restart() {
    replay_.remove_provider(provider_);
    begin_provider();
  }
  void move_clock(std::int64_t seconds) {
    time_.realtime_ns += static_cast<std::uint64_t>(seconds * std::int64_t{1'000'000'000});
    writer_.begin_chunk();
  }
  void add_gap(std::uint64_t ticks) {
    recording::Gap gap;
    gap.ticks = ticks;
    gap.from = time_;
    time_.monotonic_ns += ticks * kDiffSecond;
    time_.realtime_ns += ticks * kDiffSecond;
    gap.to = time_;
    append_gap(gap, bytes_);
    writer_.begin_chunk();
  }
  // Ticks in which each instance counts `rate` on average, around a level of 50.
  void ticks(unsigned number, std::uint64_t rate) {
    for (; number > 0; --number) {
      for (const ReplayRowId row : rows_) {
        const auto words = replay_.words(set_, row);
        words[0] += rate * (900 + noise() % 201) / 1000;
        words[1] = 40 + noise() % 21;
      }
      write();
    }
  }
  void each_row(const std::function<void(std::span<std::uint64_t>)>& change) {
    for (const ReplayRowId row : rows_) change(replay_.words(set_, row));
  }
  void write() {
    replay_.show(time_);
    if (!query_) query_.emplace(*Query::compile(replay_.catalog(), {}));
    query_->update(replay_.catalog());
    query_->collect(sample_, time_);
    const recording::RateInput rate{&*query_, &sample_};
    writer_.tick({replay_.catalog(), {&rate, 1}, time_, 1000}, schemas_, bytes_);
    time_.monotonic_ns += kDiffSecond;
    time_.realtime_ns += kDiffSecond;
  }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }
  void save(const std::string& path) const { std::ofstream(path, std::ios::binary) << bytes_; }

 private:
  std::uint64_t noise() noexcept {
    noise_ = noise_ * 6364136223846793005U + 1442695040888963407U;
    return noise_ >> 33U;
  }

  std::string name_;
  Counterset schema_;
  std::vector<std::string> names_;
  Replay replay_;
  ReplayProviderId provider_{};
  ReplaySetId set_{};
  std::vector<ReplayRowId> rows_;
  std::optional<Query> query_;
  Sample sample_;
  recording::TickWriter writer_;
  recording::SchemaNumbers schemas_;
  Timestamp time_;
  std::string bytes_;
  std::uint64_t noise_ = 1;
  std::uint32_t lives_ = 0;
};

}  // namespace meterbank::cli
