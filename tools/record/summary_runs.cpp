// SPDX-License-Identifier: Apache-2.0
#include "record/summary_runs.hpp"

#include <utility>

namespace meterbank::record {
namespace {

constexpr std::uint64_t kTicksOfFourChunks = 2'400;

}  // namespace

bool SummaryRuns::is_long_enough(bool ends_file) const noexcept {
  const std::uint64_t taken = run_.last.monotonic_ns - run_.first.monotonic_ns;
  return taken >= least_ns_ ||
         (taken >= least_ns_ / 4 && (ends_file || ticks_ >= kTicksOfFourChunks));
}

std::optional<recording::ChunkRun> SummaryRuns::take(const EndedChunk& ended) noexcept {
  if (least_ns_ == 0) return std::nullopt;
  if (run_.chunks == 0 || run_.sequence != ended.sequence) {
    run_ = {ended.sequence, ended.chunk.offset, 0, ended.chunk.first, {}};
    ticks_ = 0;
  }
  ++run_.chunks;
  run_.last = ended.chunk.last;
  ticks_ += ended.chunk.ticks;
  if (!is_long_enough(ended.ends_file)) return std::nullopt;
  return std::exchange(run_, {});
}

}  // namespace meterbank::record
