// SPDX-License-Identifier: Apache-2.0
//
// Rows that are the same in each run, after recordings of a machine and of a service.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "meterbank/recording/row_coder.hpp"

namespace meterbank::bench {

// Ticks of rows of one set.
class GeneratedRows {
 public:
  GeneratedRows(std::vector<recording::Column> columns, std::size_t rows, std::size_t ticks)
      : columns_(std::move(columns)),
        rows_(rows),
        ticks_(ticks),
        words_(columns_.size() * rows * ticks) {}

  [[nodiscard]] std::span<const recording::Column> columns() const noexcept { return columns_; }
  [[nodiscard]] std::size_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::size_t ticks() const noexcept { return ticks_; }
  [[nodiscard]] std::size_t values() const noexcept { return words_.size(); }
  [[nodiscard]] std::span<std::uint64_t> row(std::size_t tick, std::size_t row) noexcept {
    return std::span(words_).subspan((tick * rows_ + row) * columns_.size(), columns_.size());
  }
  [[nodiscard]] std::span<const std::uint64_t> row(std::size_t tick,
                                                   std::size_t row) const noexcept {
    return std::span(words_).subspan((tick * rows_ + row) * columns_.size(), columns_.size());
  }

 private:
  std::vector<recording::Column> columns_;
  std::size_t rows_, ticks_;
  std::vector<std::uint64_t> words_;
};

// Counters of which each moves in each tick, by numbers around a rate of its own.
[[nodiscard]] GeneratedRows busy_counters(std::size_t ticks);
// Processes of a machine: one counter in thirty moves, in bursts; all rows have one time stamp.
[[nodiscard]] GeneratedRows idle_counters(std::size_t ticks);
// Bytes in use, in pages, and temperatures and shares, which are doubles of few places.
[[nodiscard]] GeneratedRows gauges(std::size_t ticks);
// Distributions of 160 buckets, each of which counts some hundred latencies a tick.
[[nodiscard]] GeneratedRows distributions(std::size_t ticks);

}  // namespace meterbank::bench
