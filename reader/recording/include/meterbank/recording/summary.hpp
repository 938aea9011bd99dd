// SPDX-License-Identifier: Apache-2.0
//
// Summaries: what a plot of a long time needs of some chunks, in a frame of its own. A plot of a
// day has a thousand parts, and the chunks of a day may have a billion values.
//
//   one counter of one row, in a chunk of ten minutes or in ten chunks of six seconds:
//
//   values    ..:.:..|.:::.:|:.::...|::|::.|.:.:..:|..|:.:...|:..:::.|::.:..:.
//   summary   [least greatest last] [least greatest last] ...      kSummaryParts of them
//
// A summary has every counter and the usual percentiles of every distribution, as envelope() makes
// them. Numbers are kept in three bytes: the least is rounded down and the greatest up, by at most
// one part in 32,768. It is written behind the chunks, in the same file or in the next one. Chunks
// without a summary are decoded, so nothing depends on it.
//
// Thread safety  Any number of calls at a time.
// Errors         Those of envelope(). kLimit: the chunks have more counters than a summary takes.
// Progress       As envelope().
// Cost           Decodes the chunks and the one before them. A summary takes up to 74 bytes for a
//                value that changes and one byte for a rate that stays zero.
// Lifetime       Results keep nothing of the recording.
// Units          Nanoseconds of CLOCK_REALTIME; offsets are bytes.
#pragma once

#include <array>
#include <cstdint>
#include <stop_token>
#include <string>

#include "meterbank/base/result.hpp"
#include "meterbank/recording/recording.hpp"

namespace meterbank::recording {

inline constexpr std::size_t kSummaryParts = 8;
inline constexpr std::array kSummaryPercentiles{50.0, 99.0, 99.9};
// Bytes of the buckets of a summary while they are made. With more than 16,384 series there is no
// summary: where thousands of processes come and go, it would be as large as the samples.
inline constexpr std::size_t kSummaryBytesMax = std::size_t{4} << 20U;

// Chunks that follow one another in a file.
struct ChunkRun {
  std::uint64_t sequence = 0;       // Head::sequence of the file
  std::uint64_t offset = 0;         // Chunk::offset of the first one
  std::uint64_t chunks = 0;         // how many they are
  Timestamp first = {}, last = {};  // their earliest and latest moment
};

// Appends the summary frame of a run. False: nothing was appended, because the run has no values,
// part of it cannot be read, or `stop` was requested. Afterwards the recording shows another
// moment.
[[nodiscard]] Result<bool> append_summary(Recording& recording, const ChunkRun& run,
                                          std::string& out, std::stop_token stop = {});

}  // namespace meterbank::recording
