// SPDX-License-Identifier: Apache-2.0
#include "kept_record.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <new>
#include <string_view>
#include <utility>

#include "meterbank/shm/record_removal.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::detail {
namespace {

using FileId = std::array<std::uint64_t, 2>;

// Device and inode; zeros: nothing can be seen there.
FileId file_at(int directory, const std::string& path) noexcept {
  struct stat facts {};
  if (::fstatat(directory, path.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return {};
  return {facts.st_dev, facts.st_ino};
}
FileId file_at(const std::string& path) noexcept { return file_at(AT_FDCWD, path); }

}  // namespace

Result<bool> keeps_record(bool option) {
  const char* const named = ::secure_getenv("METERBANK_KEEP_RECORD");
  if (named == nullptr || *named == '\0') return option;
  const std::string_view value = named;
  if (value == "0" || value == "1") return value == "1";
  return fail(ErrorCode::kInvalidArgument,
              "METERBANK_KEEP_RECORD '" + escape_for_terminal(named) + "' is not 0 or 1",
              "1 to leave the record behind at the end, 0 to remove it");
}

void KeptRecord::choose(const std::string& directory) {
  directory_ = directory;
  user_ = ::geteuid();
  root_ = file_at("/");
  open_directory();
}

// Without a descriptor the path has to do.
void KeptRecord::open_directory() noexcept {
  opened_ =
      KnownFd(UniqueFd(::open(directory_.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
  directory_file_ = file_at(directory_);
}

Result<void> KeptRecord::write(PointerRecord record) {
  // First, since there may be no memory for it, and a record without its name is not removed.
  name_ = record_file_name(record);
  auto written = write_record(directory_, record);
  if (!written) return tl::make_unexpected(std::move(written.error()));
  path_ = std::move(*written);
  record_ = std::move(record);
  file_ = file_at(path_);
  remove_predecessors(directory_, record_);
  return {};
}

bool KeptRecord::has_another_root() const noexcept { return file_at("/") != root_; }

void KeptRecord::look_after() noexcept {
  if (path_.empty()) return;
  struct stat facts {};
  bool is_there = ::lstat(path_.c_str(), &facts) == 0;
  if (is_there && FileId{facts.st_dev, facts.st_ino} == file_) return;
  int reason = is_there ? 0 : errno;
  // The path means another place there, so nothing is looked for, written or removed by it.
  const bool by_descriptor = has_another_root();
  if (by_descriptor) {
    if (!opened_.is_here()) return;
    is_there = ::fstatat(opened_.get(), name_.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0;
    if (is_there && FileId{facts.st_dev, facts.st_ino} == file_) return;
    reason = is_there ? 0 : errno;
  }
  try {
    if (is_there && (facts.st_uid != ::geteuid() || !S_ISREG(facts.st_mode))) {
      say_once("another file has taken its name");
    } else if (is_there || reason == ENOENT) {
      write_again(by_descriptor);
    } else {
      say_once("it cannot be looked at");
    }
  } catch (const std::bad_alloc&) {  // the next look tries again
  }
}

void KeptRecord::write_again(bool by_descriptor) {
  if (by_descriptor) {
    auto written = write_record_at(opened_.get(), record_);
    if (!written) return say_once(written.error().message());
    file_ = file_at(opened_.get(), name_);
    return;
  }
  // The path may lead to another directory than at the start, which has to pass the same checks.
  const FileId directory = file_at(directory_);
  if (directory == FileId{}) return say_once("its directory is gone");
  if (directory != directory_file_) {
    if (auto good = prepare_directory(directory_); !good) return say_once(good.error().what);
    open_directory();
  }
  auto written = write_record(directory_, record_);
  if (!written) return say_once(written.error().message());
  file_ = file_at(path_);
}

void KeptRecord::say_if_not_removable() noexcept {
  const uid_t user = ::geteuid();
  if (user == user_ || user == 0 || has_spoken_of_user_ || path_.empty()) return;
  struct stat facts {};
  if (!opened_.is_here() || ::fstat(opened_.get(), &facts) != 0) return;
  has_spoken_of_user_ = true;
  const bool may_write = ::faccessat(opened_.get(), ".", W_OK | X_OK, AT_EACCESS) == 0;
  const bool is_owner = facts.st_uid == user;  // the record belongs to the user of before
  if (may_write && (is_owner || (facts.st_mode & S_ISVTX) == 0)) return;
  try {
    stderr_.say(escape_for_terminal(
        "provider '" + record_.name + "' cannot remove its record " + path_ +
        " when it ends: its process has changed its user to uid " + std::to_string(user) +
        "; readers will find it dead until its next start; try: create it after setuid()"));
  } catch (const std::bad_alloc&) {  // the record counts, not the message
  }
}

void KeptRecord::say_once(const std::string& what) noexcept {
  if (has_spoken_) return;
  has_spoken_ = true;
  try {
    stderr_.say(escape_for_terminal("readers cannot find provider '" + record_.name +
                                    "': its record " + path_ + " has vanished, and " + what +
                                    "; try: restart it"));
  } catch (const std::bad_alloc&) {  // the record counts, not the message
  }
}

void KeptRecord::remove() noexcept {
  const bool is_open = opened_.is_here();
  const auto remove_file = [&](const std::string& name) {
    if (is_open) {
      ::unlinkat(opened_.get(), name.c_str(), 0);
      return;
    }
    try {
      ::unlink((directory_ + "/" + name).c_str());
    } catch (const std::bad_alloc&) {  // it stays, and its provider is dead
    }
  };
  if (!path_.empty()) remove_file(name_);
  for (const std::string& socket : sockets_) remove_file(socket);
  path_.clear();
  sockets_.clear();
}

void say_if_not_dumpable(const std::string& provider, const StandardError& target) noexcept {
  static constinit std::atomic<bool> has_spoken{false};
  if (::geteuid() == 0 || ::prctl(PR_GET_DUMPABLE) == 1) return;
  // relaxed: it orders nothing; one of the threads that come here speaks.
  if (has_spoken.exchange(true, std::memory_order_relaxed)) return;
  try {
    target.say(escape_for_terminal(
        "only root can read provider '" + provider +
        "': its process is not dumpable, because it changed its user, has capabilities of its "
        "file, or said so by prctl(); try: prctl(PR_SET_DUMPABLE, 1) afterwards"));
  } catch (const std::bad_alloc&) {  // as above
  }
}

}  // namespace meterbank::detail
