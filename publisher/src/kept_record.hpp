// SPDX-License-Identifier: Apache-2.0
//
// A provider's record: written when the provider starts, written again if the file vanished, and
// removed at the end.
//
// Thread safety  None. The keeper thread and the provider use it under one mutex.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "meterbank/base/result.hpp"
#include "meterbank/shm/pointer_record.hpp"
#include "standard_error.hpp"

namespace meterbank::detail {

class KeptRecord {
 public:
  // Writes the record, and removes those that earlier lives of this provider left behind.
  [[nodiscard]] Result<void> write(const std::string& directory, PointerRecord record);
  // Writes it again if nothing has its name any more. One stat() if all is well. A directory that
  // is gone is not made again, and a file of another user is left alone: said once on stderr.
  void look_after() noexcept;
  void remove() noexcept;

 private:
  using FileId = std::array<std::uint64_t, 2>;  // device and inode

  void write_again();
  void say_once(const std::string& what) noexcept;

  std::string directory_;
  PointerRecord record_;
  std::string path_;  // empty: nothing was written
  FileId file_{}, directory_file_{};
  StandardError stderr_;
  bool has_spoken_ = false;
};

// Says once on stderr, for the whole process, if what the process did keeps readers of its own user
// from reading it: a change of its user, capabilities of its file, or prctl(). Root can read it.
void say_if_not_dumpable(const std::string& provider, const StandardError& target) noexcept;

}  // namespace meterbank::detail
