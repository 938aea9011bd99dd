// SPDX-License-Identifier: Apache-2.0
//
// A recording, read back as the rows that a reader saw when it was made.
//
//   auto recording = Recording::open("/var/log/meterbank");
//   auto query = Query::compile(recording->catalog(), {"orders/*/latency"});
//   recording->seek(eight_minutes_past_three);
//   while (recording->next()) {
//     query->update(recording->catalog());
//     query->collect(newer, recording->time());
//     for (const Row& row : newer.since(older)) ...
//   }
//
// Thread safety  One thread at a time per object; different objects are independent.
// Errors         open() fails if the path cannot be read or has no recording. Damage within one is
//                not an error: whole parts are shown, and damages() lists the others. Functions may
//                throw std::bad_alloc.
// Progress       Reads files and waits for nothing else. What a file says cannot make a function
//                read beyond it or go on without end.
// Cost           open() reads the head and the index of each file; of a file that was not ended it
//                reads all. seek() decodes at most a chunk. next() decodes a tick.
// Lifetime       Files are held open, so they may be evicted while they are read.
// Units          Nanoseconds; offsets and sizes in bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "meterbank/base/result.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/query.hpp"
#include "meterbank/reader/sample.hpp"
#include "meterbank/recording/file_frames.hpp"

namespace meterbank::recording {

struct RecordingFile {
  std::string path;
  std::uint64_t bytes = 0;
  Head head;
  ChunkIndex index;
  bool is_ended = false;         // in order: it has an index
  std::uint64_t unfinished = 0;  // bytes behind the last whole frame, of one that was not ended
};

// Returns when the last chunk that begins at or before this time (CLOCK_REALTIME) begins, or the
// time itself if there is none. All rates are due at the first moment of a chunk, except in merged
// recordings.
[[nodiscard]] std::uint64_t chunk_before(std::span<const RecordingFile> files,
                                         std::uint64_t realtime_ns) noexcept;

// How much of what a query selects was sampled at one moment. Sets that no rate of the recorder
// selects do not count.
enum class Coverage : std::uint8_t { kNone, kSome, kAll };

// A place where a recording is not what was written, or was not written.
struct Damage {
  std::string path;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  // how many bytes were skipped
  std::string what;
};

class Recording {
 public:
  // A file, or a directory of files. The options mean what they mean live; a directory among them
  // means nothing. Errors: kNotFound, kDenied, kCorrupt, kNewerLayout, kSystem, kNoSpace, and
  // kInvalidArgument if the path is neither a regular file nor a directory.
  static Result<Recording> open(const std::string& path, CatalogOptions options = {});
  // The same for files whose heads and indexes the caller knows, oldest first. Opens the files and
  // reads nothing yet. Precondition: `files` is not empty. Errors: those of opening a file;
  // kNotFound if one was removed.
  static Result<Recording> open(std::vector<RecordingFile> files, CatalogOptions options = {});
  Recording(Recording&&) noexcept;
  Recording& operator=(Recording&&) noexcept;
  ~Recording();

  [[nodiscard]] std::span<const RecordingFile> files() const noexcept;
  // The earliest and the latest tick. Zeros without any.
  [[nodiscard]] Timestamp first() const noexcept;
  [[nodiscard]] Timestamp last() const noexcept;

  // Skips values, which are most of the cost of decoding: moments then have their providers, sets
  // and instances, and all rows are kBusy. Precondition: no moment was shown yet.
  void leave_values_out() noexcept;
  // Shows the last moment at or before this time (CLOCK_REALTIME), of several the last in the
  // recording. False: there is none, and nothing has changed.
  [[nodiscard]] bool seek(std::uint64_t realtime_ns);
  // Shows the next moment. After open() it is the first one. False: there is none.
  [[nodiscard]] bool next();
  // Whether seek() or next() has shown a moment.
  [[nodiscard]] bool is_somewhere() const noexcept;

  // Of the moment that is shown.
  [[nodiscard]] Timestamp time() const noexcept;
  [[nodiscard]] std::uint64_t window_ns() const noexcept;
  // A bit for each rate of the head whose rows were sampled then; the others are as they were.
  [[nodiscard]] std::uint64_t due() const noexcept;
  // How much of what the query selects was sampled at that moment. Only between two moments with
  // all of it are the rates of its counters right.
  [[nodiscard]] Coverage coverage_of(const Query& query) const;
  // Which rate of the recorder samples the set; nothing: its rows are not recorded.
  [[nodiscard]] std::optional<std::uint32_t> rate_of(const ProviderView& provider,
                                                     const RegisteredSet& registered) const;
  [[nodiscard]] Catalog& catalog() noexcept;
  [[nodiscard]] const Catalog& catalog() const noexcept;

  // The damage found so far, at most 1,000 places. Gaps that the recorder noted are not damage.
  [[nodiscard]] std::span<const Damage> damages() const noexcept;
  [[nodiscard]] std::span<const Gap> gaps() const noexcept;  // that were passed
  [[nodiscard]] std::span<const Mark> marks() const noexcept;

 private:
  struct State;
  explicit Recording(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace meterbank::recording
