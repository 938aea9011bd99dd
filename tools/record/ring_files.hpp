// SPDX-License-Identifier: Apache-2.0
//
// The files of a recording while it is made. A single file is a ring of one file that never ends.
//
//   00000016.mbr   ended, with an index
//   00000017.mbr   ended
//   00000018.mbr   being written
//
// Thread safety  One thread at a time; sync() may be called from another one meanwhile.
// Errors         kExists, kDenied, kNoSpace, kLimit, kSystem.
// Progress       Waits for the file system.
// Cost           A system call a write, and what eviction takes.
// Lifetime       Holds the file, and a lock on the path, until it ends.
// Units          Bytes, nanoseconds.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/recording/file_frames.hpp"
#include "meterbank/recording/summary.hpp"

namespace meterbank::record {

struct RingLimits {
  std::string path;
  bool is_ring = false;
  std::uint64_t bytes_max = 0;
  std::uint64_t age_max_ns = 0;
  std::string shown = {};  // what errors call a file that has another name for now; empty: `path`
};

struct EndedChunk {
  std::uint64_t sequence = 0;  // Head::sequence of its file
  recording::Chunk chunk;
  bool ends_file = false;
};

// Of a sample of so many bytes, which no file can have. Its code is kLimit.
[[nodiscard]] Error sample_too_large(std::uint64_t bytes);

class RingFiles {
 public:
  static Result<RingFiles> open(RingLimits limits, recording::Head head);

  // Ends the present file of a ring, unless it has no ticks. On an error there is no file.
  Result<void> begin_file();
  [[nodiscard]] bool has_file() const noexcept { return static_cast<bool>(file_); }
  // Whether so much fits when all older files are gone.
  [[nodiscard]] bool may_hold(std::uint64_t bytes) const noexcept;
  // Whole frames, or nothing. Removes the oldest files where there is no room.
  Result<void> write(std::string_view frames);
  // With its index, if there is room: a file without one is read from its beginning.
  void end_file();
  // What was written is on the disk afterwards. Errors: kNoSpace, kSystem.
  Result<void> sync();
  // The last chunk that was ended by what was written since this was asked last.
  [[nodiscard]] std::optional<EndedChunk> take_ended_chunk() noexcept;
  // The files that the values of this run are computed from: the file of the run and those before
  // it. Empty: one of them is not known, because another recorder wrote it.
  [[nodiscard]] std::vector<recording::RecordingFile> files_of(
      const recording::ChunkRun& run) const;

  [[nodiscard]] std::uint64_t bytes_written() const noexcept { return bytes_written_; }
  [[nodiscard]] std::uint64_t files_begun() const noexcept { return files_begun_; }
  [[nodiscard]] std::uint64_t files_evicted() const noexcept { return files_evicted_; }

 private:
  struct OldFile {
    std::string path;
    std::uint64_t bytes = 0;
    std::uint64_t modified_ns = 0;  // CLOCK_REALTIME
  };

  RingFiles(RingLimits limits, recording::Head head, UniqueFd lock);
  Result<void> list_files();
  [[nodiscard]] bool evict_oldest();
  // False: there is none, whatever is removed.
  [[nodiscard]] bool make_room(std::uint64_t bytes);
  Result<void> open_next_file();
  void note_ended_chunk(bool ends_file);
  void keep_known();
  void sync_later();
  void forget_to_sync(const std::string& path);
  Result<void> write_all(std::string_view bytes);
  [[nodiscard]] std::string path_of(std::uint64_t sequence) const;
  [[nodiscard]] const std::string& shown_path() const noexcept {
    return limits_.shown.empty() ? file_path_ : limits_.shown;
  }

  RingLimits limits_;
  recording::Head head_;
  UniqueFd lock_;   // of the directory
  UniqueFd above_;  // the directory that has path; until it is synced
  UniqueFd file_;
  std::string file_path_;
  std::uint64_t file_size_ = 0;
  recording::ChunkIndex index_;
  std::optional<EndedChunk> ended_chunk_;
  std::deque<recording::RecordingFile> known_;  // the files that ended last, oldest first
  bool knows_all_ = true;                       // no file of the recording is older than these
  std::deque<OldFile> old_;                     // the oldest first
  std::uint64_t old_bytes_ = 0;                 // size of the files in `old_`
  std::uint64_t bytes_written_ = 0;
  std::uint64_t files_begun_ = 0;
  std::uint64_t files_evicted_ = 0;
  // The syncer's own descriptors: of the file that is written, and of those that ended since.
  struct Synced {
    std::mutex mutex;
    std::string path;
    UniqueFd file;
    std::vector<std::pair<std::string, UniqueFd>> ended;  // by path
    bool has_new_file = false;                            // so the directory has to be synced too
  };
  std::unique_ptr<Synced> synced_;
};

}  // namespace meterbank::record
