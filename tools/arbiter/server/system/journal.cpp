// SPDX-License-Identifier: Apache-2.0
#include "arbiter/server/system/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <span>
#include <utility>

#include "arbiter/server/system/write_all.hpp"
#include "meterbank/base/clock.hpp"
#include "meterbank/base/crc32.hpp"

namespace meterbank::arbiter {
namespace {

constexpr std::size_t kRecordBytes = sizeof(JournalRecord);
// What the next arbiter reads of a foreign file, or one that was not kept in bounds.
constexpr std::size_t kFileBytesMax = 4 * Journal::kRecordsMax * kRecordBytes;

// Far more than one arbiter lends; a file that says so is damaged.
constexpr std::size_t kHeldMax = 4 * pmu::kLedgerLeasesMax;

std::uint32_t check_of(const JournalRecord& record) noexcept {
  return crc32c(std::as_bytes(std::span(&record, 1)).first(offsetof(JournalRecord, check)));
}

ErrorCode code_of(int error) noexcept {
  switch (error) {
    case EACCES:
    case EPERM:
    case EROFS:
      return ErrorCode::kDenied;
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNoDirectory;
    case ENOSPC:
    case EDQUOT:
      return ErrorCode::kNoSpace;
    default:
      return ErrorCode::kSystem;
  }
}

tl::unexpected<Error> refused(const std::string& what, const std::string& path) {
  const int error = errno;
  return fail(code_of(error), what + " the journal " + path, "--journal FILE", error);
}

// False: errno says why. What could not be read must not be written anew: it may hold leases.
bool read_all(int descriptor, std::vector<std::byte>& bytes) {
  std::array<std::byte, 65536> part;
  while (bytes.size() < kFileBytesMax) {
    const ssize_t count = ::read(descriptor, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    if (count == 0) break;
    bytes.insert(bytes.end(), part.begin(), part.begin() + count);
  }
  return true;
}

}  // namespace

Result<Journal> Journal::open(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory =
      slash == std::string::npos ? "." : path.substr(0, std::max<std::size_t>(slash, 1));
  Journal journal;
  journal.name_ = slash == std::string::npos ? path : path.substr(slash + 1);
  journal.directory_.reset(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!journal.directory_) return refused("open the directory of", path);
  // The file itself is replaced now and then; its directory is not.
  if (::flock(journal.directory_.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return refused("lock", path);
    return fail(ErrorCode::kExists, "another arbiter has its journal in " + directory,
                "--dir DIR for one more");
  }
  const UniqueFd old(::openat(journal.directory_.get(), journal.name_.c_str(),
                              O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!old && errno != ENOENT) return refused("read", path);
  std::vector<std::byte> bytes;
  if (old && !read_all(old.get(), bytes)) return refused("read", path);
  std::size_t at = 0;
  for (; bytes.size() - at >= kRecordBytes; at += kRecordBytes) {
    JournalRecord record;
    std::memcpy(&record, bytes.data() + at, kRecordBytes);
    if (record.check == check_of(record)) {
      journal.take(record);
    } else {
      journal.damaged_bytes_ += kRecordBytes;
    }
  }
  journal.damaged_bytes_ += bytes.size() - at;
  if (auto written = journal.rewrite(); !written) return tl::make_unexpected(written.error());
  return journal;
}

void Journal::take(const JournalRecord& record) {
  using Kind = JournalRecord::Kind;
  if (record.epoch != 0) last_epoch_ = static_cast<std::uint16_t>(record.epoch);
  switch (record.kind) {
    case Kind::kGranted:
      held_[record.token] = {record};
      if (held_.size() > kHeldMax) held_.erase(held_.begin());
      break;
    case Kind::kDelegated:
      if (const auto grant = held_.find(record.token);
          grant != held_.end() && grant->second.size() <= pmu::kItemsMax) {
        grant->second.push_back(record);
      }
      break;
    case Kind::kReclaimed:
      held_.erase(record.other);
      break;
    case Kind::kFenced:
    case Kind::kFreed:
      held_.erase(record.token);
      break;
    default:
      break;
  }
  tail_.push_back(record);
  if (tail_.size() > kTailRecords) tail_.pop_front();
}

std::vector<JournalRecord> Journal::records() const {
  std::vector<JournalRecord> all;
  // Grants that the tail has, too, come in their place there.
  std::map<pmu::Token, bool> in_tail;
  for (const auto& record : tail_) {
    if (record.kind == JournalRecord::Kind::kGranted) in_tail.emplace(record.token, true);
  }
  for (const auto& [token, records] : held_) {
    if (!in_tail.contains(token)) all.insert(all.end(), records.begin(), records.end());
  }
  all.insert(all.end(), tail_.begin(), tail_.end());
  return all;
}

Result<void> Journal::rewrite() {
  const std::string fresh = name_ + ".new";
  UniqueFd file(::openat(directory_.get(), fresh.c_str(),
                         O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return refused("write", name_);
  const auto all = records();
  if (!write_all(file.get(), std::as_bytes(std::span(all)))) {
    auto failure = refused("write", name_);
    ::unlinkat(directory_.get(), fresh.c_str(), 0);
    return failure;
  }
  if (::renameat(directory_.get(), fresh.c_str(), directory_.get(), name_.c_str()) != 0) {
    auto failure = refused("replace", name_);
    ::unlinkat(directory_.get(), fresh.c_str(), 0);
    return failure;
  }
  file_ = std::move(file);
  written_ = all.size();
  return {};
}

void Journal::forget_before(std::uint16_t epoch) noexcept {
  while (!held_.empty()) {
    const auto old = std::find_if(held_.begin(), held_.end(), [epoch](const auto& grant) {
      return pmu::epoch_of(grant.first) != epoch;
    });
    if (old == held_.end()) return;
    JournalRecord freed = old->second.front();
    freed.monotonic_ns = clock_ns(CLOCK_MONOTONIC);
    freed.kind = JournalRecord::Kind::kFreed;
    freed.epoch = epoch;
    held_.erase(old);
    static_cast<void>(append(freed));
  }
}

bool Journal::append(JournalRecord record) noexcept {
  record.realtime_ns = clock_ns(CLOCK_REALTIME);
  record.check = check_of(record);
  try {
    take(record);
    if (written_ >= kRecordsMax) return rewrite().has_value();
  } catch (const std::exception&) {
    return false;
  }
  if (!write_all(file_.get(), std::as_bytes(std::span(&record, 1)))) {
    // A part of a record would shift all that come after it.
    static_cast<void>(!::ftruncate(file_.get(), static_cast<off_t>(written_ * kRecordBytes)));
    return false;
  }
  ++written_;
  return true;
}

void Journal::sync() const noexcept {
  ::fdatasync(file_.get());
  ::fsync(directory_.get());
}

}  // namespace meterbank::arbiter
