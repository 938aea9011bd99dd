// SPDX-License-Identifier: Apache-2.0
//
// Puts frames into files: one file, or a ring, which is a directory of files of which the oldest
// are removed. Two threads of its own write and sync, so that who samples never waits for a disk.
//
//   sampling thread     append() --> queue (bounded) --> writer thread: write(2), evict, new files
//                                        ^               syncer thread: fdatasync(2), once a second
//                                        +-- summaries -- summarizer: reads chunks that have ended
//
// What was handed over is in the page cache a moment later, and so survives the death of this
// process; a second later it is on the disk.
//
// Thread safety  One thread at a time; the threads inside are its own.
// Errors         create() and finish() report what the file system says. Bytes that could not be
//                written are lost whole frames at a time, and counted; the recording goes on when
//                there is room again.
// Progress       append() does not wait. finish() waits for the disk.
// Cost           A copy of the bytes.
// Lifetime       The destructor ends the file as finish() does.
// Units          Bytes, nanoseconds.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "meterbank/base/result.hpp"
#include "meterbank/recording/file_frames.hpp"

namespace meterbank::record {

struct AppenderOptions {
  std::string path;              // a file that does not exist, or a directory
  bool is_ring = false;          // `path` is a directory; it is made if it does not exist
  std::uint64_t bytes_max = 0;   // of a ring, all files together; 0: no limit
  std::uint64_t age_max_ns = 0;  // of a ring: files whose last tick is older go; 0: no limit
  std::uint64_t queue_max = std::uint64_t{64} << 20U;  // of bytes that wait for the disk
  // Runs of chunks that take so long get a summary, see meterbank/recording/summary.hpp and
  // summary_runs.hpp; zero: none does. Ten minutes of a sample each second are one chunk.
  std::chrono::nanoseconds summary_least = std::chrono::minutes(4);
};

struct AppenderCounts {
  std::uint64_t bytes = 0;       // that were written
  std::uint64_t files = 0;       // that were begun
  std::uint64_t evicted = 0;     // files that were removed
  std::uint64_t lost = 0;        // appends whose bytes could not be kept
  std::uint64_t ticks_lost = 0;  // of these
  Error last_error;              // why; empty: nothing was lost
};

// Ticks that are missing in a recording, and since when.
struct Losses {
  std::uint64_t late = 0;         // were not taken
  std::uint64_t lost = 0;         // were taken and could not be kept
  std::uint64_t lost_before = 0;  // of these: were lost with other frames
  Timestamp from = {};            // the last tick before them

  [[nodiscard]] bool any() const noexcept { return late != 0 || lost != 0; }
};

// Notices when losses begin and when they end, so that these are said once and not for each tick.
// On a full disk some ticks fit and others do not, so losses end only when none was lost for a
// while.
class LossWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  enum class Change : std::uint8_t { kNone, kBegins, kEnds };
  // To be called after each tick.
  [[nodiscard]] Change look_at(const AppenderCounts& counts, Time now) noexcept {
    constexpr auto kCalm = std::chrono::minutes(1);
    if (std::exchange(lost_, counts.lost) < counts.lost) losing_until_ = now + kCalm;
    const bool is_losing = now < losing_until_;
    const bool was_losing = std::exchange(is_losing_, is_losing);
    if (is_losing == was_losing) return Change::kNone;
    return is_losing ? Change::kBegins : Change::kEnds;
  }

 private:
  std::uint64_t lost_ = 0;
  Time losing_until_ = Time::min();
  bool is_losing_ = false;
};

class Appender {
 public:
  // Takes the path for itself: another recorder on it is refused. Errors: kExists (a file, another
  // recorder), kDenied, kNoSpace, kSystem.
  static Result<Appender> create(AppenderOptions options, recording::Head head);
  Appender(Appender&&) noexcept;
  Appender& operator=(Appender&&) noexcept;
  ~Appender();

  // True: what is appended next stands alone, because a file begins or something was lost. So all
  // streams have to begin a chunk and all schemas have to be written. Said once.
  [[nodiscard]] bool begins_anew();
  // Whole frames. False: they were dropped, because the disk does not keep up. `missing` is what is
  // missing if they are lost: their own tick, and those that their gaps name.
  [[nodiscard]] bool append(std::string_view frames, const Losses& missing = {});
  // What is missing because of appends that were lost since this was asked last.
  [[nodiscard]] Losses take_lost();
  [[nodiscard]] AppenderCounts counts() const;

  // Writes what waits and ends the file with its index.
  Result<void> finish();

 private:
  class State;
  explicit Appender(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace meterbank::record
