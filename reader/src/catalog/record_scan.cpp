// SPDX-License-Identifier: Apache-2.0
#include "record_scan.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "meterbank/base/clock.hpp"
#include "meterbank/base/directory_stream.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank {
namespace {

// A walk takes some tenths of a microsecond an entry, one and a half for junk that is called like a
// record: it is repeated for less than a fifth of the time.
constexpr std::uint64_t kRestNsPerObject = 8000;
// After this time no change has the time of an earlier one: the ticks of the kernel's clock are 1
// to 10 ms long, and changes within one tick have one time.
constexpr std::uint64_t kTimeToSettleNs = 100'000'000;
// What is remembered of one directory: 16 MiB at most.
constexpr std::size_t kJudgedMax = std::size_t{1} << 20;

const char* remedy_of(int reason) noexcept {
  switch (reason) {
    case ENOTDIR:
      return "name a directory in METERBANK_DIR";
    case ELOOP:
      return "name the directory itself, not a link to it";
    case EACCES:
      return "run as a user who may read it";
    case EMFILE:
    case ENFILE:
      return "raise the limit of open files: ulimit -n";
    default:
      return "start a provider, or set METERBANK_DIR to where providers write";
  }
}

struct DirectoryFacts {
  struct stat stats {};
  std::uint32_t owner = 0;
  bool shared = false;  // others may write, too: each user has records of his own there
};

Result<DirectoryStream> open_directory(const std::string& path, DirectoryFacts& facts) {
  UniqueFd opened(
      ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!opened) {
    const int reason = errno;
    return fail(ErrorCode::kNoDirectory, "open directory " + path, remedy_of(reason), reason);
  }
  struct stat stats {};
  if (::fstat(opened.get(), &stats) != 0) {
    return fail(ErrorCode::kNoDirectory, "inspect " + path, {}, errno);
  }
  if (is_open_to_removal(stats.st_mode, stats.st_uid)) {
    return fail(ErrorCode::kNoDirectory, "directory " + path + " may be changed by others",
                remedy_for_open_directory(path));
  }
  facts.stats = stats;
  facts.owner = stats.st_uid;
  facts.shared = (stats.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  DirectoryStream directory = directory_stream(std::move(opened));
  if (directory == nullptr) return fail(ErrorCode::kNoDirectory, "list " + path, {}, errno);
  return directory;
}

// Nanoseconds of CLOCK_REALTIME.
std::uint64_t changed_ns(const struct ::stat& facts) noexcept {
  constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
  return static_cast<std::uint64_t>(facts.st_ctim.tv_sec) * kNsPerSecond +
         static_cast<std::uint64_t>(facts.st_ctim.tv_nsec);
}

enum class Came : std::uint8_t { kRecord, kJunk, kNotNow, kVanished };

// Reads the record of a regular file. kNotNow: this process could not look.
Came read_record(int directory, const char* name, const DirectoryFacts& facts, FoundRecord& found) {
  const UniqueFd file(::openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file && errno == ENOENT) return Came::kVanished;
  if (!file) return errno == ELOOP ? Came::kJunk : Came::kNotNow;
  struct stat stats {};
  if (::fstat(file.get(), &stats) != 0) return Came::kNotNow;
  if (!S_ISREG(stats.st_mode)) return Came::kJunk;
  if (stats.st_nlink != 1) return Came::kJunk;
  if (stats.st_uid != found.owner) return Came::kNotNow;
  if (stats.st_uid != facts.owner && stats.st_uid != 0 && !facts.shared) return Came::kJunk;
  std::array<char, kPointerRecordBytesMax + 1> text;
  const auto count = ::read(file.get(), text.data(), text.size());
  if (count < 0) return Came::kNotNow;
  auto record = PointerRecord::parse({text.data(), static_cast<std::size_t>(count)});
  if (!record) return Came::kJunk;
  found.file = {stats.st_dev, stats.st_ino};
  found.record = *std::move(record);
  return Came::kRecord;
}

}  // namespace

bool includes(UserPolicy users, std::uint32_t uid) noexcept {
  return includes(users, uid, ::geteuid());
}

bool includes(UserPolicy users, std::uint32_t uid, std::uint32_t own_uid) noexcept {
  switch (users) {
    case UserPolicy::kOwn:
      return uid == own_uid;
    case UserPolicy::kOwnAndRoot:
      return uid == own_uid || uid == 0;
    case UserPolicy::kEveryone:
      return true;
  }
  return false;
}

void add_left_out(std::vector<LeftOut>& sums, std::uint32_t uid, LeftOutReason reason,
                  std::uint64_t count) {
  if (count == 0) return;
  // One user may own files of very many uids.
  constexpr std::size_t kSumsMax = 256;
  constexpr std::uint32_t kManyUsers = 0xffffffff;
  const auto find = [&] {
    return std::find_if(sums.begin(), sums.end(),
                        [&](const LeftOut& sum) { return sum.uid == uid && sum.reason == reason; });
  };
  auto same = find();
  if (same == sums.end() && sums.size() >= kSumsMax) {
    uid = kManyUsers;
    same = find();
  }
  if (same != sums.end()) {
    same->count += count;
  } else {
    sums.push_back({uid, reason, count});
  }
}

struct RecordDirectory::Walk {
  int directory = -1;
  DirectoryFacts facts = {};
  UserPolicy users = UserPolicy::kEveryone;
  const KnowsRecord& knows;
  const HasRoom& has_room;
  RecordScan scan = {};
  std::vector<Judged> seen = {};
  bool has_news = false;    // of `seen`
  bool has_failed = false;  // an entry could not be looked at, for a reason that may pass
  std::unordered_map<std::uint32_t, std::uint32_t> reads = {};  // by owner
};

RecordDirectory::RecordDirectory(std::string path, ScanLimits limits)
    : path_(std::move(path)), limits_(limits) {}

// Keyed: no user can make a file that passes for one of another user.
std::uint64_t RecordDirectory::key_of(std::string_view name, const struct ::stat& facts) {
  key_text_ = std::to_string(facts.st_ino) + '.' + std::to_string(facts.st_ctim.tv_sec) + '.' +
              std::to_string(facts.st_ctim.tv_nsec) + '/';
  key_text_ += name;
  return KeyedFoldedHash{}(key_text_);
}

const RecordDirectory::Judged* RecordDirectory::find(std::uint64_t key) const noexcept {
  const auto found = std::lower_bound(
      judged_.begin(), judged_.end(), key,
      [](const Judged& judged, std::uint64_t wanted) { return judged.key < wanted; });
  return found == judged_.end() || found->key != key ? nullptr : &*found;
}

// A file that is called like a record.
void RecordDirectory::visit(Walk& walk, const char* name, std::uint64_t listed_inode) {
  FoundRecord found;
  found.path = path_ + "/" + name;
  found.listed_inode = listed_inode;
  if (walk.knows(found.path, listed_inode)) {
    walk.scan.found.push_back(std::move(found));
    return;
  }
  struct stat stats {};
  if (::fstatat(walk.directory, name, &stats, AT_SYMLINK_NOFOLLOW) != 0) {
    walk.has_failed = walk.has_failed || errno != ENOENT;
    return;
  }
  found.owner = stats.st_uid;
  found.key = key_of(name, stats);
  if (const Judged* judged = find(found.key); judged != nullptr) {
    const bool is_final = judged->reason == LeftOutReason::kNotARecord;
    if (is_final || !walk.has_room(judged->owner, judged->reason)) {
      walk.seen.push_back(*judged);
      return;
    }
  }
  const auto leave_out = [&](LeftOutReason reason) {
    if (walk.seen.size() >= kJudgedMax) return;
    walk.seen.push_back({found.key, stats.st_uid, reason});
    walk.has_news = true;
  };
  if (!includes(walk.users, stats.st_uid)) return leave_out(LeftOutReason::kPolicy);
  if (!S_ISREG(stats.st_mode)) return leave_out(LeftOutReason::kNotARecord);
  if (walk.reads[stats.st_uid] >= limits_.reads_per_user_max) {
    add_left_out(passed_over_, stats.st_uid, LeftOutReason::kNotRead, 1);
    return;
  }
  ++walk.reads[stats.st_uid];
  switch (read_record(walk.directory, name, walk.facts, found)) {
    case Came::kRecord:
      walk.scan.found.push_back(std::move(found));
      return;
    case Came::kJunk:
      return leave_out(LeftOutReason::kNotARecord);
    case Came::kNotNow:
      add_left_out(passed_over_, stats.st_uid, LeftOutReason::kCannotOpen, 1);
      return;
    case Came::kVanished:
      return;
  }
}

void RecordDirectory::sort_judged() {
  if (is_sorted_) return;
  is_sorted_ = true;
  std::stable_sort(judged_.begin(), judged_.end(),
                   [](const Judged& left, const Judged& right) { return left.key < right.key; });
  const auto same_key = [](const Judged& left, const Judged& right) {
    return left.key == right.key;
  };
  judged_.erase(std::unique(judged_.begin(), judged_.end(), same_key), judged_.end());
  if (judged_.size() > kJudgedMax) judged_.resize(kJudgedMax);
}

// What a whole walk did not see is there no more.
void RecordDirectory::remember(Walk& walk) {
  const bool is_whole = walk.scan.walked == RecordScan::Walked::kAll;
  if (is_whole && !walk.has_news && walk.seen.size() == judged_.size()) return;
  if (!is_whole) walk.seen.insert(walk.seen.end(), judged_.begin(), judged_.end());
  judged_ = std::move(walk.seen);
  is_sorted_ = false;
  sort_judged();
}

RecordDirectory::Condition RecordDirectory::condition_of(const struct ::stat& facts) noexcept {
  return {{facts.st_dev, facts.st_ino}, {facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec}};
}

bool RecordDirectory::is_as_walked() const noexcept {
  struct stat facts {};
  return walked_at_ && judged_.empty() && ::lstat(path_.c_str(), &facts) == 0 &&
         condition_of(facts) == *walked_at_;
}

Result<RecordScan> RecordDirectory::scan(UserPolicy users, const KnowsRecord& knows,
                                         const HasRoom& has_room) {
  Walk walk{.users = users, .knows = knows, .has_room = has_room};
  if (clock_ns(CLOCK_MONOTONIC) < rests_until_ || is_as_walked()) {
    walk.scan.walked = RecordScan::Walked::kNone;
    return std::move(walk.scan);
  }
  walked_at_.reset();
  const std::uint64_t began_ns = clock_ns(CLOCK_REALTIME);
  auto directory = open_directory(path_, walk.facts);
  if (!directory) return tl::make_unexpected(std::move(directory.error()));
  walk.directory = ::dirfd(directory->get());
  const bool from_start = resume_at_ == 0;
  if (!from_start) ::seekdir(directory->get(), resume_at_);
  if (from_start) other_objects_ = 0;
  passed_over_.clear();
  sort_judged();
  resume_at_ = 0;
  std::uint64_t objects = 0;
  const auto next_entry = [&directory] {
    errno = 0;  // readdir() says by it whether the end is one
    return ::readdir(directory->get());
  };
  while (const dirent* item = next_entry()) {
    if (++objects > limits_.objects_max) break;
    resume_at_ = item->d_off;
    const std::string_view name = item->d_name;
    if (name.starts_with('.')) continue;  // the directory itself, and records being written
    if (name.ends_with(kPointerRecordSuffix)) {
      visit(walk, item->d_name, item->d_ino);
    } else if (!is_called_like_socket(name)) {  // of a provider, found by its record
      ++other_objects_;
    }
  }
  const bool at_end = objects <= limits_.objects_max;
  walk.has_failed = walk.has_failed || (at_end && errno != 0);
  if (at_end) resume_at_ = 0;
  if (!from_start || !at_end) {
    walk.scan.walked = RecordScan::Walked::kPart;
    add_left_out(passed_over_, walk.facts.owner, LeftOutReason::kLargeDirectory, 1);
  }
  if (objects > limits_.objects_without_rest) {
    rests_until_ = clock_ns(CLOCK_MONOTONIC) + objects * kRestNsPerObject;
  }
  remember(walk);
  // What is left out is looked at again each time: it may become a record without a change of the
  // directory.
  const bool is_settled = changed_ns(walk.facts.stats) + kTimeToSettleNs < began_ns;
  const bool is_all_known =
      walk.scan.walked == RecordScan::Walked::kAll && passed_over_.empty() && !walk.has_failed;
  if (is_settled && is_all_known) walked_at_ = condition_of(walk.facts.stats);
  return std::move(walk.scan);
}

void RecordDirectory::leave_out(const FoundRecord& found, LeftOutReason reason) {
  if (judged_.size() >= kJudgedMax) return;
  judged_.push_back({found.key, found.owner, reason});
  is_sorted_ = false;
}

void RecordDirectory::count_left_out(std::vector<LeftOut>& sums) {
  sort_judged();
  std::unordered_map<std::uint64_t, std::uint64_t> counts;  // by owner and reason
  for (const Judged& judged : judged_) {
    ++counts[std::uint64_t{judged.owner} << 8U | static_cast<std::uint8_t>(judged.reason)];
  }
  for (const auto& [key, count] : counts) {
    add_left_out(sums, static_cast<std::uint32_t>(key >> 8U),
                 static_cast<LeftOutReason>(static_cast<std::uint8_t>(key)), count);
  }
  for (const LeftOut& passed : passed_over_) {
    add_left_out(sums, passed.uid, passed.reason, passed.count);
  }
}

}  // namespace meterbank
