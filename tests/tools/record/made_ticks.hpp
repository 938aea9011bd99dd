// SPDX-License-Identifier: Apache-2.0
//
// Ticks to be appended, and what recordings have of them.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "../../reader/replay/hand_made.hpp"
#include "../../support/temporary_directory.hpp"
#include "meterbank/reader/replay.hpp"
#include "meterbank/recording/recording.hpp"
#include "meterbank/recording/tick_writer.hpp"
#include "record/appender.hpp"

namespace meterbank::record {

inline constexpr std::uint64_t kSecond = 1'000'000'000;

// Of a provider whose first counter is the number of the tick, and whose other rows do not repeat.
class MadeTicks {
 public:
  explicit MadeTicks(std::uint32_t rows) {
    const auto provider = *replay_.add_provider(test::provider_called("made"));
    set_ = *replay_.add_set(provider, test::registered(test::two_counters()));
    for (std::uint32_t slot = 0; slot < rows; ++slot) {
      rows_.push_back(*replay_.begin_instance(
          set_, {.slot = slot, .name = std::to_string(slot), .generation = slot + 1}));
    }
    replay_.show(now_);
    query_.emplace(*Query::compile(replay_.catalog(), {}));
  }

  // The frames of the next tick.
  std::string next(bool begins_anew) {
    if (begins_anew) {
      writer_.begin_chunk();
      schemas_ = {};
    }
    now_.monotonic_ns += kSecond;
    now_.realtime_ns += kSecond;
    ++number_;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      replay_.words(set_, rows_[row])[0] = row == 0 ? number_ : noise();
      replay_.words(set_, rows_[row])[1] = noise();
    }
    replay_.show(now_);
    query_->collect(sample_, now_);
    const recording::RateInput rate{&*query_, &sample_};
    std::string bytes;
    writer_.tick({replay_.catalog(), {&rate, 1}, now_, 0}, schemas_, bytes);
    return bytes;
  }
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

 private:
  std::uint64_t noise() noexcept {
    noise_ = noise_ * 6364136223846793005U + 1442695040888963407U;
    return noise_ >> 8U;
  }

  Replay replay_;
  ReplaySetId set_{};
  std::vector<ReplayRowId> rows_;
  std::optional<Query> query_;
  Sample sample_;
  recording::TickWriter writer_;
  recording::SchemaNumbers schemas_;
  Timestamp now_{kSecond, 1'700'000'000 * kSecond};
  std::uint64_t number_ = 0;
  std::uint64_t noise_ = 1;
};

struct ReadBack {
  std::vector<std::uint64_t> numbers;  // value of the first counter in each tick
  std::uint64_t gap_ticks = 0;
  std::size_t damages = 0;
  std::size_t files = 0, ended = 0;
};

inline ReadBack read_back(const std::string& path, const std::vector<std::string>& patterns = {}) {
  ReadBack back;
  auto recording = recording::Recording::open(path);
  EXPECT_TRUE(recording) << recording.error().message();
  if (!recording) return back;
  while (recording->next()) {
    auto query = *Query::compile(recording->catalog(), patterns);
    Sample sample;
    query.collect(sample, recording->time());
    const Rows rows = sample.rows();
    if (rows.begin() == rows.end()) continue;
    back.numbers.push_back((*(*rows.begin()).begin()).raw.value);
  }
  for (const recording::Gap& gap : recording->gaps()) back.gap_ticks += gap.ticks;
  back.damages = recording->damages().size();
  back.files = recording->files().size();
  for (const recording::RecordingFile& file : recording->files())
    back.ended += file.is_ended ? 1 : 0;
  return back;
}

inline std::uint64_t bytes_in(const std::string& directory) {
  std::uint64_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(directory)) bytes += file.file_size();
  return bytes;
}

}  // namespace meterbank::record
