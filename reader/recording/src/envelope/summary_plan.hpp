// SPDX-License-Identifier: Apache-2.0
//
// Which chunks of a range are read as summaries, and what is left to decode.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../summary/summary_frame.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/recording/envelope.hpp"
#include "meterbank/recording/recording.hpp"
#include "meterbank/recording/summary.hpp"

namespace meterbank::recording {

struct RunSummary {
  std::string path;          // of the file that has the summary
  std::uint64_t offset = 0;  // of its frame
  ChunkRun run;
};

// A part of the range: begin <= time < end.
struct Stretch {
  std::uint64_t begin_ns = 0, end_ns = 0;
  std::optional<RunSummary> summary;  // nothing: is to be decoded
};

// Whether the answer can come from summaries: what they do not say must not be asked for.
[[nodiscard]] bool may_use_summaries(const EnvelopeRequest& request);

// What is looked for in summaries.
struct WantedSeries {
  std::vector<SummaryName> names;
  std::vector<Glob> providers;  // empty: any
};
// `names` is what the request selects in one chunk. Nothing: in others it may select other names.
[[nodiscard]] std::optional<WantedSeries> wanted_series(const EnvelopeRequest& request,
                                                        std::vector<SummaryName> names);
// Nothing: the frame cannot be read, or is of other chunks.
[[nodiscard]] std::optional<Summary> read_summary(const RunSummary& place,
                                                  const WantedSeries& wanted);

// In the order of time. Precondition: the times of the recording rise.
[[nodiscard]] std::vector<Stretch> stretches_of(std::span<const RecordingFile> files,
                                                const EnvelopeRequest& request);

}  // namespace meterbank::recording
