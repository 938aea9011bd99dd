// SPDX-License-Identifier: Apache-2.0
//
// Puts chunks that follow one another in a file together until they are worth a summary: one chunk
// of ten minutes, or ten of six seconds.
//
// Thread safety  One thread at a time.
// Units          Nanoseconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "meterbank/recording/summary.hpp"
#include "record/ring_files.hpp"

namespace meterbank::record {

class SummaryRuns {
 public:
  // A run ends when it is as long as `least`. A quarter of that is enough for one with as many
  // samples as four full chunks, beside which its summary is small too, and for the last one of a
  // file. Zero: there are no runs.
  explicit SummaryRuns(std::chrono::nanoseconds least) noexcept
      : least_ns_(static_cast<std::uint64_t>(least.count())) {}

  // Nothing: the run goes on.
  [[nodiscard]] std::optional<recording::ChunkRun> take(const EndedChunk& ended) noexcept;

 private:
  [[nodiscard]] bool is_long_enough(bool ends_file) const noexcept;

  std::uint64_t least_ns_;
  recording::ChunkRun run_;
  std::uint64_t ticks_ = 0;  // of the run
};

}  // namespace meterbank::record
