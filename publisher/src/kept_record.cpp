// SPDX-License-Identifier: Apache-2.0
#include "kept_record.hpp"

#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <new>
#include <utility>

#include "meterbank/shm/record_removal.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::detail {
namespace {

// Its device and inode; zeros: nothing can be seen there.
std::array<std::uint64_t, 2> file_at(const std::string& path) noexcept {
  struct stat facts {};
  if (::lstat(path.c_str(), &facts) != 0) return {};
  return {facts.st_dev, facts.st_ino};
}

}  // namespace

Result<void> KeptRecord::write(const std::string& directory, PointerRecord record) {
  auto written = write_record(directory, record);
  if (!written) return tl::make_unexpected(std::move(written.error()));
  path_ = std::move(*written);
  directory_ = directory;
  record_ = std::move(record);
  file_ = file_at(path_);
  directory_file_ = file_at(directory_);
  remove_predecessors(directory_, record_);
  return {};
}

void KeptRecord::look_after() noexcept {
  if (path_.empty()) return;
  struct stat facts {};
  const bool is_there = ::lstat(path_.c_str(), &facts) == 0;
  if (is_there && FileId{facts.st_dev, facts.st_ino} == file_) return;
  try {
    if (is_there && (facts.st_uid != ::geteuid() || !S_ISREG(facts.st_mode))) {
      say_once("another file has taken its name");
    } else if (is_there || errno == ENOENT) {
      write_again();
    } else {
      say_once("it cannot be looked at");
    }
  } catch (const std::bad_alloc&) {  // the next look tries again
  }
}

void KeptRecord::write_again() {
  // The path may lead to another directory than at the start, after a chroot for example. It has to
  // pass the same checks.
  const FileId directory = file_at(directory_);
  if (directory == FileId{}) return say_once("its directory is gone");
  if (directory != directory_file_) {
    if (auto good = prepare_directory(directory_); !good) return say_once(good.error().what);
  }
  auto written = write_record(directory_, record_);
  if (!written) return say_once(written.error().message());
  file_ = file_at(path_);
  directory_file_ = directory;
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
  if (!path_.empty()) ::unlink(path_.c_str());
  path_.clear();
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
