// SPDX-License-Identifier: Apache-2.0
#include "record/appender.hpp"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <new>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "record/ring_files.hpp"
#include "record/summarizer.hpp"
#include "record/summary_runs.hpp"

namespace meterbank::record {
namespace {

// A file of a ring is this part of it, so that what is evicted at a time is little of it.
constexpr std::uint64_t kFilesOfRing = 32;
constexpr std::uint64_t kFileBytesLeast = std::uint64_t{64} << 10U;
constexpr std::uint64_t kFileBytesMost = std::uint64_t{16} << 20U;
constexpr auto kFileAgeLeast = std::chrono::seconds(1);
constexpr auto kSyncPeriod = std::chrono::milliseconds(900);

std::uint64_t file_bytes_of(const AppenderOptions& options) noexcept {
  if (!options.is_ring) return ~std::uint64_t{0};
  if (options.bytes_max == 0) return kFileBytesMost;
  return std::clamp(options.bytes_max / kFilesOfRing, kFileBytesLeast, kFileBytesMost);
}

}  // namespace

// What both sides share lies under `mutex`. The files belong to the writer thread, except that the
// syncer has a descriptor of its own of the file that is written.
class Appender::State {
 public:
  State(AppenderOptions options, RingFiles files)
      : options_(std::move(options)),
        files_(std::move(files)),
        runs_(options_.summary_least),
        summarizer_(std::in_place,
                    [this](std::string frames) { append_summary(std::move(frames)); }) {}
  ~State() { static_cast<void>(finish()); }

  Result<void> start();
  [[nodiscard]] bool begins_anew();
  [[nodiscard]] bool append(std::string_view frames, const Losses& missing);
  [[nodiscard]] Losses take_lost();
  [[nodiscard]] AppenderCounts counts();
  Result<void> finish();

 private:
  struct Piece {
    std::string frames;
    Losses missing;
    bool stands_alone = false;
    bool begins_file = false;
    bool is_summary = false;  // nothing that is recorded depends on it
  };

  void write_pieces();
  [[nodiscard]] std::optional<Error> write_piece(const Piece& piece);
  [[nodiscard]] std::optional<Error> try_to_write(const Piece& piece);
  void append_summary(std::string frames);
  void summarize_ended_chunk();
  void sync_files();
  void sync_now();
  void lose(Error error, const Losses& missing);
  [[nodiscard]] bool is_file_full() const;

  AppenderOptions options_;
  RingFiles files_;              // of the writer thread, and of finish() when that has ended
  bool is_behind_loss_ = false;  // of the writer thread
  std::uint64_t file_bytes_ = file_bytes_of(options_);

  std::mutex mutex_;
  std::condition_variable work_, stop_syncing_;
  std::deque<Piece> queue_;
  std::uint64_t queued_ = 0;   // bytes
  std::uint64_t in_file_ = 0;  // bytes that were handed over for the present file
  bool is_broken_ = true;      // the next piece has to stand alone
  bool stands_alone_ = false;  // it does: begins_anew() was asked
  std::chrono::steady_clock::time_point file_begun_ = std::chrono::steady_clock::now();
  Losses lost_;  // since take_lost()
  bool is_ending_ = false;
  bool is_finished_ = false;
  AppenderCounts counts_;
  std::thread writer_, syncer_;
  SummaryRuns runs_;                      // used by the writer thread
  std::optional<Error> sync_error_;       // of the syncer, and of finish() when that has ended
  std::optional<Summarizer> summarizer_;  // of the writer thread, until finish() ends it
};

Result<void> Appender::State::start() {
  // Signals are for the threads of the program.
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  Result<void> started;
  try {
    writer_ = std::thread([this] { write_pieces(); });
    syncer_ = std::thread([this] { sync_files(); });
  } catch (const std::system_error& error) {
    started = fail(ErrorCode::kSystem, "cannot start a thread for " + options_.path,
                   "a larger ulimit -u", error.code().value());
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

bool Appender::State::begins_anew() {
  const std::lock_guard lock(mutex_);
  if (stands_alone_ || (!is_broken_ && !is_file_full())) return false;
  stands_alone_ = true;
  return true;
}

// With `mutex_` held. A file of a ring covers a part of its time, too.
bool Appender::State::is_file_full() const {
  if (in_file_ >= file_bytes_) return true;
  if (!options_.is_ring || options_.age_max_ns == 0) return false;
  const auto part = std::max<std::chrono::nanoseconds>(
      kFileAgeLeast, std::chrono::nanoseconds(options_.age_max_ns / kFilesOfRing));
  return in_file_ != 0 && std::chrono::steady_clock::now() - file_begun_ >= part;
}

bool Appender::State::append(std::string_view frames, const Losses& missing) {
  const std::lock_guard lock(mutex_);
  if (frames.size() > options_.queue_max) {
    lose(sample_too_large(frames.size()), missing);
    return false;
  }
  if (is_finished_ || queued_ + frames.size() > options_.queue_max) {
    lose(Error{ErrorCode::kNoSpace, 0, "the disk does not keep up",
               "a longer -i, or another file system"},
         missing);
    return false;
  }
  try {
    queue_.push_back(
        {std::string(frames), missing, stands_alone_, stands_alone_ && is_file_full()});
  } catch (const std::bad_alloc&) {
    lose(out_of_memory(), missing);
    return false;
  }
  if (queue_.back().begins_file) {
    in_file_ = 0;
    file_begun_ = std::chrono::steady_clock::now();
  }
  if (stands_alone_) is_broken_ = stands_alone_ = false;
  queued_ += frames.size();
  in_file_ += frames.size();
  work_.notify_one();
  return true;
}

// Behind what waits: it may be in a later file than its chunk.
void Appender::State::append_summary(std::string frames) {
  const std::lock_guard lock(mutex_);
  if (is_finished_ || queued_ + frames.size() > options_.queue_max) return;
  const std::size_t bytes = frames.size();
  queue_.push_back({.frames = std::move(frames), .missing = {}, .is_summary = true});
  queued_ += bytes;
  in_file_ += bytes;
  work_.notify_one();
}

Losses Appender::State::take_lost() {
  const std::lock_guard lock(mutex_);
  return std::exchange(lost_, {});
}

AppenderCounts Appender::State::counts() {
  const std::lock_guard lock(mutex_);
  return counts_;
}

// With `mutex_` held. What follows would refer to what is missing.
void Appender::State::lose(Error error, const Losses& missing) {
  ++counts_.lost;
  counts_.ticks_lost += missing.lost - missing.lost_before;
  if (!lost_.any()) lost_.from = missing.from;
  lost_.late += missing.late;
  lost_.lost += missing.lost;
  counts_.last_error = std::move(error);
  is_broken_ = true;
  stands_alone_ = false;
}

// Nothing: it is written.
std::optional<Error> Appender::State::write_piece(const Piece& piece) {
  if (piece.is_summary) {
    if (files_.has_file()) static_cast<void>(files_.write(piece.frames));
    return std::nullopt;
  }
  if (is_behind_loss_ && !piece.stands_alone) return counts().last_error;
  is_behind_loss_ = true;
  const bool begins_file =
      piece.begins_file || !files_.has_file() ||
      (piece.stands_alone && options_.is_ring && !files_.may_hold(piece.frames.size()));
  if (begins_file) {
    if (auto begun = files_.begin_file(); !begun) return begun.error();
  }
  if (auto written = files_.write(piece.frames); !written) return written.error();
  is_behind_loss_ = false;
  return std::nullopt;
}

std::optional<Error> Appender::State::try_to_write(const Piece& piece) {
  try {
    return write_piece(piece);
  } catch (const std::bad_alloc&) {
    return out_of_memory();
  }
}

void Appender::State::write_pieces() {
  for (;;) {
    Piece piece;
    {
      std::unique_lock lock(mutex_);
      work_.wait(lock, [this] { return !queue_.empty() || is_ending_; });
      if (queue_.empty()) return;
      piece = std::move(queue_.front());
      queue_.pop_front();
    }
    auto error = try_to_write(piece);
    summarize_ended_chunk();
    const std::lock_guard lock(mutex_);
    if (error) lose(std::move(*error), piece.missing);
    queued_ -= piece.frames.size();
    counts_.bytes = files_.bytes_written();
    counts_.files = files_.files_begun();
    counts_.evicted = files_.files_evicted();
  }
}

void Appender::State::summarize_ended_chunk() {
  try {
    const auto ended = files_.take_ended_chunk();
    const auto run = ended ? runs_.take(*ended) : std::nullopt;
    if (!run) return;
    auto files = files_.files_of(*run);
    if (!files.empty()) summarizer_->add({std::move(files), *run});
  } catch (const std::bad_alloc&) {  // readers decode the chunks
  }
}

// The file system says once that it lost something.
void Appender::State::sync_now() {
  auto synced = files_.sync();
  if (!synced && !sync_error_) sync_error_ = std::move(synced.error());
}

void Appender::State::sync_files() {
  std::unique_lock lock(mutex_);
  while (!is_ending_) {
    stop_syncing_.wait_for(lock, kSyncPeriod);
    if (is_ending_) return;
    lock.unlock();
    sync_now();
    lock.lock();
  }
}

Result<void> Appender::State::finish() {
  {
    const std::lock_guard lock(mutex_);
    if (is_finished_) return {};
    is_finished_ = is_ending_ = true;
    work_.notify_one();
    stop_syncing_.notify_one();
  }
  for (std::thread* const one : {&writer_, &syncer_}) {
    if (one->joinable()) one->join();
  }
  summarizer_.reset();
  files_.end_file();
  sync_now();
  if (sync_error_) return tl::make_unexpected(*std::move(sync_error_));
  return {};
}

Result<Appender> Appender::create(AppenderOptions options, recording::Head head) {
  auto files = RingFiles::open(
      {options.path, options.is_ring, options.bytes_max, options.age_max_ns}, std::move(head));
  if (!files) return tl::make_unexpected(std::move(files.error()));
  auto state = std::make_unique<State>(std::move(options), std::move(*files));
  if (auto started = state->start(); !started) {
    return tl::make_unexpected(std::move(started.error()));
  }
  return Appender(std::move(state));
}

Appender::Appender(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Appender::Appender(Appender&&) noexcept = default;
Appender& Appender::operator=(Appender&&) noexcept = default;
Appender::~Appender() = default;

bool Appender::begins_anew() { return state_->begins_anew(); }
Losses Appender::take_lost() { return state_->take_lost(); }
bool Appender::append(std::string_view frames, const Losses& missing) {
  return state_->append(frames, missing);
}
AppenderCounts Appender::counts() const { return state_->counts(); }
Result<void> Appender::finish() { return state_->finish(); }

}  // namespace meterbank::record
