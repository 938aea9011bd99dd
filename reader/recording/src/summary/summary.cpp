// SPDX-License-Identifier: Apache-2.0
#include "meterbank/recording/summary.hpp"

#include <new>
#include <utility>

#include "summary_frame.hpp"

namespace meterbank::recording {

Result<bool> append_summary(Recording& recording, const ChunkRun& run, std::string& out,
                            std::stop_token stop) {
  EnvelopeRequest request;
  request.from_ns = run.first.realtime_ns;
  request.to_ns = run.last.realtime_ns + 1;
  request.buckets = kSummaryParts;
  request.percentiles.assign(kSummaryPercentiles.begin(), kSummaryPercentiles.end());
  request.cap_percent = false;
  request.bytes_max = kSummaryBytesMax;
  request.stop = std::move(stop);
  auto made = envelope(recording, request);
  if (!made) return tl::make_unexpected(std::move(made.error()));
  if (made->series.empty() || made->was_stopped || !made->damages.empty()) return false;
  try {
    append_summary_frame({.sequence = run.sequence,
                          .chunk = run.offset,
                          .chunks = run.chunks,
                          .from_ns = made->from_ns,
                          .part_ns = made->bucket_ns},
                         made->series, out);
    return true;
  } catch (const std::bad_alloc&) {
    return tl::make_unexpected(out_of_memory());
  }
}

}  // namespace meterbank::recording
