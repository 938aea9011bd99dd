// SPDX-License-Identifier: Apache-2.0
//
// A provider's files in the runtime directory: the record, written when the provider starts and
// written again if it vanished, and the sockets beside it. All of them are removed at the end.
//
// The directory is kept open. So the files are found after a chroot() or pivot_root(), where the
// path leads to another place or nowhere, and by the names of this provider only.
//
// Thread safety  None. The keeper thread and the provider use it under one mutex.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "meterbank/base/known_fd.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/shm/pointer_record.hpp"
#include "notice/standard_error.hpp"

namespace meterbank::detail {

// ProviderOptions::keep_record, or METERBANK_KEEP_RECORD in its place, but not in set-uid programs.
// Errors: kInvalidArgument.
[[nodiscard]] Result<bool> keeps_record(bool option);

class KeptRecord {
 public:
  // Where the files of this provider lie. Before anything is written there.
  void choose(const std::string& directory);
  // Writes the record, and removes those that earlier lives of this provider left behind.
  [[nodiscard]] Result<void> write(PointerRecord record);
  // A socket beside the record, which remove() removes, too.
  void add_socket(std::string name) { sockets_.push_back(std::move(name)); }

  // Writes it again if nothing has its name any more. One stat() if all is well. A directory that
  // is gone is not made again, and a file of another user is left alone: said once on stderr.
  void look_after() noexcept;
  // Says once on stderr if the process has changed its user since and will not be able to remove
  // the record.
  void say_if_not_removable() noexcept;
  void remove() noexcept;
  void leave_to_parent() noexcept { opened_.reset(); }

 private:
  using FileId = std::array<std::uint64_t, 2>;  // device and inode

  void open_directory() noexcept;
  [[nodiscard]] bool has_another_root() const noexcept;
  void write_again(bool by_descriptor);
  void say_once(const std::string& what) noexcept;

  std::string directory_;
  KnownFd opened_;  // the directory; may be missing, and be lost to the program
  PointerRecord record_;
  std::string path_;  // empty: nothing was written
  std::string name_;  // in the directory
  std::vector<std::string> sockets_;
  FileId file_{}, directory_file_{}, root_{};
  uid_t user_ = 0;
  StandardError stderr_;
  bool has_spoken_ = false, has_spoken_of_user_ = false;
};

// Says once on stderr, for the whole process, if what the process did keeps readers of its own user
// from reading it: a change of its user, capabilities of its file, or prctl(). Root can read it.
void say_if_not_dumpable(const std::string& provider, const StandardError& target) noexcept;

}  // namespace meterbank::detail
