// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/record_removal.hpp"
#include "meterbank/base/directory_stream.hpp"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <string_view>

#include "meterbank/base/unique_fd.hpp"
#include "meterbank/shm/packet_socket.hpp"
#include "meterbank/shm/process_watch.hpp"

namespace meterbank {
namespace {

using FileId = std::array<std::uint64_t, 2>;  // device and inode

bool is_same_file(const struct ::stat& facts, const FileId& file) noexcept {
  return facts.st_ino == file[1] && facts.st_dev == file[0];
}

// Nothing that is renamed over the record meanwhile is removed in its place: the file is taken
// aside first, and looked at there.
RecordRemoval unlink_same(int directory, const std::string& name, const FileId& file) {
  const std::string aside = "." + name + ".removed";
  if (::renameat2(directory, name.c_str(), directory, aside.c_str(), RENAME_NOREPLACE) != 0) {
    // A filesystem that cannot do this: the file was the same a moment ago.
    if (errno == EINVAL && ::unlinkat(directory, name.c_str(), 0) == 0) {
      return RecordRemoval::kRemoved;
    }
    return errno == ENOENT ? RecordRemoval::kChanged : RecordRemoval::kDenied;
  }
  struct ::stat facts {};
  if (::fstatat(directory, aside.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
      is_same_file(facts, file)) {
    return ::unlinkat(directory, aside.c_str(), 0) == 0 ? RecordRemoval::kRemoved
                                                        : RecordRemoval::kDenied;
  }
  ::renameat2(directory, aside.c_str(), directory, name.c_str(), RENAME_NOREPLACE);
  return RecordRemoval::kChanged;
}

// What is wanted of a record before it is removed; what is not set does not matter.
struct Wanted {
  std::optional<FileId> file = {};
  std::optional<std::string_view> name = {};  // of the provider
  // The path of the directory. Records of other pid namespaces too, if nothing listens at the door.
  std::optional<std::string_view> doors_in = {};
};

// Whether the record is of this process and of memory that it does not have any more. exec() keeps
// the number of a process and the time of its start, and closes the memory. The descriptor may be
// that of a provider of this process which ends meanwhile in its own thread: then either answer is
// right. The thread sanitizer would take fstat() for a use of it.
bool was_left_by_exec(const PointerRecord& record, const Viewpoint& here) noexcept {
  if (record.pid != static_cast<std::uint32_t>(::getpid())) return false;
  if (here.pid_namespace == 0 || record.pid_namespace != here.pid_namespace) return false;
  const std::uint64_t started = own_start_time();
  if (started == 0 || record.start_time != started) return false;
  struct ::stat facts {};
  return ::fstatat(static_cast<int>(record.descriptor), "", &facts, AT_EMPTY_PATH) != 0 ||
         facts.st_ino != record.inode;
}

// Whether the record is of a provider in another pid namespace of this boot, as a container leaves
// it that starts again, and the kernel says that no process has its door any more. A provider
// listens before it writes its record. One that has closed its descriptors while it goes on is
// taken for ended, which costs it nothing: no reader could attach to it, and its keeper writes the
// record again.
bool has_left_its_door(int directory, std::string_view path, const PointerRecord& record,
                       const Viewpoint& here) {
  if (record.pid_namespace == 0 || record.pid_namespace == here.pid_namespace) return false;
  // Another kernel may share the directory, and none of its sockets.
  if (here.boot_id == std::array<std::uint64_t, 2>{} || record.boot_id != here.boot_id)
    return false;
  if (record.door.empty() || record.door != door_name(record.pid, record.inode)) return false;
  struct ::stat facts {};
  if (::fstatat(directory, record.door.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISSOCK(facts.st_mode) || facts.st_uid != ::geteuid()) {
    return false;
  }
  const auto connected = PacketSocket::connect(std::string(path) + "/" + record.door);
  return !connected && connected.error().system_error == ECONNREFUSED;
}

RecordRemoval remove_if_ended(int directory, const std::string& name, const Wanted& wanted,
                              const Viewpoint& here) {
  const UniqueFd file(
      ::openat(directory, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return errno == ENOENT ? RecordRemoval::kChanged : RecordRemoval::kDenied;
  struct ::stat facts {};
  if (::fstat(file.get(), &facts) != 0 || !S_ISREG(facts.st_mode) ||
      (wanted.file && !is_same_file(facts, *wanted.file))) {
    return RecordRemoval::kChanged;
  }
  if (facts.st_uid != ::geteuid()) return RecordRemoval::kDenied;
  std::array<char, kPointerRecordBytesMax + 1> text;
  const auto count = ::read(file.get(), text.data(), text.size());
  if (count < 0) return RecordRemoval::kDenied;
  const auto record = PointerRecord::parse({text.data(), static_cast<std::size_t>(count)});
  if (!record || (wanted.name && record->name != *wanted.name)) return RecordRemoval::kChanged;
  const Verdict verdict = judge(*record, here, look_at_process(record->pid, here));
  if (verdict.life != Life::kGone && !was_left_by_exec(*record, here) &&
      !(wanted.doors_in && has_left_its_door(directory, *wanted.doors_in, *record, here))) {
    return RecordRemoval::kNotDead;
  }
  const RecordRemoval removal =
      unlink_same(directory, name, {std::uint64_t{facts.st_dev}, facts.st_ino});
  // Only the sockets of this very provider: a record can name any.
  if (removal == RecordRemoval::kRemoved) {
    for (const auto& socket :
         {socket_name(record->pid, record->inode), door_name(record->pid, record->inode)}) {
      ::unlinkat(directory, socket.c_str(), 0);
    }
  }
  return removal;
}

UniqueFd open_directory(const std::string& path, int flags) noexcept {
  return UniqueFd(::open(path.c_str(), flags | O_DIRECTORY | O_CLOEXEC));
}

// "@48213-414.provider" behind the name: the pid in it, or nothing. A hint, for what is written
// in the record counts.
std::optional<pid_t> pid_in_name(std::string_view rest) noexcept {
  if (!rest.starts_with('@') || !rest.ends_with(kPointerRecordSuffix)) return std::nullopt;
  rest.remove_prefix(1);
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), pid);
  if (error != std::errc{} || pid <= 0 || *end != '-') return std::nullopt;
  return pid;
}

}  // namespace

RecordRemoval remove_ended_record(const std::string& path, const FileId& file) {
  const auto slash = path.rfind('/');
  if (slash == std::string::npos) return RecordRemoval::kChanged;
  const UniqueFd directory = open_directory(path.substr(0, slash + 1), O_PATH);
  return remove_if_ended(directory.get(), path.substr(slash + 1), {.file = file},
                         Viewpoint::of_this_process());
}

std::size_t remove_predecessors(const std::string& directory, const PointerRecord& successor) {
  constexpr std::size_t kEntriesMax = 65'536, kRemovedMax = 1024, kTakenPidsMax = 32;
  const Viewpoint here = Viewpoint::of_this_process();
  if (successor.pid_namespace == 0 || !here.is_complete()) return 0;
  const DirectoryStream stream =
      directory_stream(open_directory(directory, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  if (stream == nullptr) return 0;
  const int descriptor = ::dirfd(stream.get());
  const std::string own = record_file_name(successor);
  const std::string_view prefix = std::string_view(own).substr(0, own.find('@'));
  std::size_t removed = 0, taken_pids = 0;
  for (std::size_t entries = 0; entries < kEntriesMax && removed < kRemovedMax; ++entries) {
    const dirent* const item = ::readdir(stream.get());
    if (item == nullptr) break;
    const std::string_view name = item->d_name;
    if (!name.starts_with(prefix) || name == own) continue;
    const auto pid = pid_in_name(name.substr(prefix.size()));
    if (!pid) continue;
    const bool is_taken = ::kill(*pid, 0) == 0 || errno != ESRCH;
    if (is_taken && ++taken_pids > kTakenPidsMax) continue;
    const Wanted wanted{.name = successor.name, .doors_in = directory};
    if (remove_if_ended(descriptor, item->d_name, wanted, here) == RecordRemoval::kRemoved) {
      ++removed;
    }
  }
  return removed;
}

}  // namespace meterbank
