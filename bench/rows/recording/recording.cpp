// SPDX-License-Identifier: Apache-2.0
//
// Question: what does a value cost in a recording, in time and in bytes?
// Limit: copying the words; FTDC-style and Gorilla beside it.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "baselines.hpp"
#include "generated_rows.hpp"
#include "measure.hpp"
#include "meterbank/recording/row_coder.hpp"
#include "rows.hpp"
#include "workplace.hpp"

namespace meterbank::bench {
namespace {

// One chunk on both sides.
class Chunk {
 public:
  explicit Chunk(const GeneratedRows& rows)
      : rows_(rows), histories_(rows.rows(), recording::RowHistory(rows.columns().size())) {}

  // Returns the bytes of all ticks.
  std::size_t encode() {
    begin(encoder_);
    ticks_.clear();
    ends_.clear();
    for (std::size_t tick = 0; tick < rows_.ticks(); ++tick) {
      encoder_.begin_tick();
      for (std::size_t row = 0; row < rows_.rows(); ++row) {
        encoder_.row(rows_.columns(), rows_.row(tick, row), histories_[row]);
      }
      encoder_.finish_tick(ticks_);
      ends_.push_back(ticks_.size());
    }
    return ticks_.size();
  }
  // What encode() has encoded. Whether the last tick is that of the rows.
  bool decode() {
    begin(decoder_);
    std::size_t start = 0;
    bool is_whole = true;
    for (const std::size_t end : ends_) {
      decoder_.begin_tick(std::as_bytes(std::span(ticks_)).subspan(start, end - start));
      for (std::size_t row = 0; row < rows_.rows(); ++row) {
        decoder_.row(rows_.columns(), histories_[row]);
      }
      is_whole = is_whole && decoder_.finish_tick();
      start = end;
    }
    for (std::size_t row = 0; row < rows_.rows(); ++row) {
      is_whole =
          is_whole && std::ranges::equal(histories_[row].last(), rows_.row(rows_.ticks() - 1, row));
    }
    return is_whole;
  }

 private:
  template <typename Coder>
  void begin(Coder& coder) {
    coder.begin_chunk();
    for (recording::RowHistory& history : histories_) history.reset();
  }

  const GeneratedRows& rows_;
  recording::RowEncoder encoder_;
  recording::RowDecoder decoder_;
  std::vector<recording::RowHistory> histories_;
  std::string ticks_;
  std::vector<std::size_t> ends_;
};

struct Load {
  std::string_view what;
  GeneratedRows (*generate)(std::size_t ticks);
  std::optional<double> hold_ns;
};

void byte_rows(std::string_view what, const GeneratedRows& rows, std::size_t bytes, Table& table) {
  constexpr double kValues = 1000;
  // The figure: 15 % less than FTDC-style.
  constexpr double kShare = 0.85;
  const auto of_values = [&](std::size_t all) {
    return kValues * static_cast<double>(all) / static_cast<double>(rows.values());
  };
  const double ftdc = of_values(ftdc_bytes(rows));
  table.plain_row(fmt::format("{}, 1,000 values", what), of_values(bytes), "B", kShare * ftdc);
  table.plain_row("  FTDC-style: differences, runs of zeros, zlib -6", ftdc, "B", std::nullopt);
  table.plain_row("  Gorilla: XOR", of_values(gorilla_bytes(rows)), "B", std::nullopt);
}

void load_rows(const Load& load, const Effort& effort, Table& table) {
  constexpr std::size_t kTicks = 300, kQuickTicks = 20;
  constexpr unsigned kRoundsMax = 9;
  const GeneratedRows rows = load.generate(effort.operations < 10'000 ? kQuickTicks : kTicks);
  Chunk chunk(rows);
  const std::size_t bytes = chunk.encode();
  if (!chunk.decode()) give_up("a recording was not decoded to what was encoded");
  std::vector<std::uint64_t> copy(rows.rows() * rows.columns().size());
  const auto copy_words = [&] {
    for (std::size_t tick = 0; tick < rows.ticks(); ++tick) {
      std::memcpy(copy.data(), rows.row(tick, 0).data(), copy.size() * sizeof copy[0]);
      keep(copy.data());
    }
  };
  const unsigned rounds = std::min(effort.rounds, kRoundsMax);
  table.time_row(fmt::format("encode a value, {} (limit: copy)", load.what),
                 compare(
                     rounds, rows.values(), [&] { keep(chunk.encode()); }, copy_words),
                 load.hold_ns);
  table.time_row(fmt::format("decode a value, {} (limit: copy)", load.what),
                 compare(
                     rounds, rows.values(), [&] { keep(chunk.decode()); }, copy_words),
                 load.hold_ns);
  byte_rows(load.what, rows, bytes, table);
}

}  // namespace

void recording_rows(const Effort& effort, Table& table) {
  for (const Load& load :
       {Load{"busy counters", busy_counters, 25}, Load{"idle counters", idle_counters, 5},
        Load{"gauges", gauges, 25}, Load{"distributions", distributions, std::nullopt}}) {
    load_rows(load, effort, table);
  }
}

}  // namespace meterbank::bench
