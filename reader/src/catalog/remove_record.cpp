// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "meterbank/base/unique_fd.hpp"
#include "meterbank/reader/catalog.hpp"
#include "meterbank/shm/pointer_record.hpp"
#include "process_watch.hpp"

namespace meterbank {
namespace {

bool is_same_file(const struct ::stat& facts, const ProviderView& provider) noexcept {
  return facts.st_ino == provider.record_file[1] && facts.st_dev == provider.record_file[0];
}

// Nothing that is renamed over the record meanwhile is removed in its place: the file is taken
// aside first, and looked at there.
RecordRemoval unlink_same(int directory, const std::string& name, const ProviderView& provider) {
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
      is_same_file(facts, provider)) {
    return ::unlinkat(directory, aside.c_str(), 0) == 0 ? RecordRemoval::kRemoved
                                                        : RecordRemoval::kDenied;
  }
  ::renameat2(directory, aside.c_str(), directory, name.c_str(), RENAME_NOREPLACE);
  return RecordRemoval::kChanged;
}

}  // namespace

RecordRemoval remove_record(const ProviderView& provider) {
  const auto slash = provider.record.rfind('/');
  if (slash == std::string::npos) return RecordRemoval::kChanged;
  const std::string name = provider.record.substr(slash + 1);
  const UniqueFd directory(
      ::open(provider.record.substr(0, slash + 1).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const UniqueFd file(
      ::openat(directory.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return errno == ENOENT ? RecordRemoval::kChanged : RecordRemoval::kDenied;
  struct ::stat facts {};
  if (::fstat(file.get(), &facts) != 0 || !is_same_file(facts, provider)) {
    return RecordRemoval::kChanged;
  }
  if (facts.st_uid != ::geteuid()) return RecordRemoval::kDenied;
  std::array<char, kPointerRecordBytesMax + 1> text;
  const auto count = ::read(file.get(), text.data(), text.size());
  if (count < 0) return RecordRemoval::kDenied;
  const auto record = PointerRecord::parse({text.data(), static_cast<std::size_t>(count)});
  if (!record) return RecordRemoval::kChanged;
  const Viewpoint here = Viewpoint::of_this_process();
  const Verdict verdict = judge(*record, here, look_at_process(record->pid, here));
  if (verdict.life != Life::kGone) return RecordRemoval::kNotDead;
  const RecordRemoval removal = unlink_same(directory.get(), name, provider);
  // Only the sockets of this very provider: a record can name any.
  if (removal == RecordRemoval::kRemoved) {
    for (const auto& socket : {socket_name(record->pid, record->inode),
                               door_name(record->pid, record->inode)}) {
      ::unlinkat(directory.get(), socket.c_str(), 0);
    }
  }
  return removal;
}

}  // namespace meterbank
