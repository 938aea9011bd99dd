// SPDX-License-Identifier: Apache-2.0
#include "record/ring_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <utility>

#include "meterbank/base/clock.hpp"
#include "meterbank/base/directory_stream.hpp"
#include "record/new_file.hpp"

namespace meterbank::record {
namespace {

constexpr mode_t kFileMode = 0640;
constexpr mode_t kDirectoryMode = 0750;

tl::unexpected<Error> refused(const std::string& what, const std::string& path, bool is_ring,
                              int error) {
  ErrorCode code = ErrorCode::kSystem;
  std::string remedy;
  if (error == EACCES || error == EPERM || error == EROFS) {
    code = ErrorCode::kDenied;
    remedy = "another -o, in a directory that you may write to";
  } else if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    code = ErrorCode::kNoSpace;
    remedy = is_ring ? "more room, or a smaller --size" : "more room";
  } else if (error == ENOENT) {
    code = ErrorCode::kNotFound;
    remedy = "mkdir of the directory above";
  } else if (error == ENOTDIR) {
    remedy = "another -o: part of this path is a file";
  } else if (error == EEXIST) {
    code = ErrorCode::kExists;
    remedy = "another -o, or remove the file";
  }
  return fail(code, fmt::format("{} {}", what, path), remedy, error);
}

// `result` is what a system call returned just now.
int first_error(int before, int result) noexcept {
  return before == 0 && result != 0 ? errno : before;
}

// The number in "00000017.mbr".
std::optional<std::uint64_t> sequence_of(std::string_view name) {
  if (!name.ends_with(recording::kFileSuffix)) return std::nullopt;
  name.remove_suffix(recording::kFileSuffix.size());
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  // Of another maker: the numbers behind it would have no end.
  constexpr std::uint64_t kNumbersMax = 1'000'000'000'000;
  if (number >= kNumbersMax) return std::nullopt;
  return number;
}

Result<UniqueFd> lock_directory(const std::string& path) {
  if (::mkdir(path.c_str(), kDirectoryMode) != 0 && errno != EEXIST) {
    return refused("cannot make the directory", path, true, errno);
  }
  UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return refused("cannot open the directory", path, true, errno);
  if (::flock(directory.get(), LOCK_EX | LOCK_NB) != 0) {
    return fail(ErrorCode::kExists, fmt::format("another recorder writes to {}", path),
                "another -o, or end the other recorder");
  }
  return directory;
}

}  // namespace

Error sample_too_large(std::uint64_t bytes) {
  return {ErrorCode::kLimit, 0, fmt::format("a sample takes {} bytes, too many to be kept", bytes),
          "fewer counters"};
}

RingFiles::RingFiles(RingLimits limits, recording::Head head, UniqueFd lock)
    : limits_(std::move(limits)),
      head_(std::move(head)),
      lock_(std::move(lock)),
      above_(directory_above(limits_.path)),
      synced_(std::make_unique<Synced>()) {}

Result<RingFiles> RingFiles::open(RingLimits limits, recording::Head head) {
  UniqueFd lock;
  if (limits.is_ring) {
    auto locked = lock_directory(limits.path);
    if (!locked) return tl::make_unexpected(std::move(locked.error()));
    lock = std::move(*locked);
  }
  RingFiles files(std::move(limits), std::move(head), std::move(lock));
  if (files.limits_.is_ring) {
    if (auto listed = files.list_files(); !listed) {
      return tl::make_unexpected(std::move(listed.error()));
    }
  }
  files.knows_all_ = files.old_.empty();
  // So that a path that cannot be written to is known at once.
  if (auto begun = files.begin_file(); !begun) {
    return tl::make_unexpected(std::move(begun.error()));
  }
  return files;
}

Result<void> RingFiles::list_files() {
  const DirectoryStream directory(::opendir(limits_.path.c_str()));
  if (directory == nullptr) return refused("cannot read the directory", limits_.path, true, errno);
  while (const dirent* const entry = ::readdir(directory.get())) {
    const auto sequence = sequence_of(entry->d_name);
    struct stat facts {};
    if (!sequence || ::fstatat(lock_.get(), entry->d_name, &facts, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    head_.sequence = std::max(head_.sequence, *sequence);
    if (!S_ISREG(facts.st_mode)) continue;
    old_.push_back({fmt::format("{}/{}", limits_.path, entry->d_name),
                    static_cast<std::uint64_t>(facts.st_size),
                    static_cast<std::uint64_t>(facts.st_mtim.tv_sec) * 1'000'000'000U +
                        static_cast<std::uint64_t>(facts.st_mtim.tv_nsec)});
    old_bytes_ += old_.back().bytes;
  }
  std::sort(old_.begin(), old_.end(),
            [](const OldFile& left, const OldFile& right) { return left.path < right.path; });
  return {};
}

std::string RingFiles::path_of(std::uint64_t sequence) const {
  if (!limits_.is_ring) return limits_.path;
  return fmt::format("{}/{:08}{}", limits_.path, sequence, recording::kFileSuffix);
}

bool RingFiles::evict_oldest() {
  if (old_.empty()) return false;
  // A file that cannot be removed is not looked at again: the recording goes on beside it.
  if (::unlink(old_.front().path.c_str()) == 0) ++files_evicted_;
  forget_to_sync(old_.front().path);
  old_bytes_ -= old_.front().bytes;
  old_.pop_front();
  return true;
}

// The bytes of a file are there as long as a descriptor of it is open.
void RingFiles::forget_to_sync(const std::string& path) {
  const std::lock_guard lock(synced_->mutex);
  std::erase_if(synced_->ended, [&](const auto& one) { return one.first == path; });
  if (synced_->path == path) synced_->file = UniqueFd();
}

bool RingFiles::may_hold(std::uint64_t bytes) const noexcept {
  return limits_.bytes_max == 0 || file_size_ + bytes <= limits_.bytes_max;
}

bool RingFiles::make_room(std::uint64_t bytes) {
  if (limits_.age_max_ns != 0) {
    const std::uint64_t now = clock_ns(CLOCK_REALTIME);
    const auto is_too_old = [&](const OldFile& file) {
      return now > file.modified_ns && now - file.modified_ns > limits_.age_max_ns;
    };
    while (!old_.empty() && is_too_old(old_.front())) static_cast<void>(evict_oldest());
  }
  if (!may_hold(bytes)) return false;
  while (limits_.bytes_max != 0 && old_bytes_ + file_size_ + bytes > limits_.bytes_max) {
    if (!evict_oldest()) return false;
  }
  return true;
}

Result<void> RingFiles::begin_file() {
  // The one that open() began has nothing but its head, and a single file goes on for ever.
  if (file_ && (index_.chunks().empty() || !limits_.is_ring)) return {};
  end_file();
  if (auto opened = open_next_file(); !opened) return opened;
  head_.created = Timestamp::now();
  std::string bytes;
  append_head(head_, bytes);
  auto written = write(bytes);
  if (!written) {
    // What follows would belong to no recording.
    file_ = UniqueFd();
    if (::unlink(file_path_.c_str()) == 0) --head_.sequence;
  }
  return written;
}

Result<void> RingFiles::open_next_file() {
  ++head_.sequence;
  file_path_ = path_of(head_.sequence);
  constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
  file_ = UniqueFd(::open(file_path_.c_str(), kFlags, kFileMode));
  while (!file_ && errno == ENOSPC && evict_oldest()) {
    file_ = UniqueFd(::open(file_path_.c_str(), kFlags, kFileMode));
  }
  if (!file_) {
    const int error = errno;
    // The next attempt takes this number: readers miss a file where one is left out.
    if (error != EEXIST) --head_.sequence;
    return refused("cannot make", shown_path(), limits_.is_ring, error);
  }
  sync_later();
  ++files_begun_;
  file_size_ = 0;
  index_ = {};
  return {};
}

// Of the new file, and of the one before it, whose last bytes may not be on the disk.
void RingFiles::sync_later() {
  constexpr std::size_t kEndedMax = 16;
  const std::lock_guard lock(synced_->mutex);
  if (synced_->file && synced_->ended.size() < kEndedMax) {
    synced_->ended.emplace_back(synced_->path, std::move(synced_->file));
  }
  synced_->path = file_path_;
  synced_->file = UniqueFd(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
  synced_->has_new_file = true;
}

Result<void> RingFiles::write(std::string_view frames) {
  // No reader would take a frame of that.
  if (frames.size() > recording::kFrameBytesMax) {
    return tl::make_unexpected(sample_too_large(frames.size()));
  }
  if (!make_room(frames.size())) {
    return fail(ErrorCode::kNoSpace,
                fmt::format("{} bytes do not fit into {}", frames.size(), limits_.path),
                "a larger --size");
  }
  auto written = write_all(frames);
  if (!written) return written;
  const std::uint64_t begin = std::exchange(file_size_, file_size_ + frames.size());
  bytes_written_ += frames.size();
  recording::MemoryBytes source(std::as_bytes(std::span(frames)));
  recording::FrameWalk walk(source);
  while (auto frame = walk.next()) {
    frame->offset += begin;
    if (frame->kind == recording::FrameKind::kKey) note_ended_chunk(false);
    index_.take(*frame);
  }
  return {};
}

void RingFiles::note_ended_chunk(bool ends_file) {
  if (index_.chunks().empty()) return;
  ended_chunk_ = EndedChunk{head_.sequence, index_.chunks().back(), ends_file};
}

std::optional<EndedChunk> RingFiles::take_ended_chunk() noexcept {
  return std::exchange(ended_chunk_, std::nullopt);
}

void RingFiles::keep_known() {
  // The first values of a file need the last samples of the file before it.
  constexpr std::size_t kKnownMax = 2;
  known_.push_back({.path = file_path_,
                    .bytes = file_size_,
                    .head = head_,
                    .index = std::exchange(index_, {}),
                    .is_ended = true,
                    .unfinished = 0});
  if (known_.size() <= kKnownMax) return;
  known_.pop_front();
  knows_all_ = false;
}

std::vector<recording::RecordingFile> RingFiles::files_of(const recording::ChunkRun& run) const {
  std::vector<recording::RecordingFile> files;
  for (const recording::RecordingFile& file : known_) {
    if (file.head.sequence <= run.sequence) files.push_back(file);
  }
  if (file_ && head_.sequence == run.sequence) {
    files.push_back({.path = file_path_,
                     .bytes = file_size_,
                     .head = head_,
                     .index = index_,
                     .is_ended = false,
                     .unfinished = 0});
  }
  if (files.empty() || files.back().head.sequence != run.sequence) return {};
  // The first values of a run need the samples before it, and those of every rate.
  std::uint64_t longest = 0;
  for (const recording::Rate& rate : head_.rates) longest = std::max(longest, rate.interval_ns);
  const std::uint64_t reach = head_.rates.size() > 1 ? 2 * longest : 0;
  const auto& chunks = files.front().index.chunks();
  const bool reaches =
      !chunks.empty() && chunks.front().first.monotonic_ns + reach < run.first.monotonic_ns;
  return knows_all_ || reaches ? files : std::vector<recording::RecordingFile>();
}

Result<void> RingFiles::write_all(std::string_view bytes) {
  std::string_view rest = bytes;
  while (!rest.empty()) {
    const ssize_t count = ::write(file_.get(), rest.data(), rest.size());
    if (count > 0) {
      rest.remove_prefix(static_cast<std::size_t>(count));
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    const int error = count == 0 ? ENOSPC : errno;
    if ((error == ENOSPC || error == EDQUOT) && evict_oldest()) continue;
    // Half a frame would hide the frames behind it.
    static_cast<void>(::ftruncate(file_.get(), static_cast<off_t>(file_size_)));
    return refused("cannot write to", shown_path(), limits_.is_ring, error);
  }
  return {};
}

void RingFiles::end_file() {
  if (!file_) return;
  note_ended_chunk(true);
  std::string bytes;
  index_.append_to(bytes, file_size_);
  if (make_room(bytes.size()) && write_all(bytes)) {
    file_size_ += bytes.size();
    bytes_written_ += bytes.size();
  }
  old_.push_back({file_path_, file_size_, clock_ns(CLOCK_REALTIME)});
  old_bytes_ += file_size_;
  keep_known();
  file_size_ = 0;
  file_ = UniqueFd();
}

Result<void> RingFiles::sync() {
  UniqueFd file;
  std::vector<std::pair<std::string, UniqueFd>> ended;
  bool has_new_file = false;
  {
    const std::lock_guard lock(synced_->mutex);
    if (synced_->file) file = UniqueFd(::fcntl(synced_->file.get(), F_DUPFD_CLOEXEC, 0));
    ended.swap(synced_->ended);
    has_new_file = std::exchange(synced_->has_new_file, false);
  }
  int error = 0;
  for (const auto& [path, one] : ended) error = first_error(error, ::fdatasync(one.get()));
  if (file) error = first_error(error, ::fdatasync(file.get()));
  // A name is on the disk when its directory is; so is that of a new directory. Some file systems
  // cannot say this of a directory.
  if (has_new_file && lock_) ::fsync(lock_.get());
  // Once: a ring stays one directory, and what is no ring is one file.
  if (has_new_file && above_) {
    ::fsync(above_.get());
    above_ = UniqueFd();
  }
  if (error == 0) return {};
  return refused("cannot write all of", limits_.path, limits_.is_ring, error);
}

}  // namespace meterbank::record
