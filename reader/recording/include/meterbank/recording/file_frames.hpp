// SPDX-License-Identifier: Apache-2.0
//
// The frames of a recording that are about files, not values: head, index, gap, mark.
//
// Thread safety  Functions may be called concurrently on different objects.
// Errors         The parse functions return nothing for what does not hold together. Functions that
//                append may throw std::bad_alloc.
// Progress       Linear in the bytes.
// Cost           An index has about 20 bytes a chunk.
// Lifetime       Results keep nothing of the payloads.
// Units          Nanoseconds; offsets in bytes from the beginning of the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "meterbank/base/guid.hpp"
#include "meterbank/reader/sample.hpp"
#include "meterbank/recording/frame.hpp"

namespace meterbank::recording {

// The name of each file in a recording's directory ends in this.
inline constexpr std::string_view kFileSuffix = ".mbr";
// What to try where a file is not a recording.
inline constexpr const char* kNoFrame = "not a recording: it has no complete frame";
inline constexpr const char* kWrittenByRecord = "a file that meterbank record wrote";

// One of the queries of a recording.
struct Rate {
  std::uint64_t interval_ns = 0;  // from tick to tick, as was asked for
  std::string patterns;           // what is recorded, one a line; empty: everything else

  friend bool operator==(const Rate&, const Rate&) = default;
};
// The lines of its patterns.
[[nodiscard]] std::vector<std::string> patterns_of(const Rate& rate);

struct Head {
  std::uint32_t major = kFormatMajor;
  std::uint32_t minor = kFormatMinor;
  Guid recorder;               // new for each run of a recorder
  std::uint64_t sequence = 0;  // numbers the files of one directory
  Timestamp created;
  std::string boot_id;  // identifies this start of the machine, as in pointer records
  std::string host;
  std::uint32_t uid = 0;  // the recorder ran as this user
  std::string program;    // "meterbank 0.1.0"
  std::vector<Rate> rates;
};
void append_head(const Head& head, std::string& out);
// Errors: kCorrupt; kNewerLayout.
[[nodiscard]] Result<Head> parse_head(const Frame& frame);

enum class GapReason : std::uint8_t {
  kLate = 1,     // the recorder could not keep up, or was stopped
  kNoSpace = 2,  // the file system was full
  kWrite = 3,    // writing failed for another reason
};
[[nodiscard]] std::string_view name_of(GapReason reason) noexcept;
struct Gap {
  GapReason reason = GapReason::kLate;
  std::uint64_t ticks = 0;  // that are missing
  Timestamp from, to;
};
void append_gap(const Gap& gap, std::string& out);
[[nodiscard]] std::optional<Gap> parse_gap(const Frame& frame);

struct Mark {
  Timestamp time;
  std::string text;
};
void append_mark(const Mark& mark, std::string& out);
[[nodiscard]] std::optional<Mark> parse_mark(const Frame& frame);

struct Chunk {
  std::uint64_t offset = 0;  // where its key frame begins in the file
  std::uint64_t ticks = 0;
  Timestamp first, last;
};

// A summary may be in a later file than its chunks, see summary.hpp.
struct SummaryPlace {
  std::uint64_t offset = 0;    // where its frame begins in this file
  std::uint64_t sequence = 0;  // Head::sequence of the file that has the chunks
  std::uint64_t chunk = 0;     // Chunk::offset of the first one there
  std::uint64_t chunks = 0;    // how many, one after the other
};

// Where the chunks of a file are. Made of its frames one by one, by who writes and by who reads.
class ChunkIndex {
 public:
  void take(const Frame& frame);

  [[nodiscard]] const std::vector<Chunk>& chunks() const noexcept { return chunks_; }
  [[nodiscard]] const std::vector<std::uint64_t>& schemas() const noexcept { return schemas_; }
  [[nodiscard]] std::uint64_t gaps() const noexcept { return gaps_; }  // frames
  [[nodiscard]] const std::vector<SummaryPlace>& summaries() const noexcept { return summaries_; }

  // Appends the last frame of a file, at this offset, and the trailer.
  void append_to(std::string& out, std::uint64_t offset) const;
  [[nodiscard]] static std::optional<ChunkIndex> parse(const Frame& frame);

 private:
  std::vector<Chunk> chunks_;
  std::vector<std::uint64_t> schemas_;  // offsets of their frames
  std::vector<SummaryPlace> summaries_;
  std::uint64_t gaps_ = 0;
  std::uint64_t step_ = 0;  // between the last two ticks
};
// Where the trailer of a file says that its index frame is. Nothing: it was not ended in order.
[[nodiscard]] std::optional<std::uint64_t> index_offset(
    std::span<const std::byte, kTrailer> trailer);

}  // namespace meterbank::recording
