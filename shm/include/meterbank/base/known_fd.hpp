// SPDX-License-Identifier: Apache-2.0
//
// Owns one file descriptor for as long as its object lives, in a process whose other code may close
// every descriptor by its number, as daemons do, and get the numbers back for files of its own.
//
// It knows its file again by device and inode, and closes no other. Files that share one inode
// (epoll sets, event counters, timers) are told from files of other kinds only: their owner asks a
// descriptor that was made before them.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "meterbank/base/unique_fd.hpp"

namespace meterbank {

class KnownFd {
 public:
  KnownFd() noexcept = default;
  // Takes the descriptor over.
  explicit KnownFd(UniqueFd descriptor) noexcept;
  KnownFd(KnownFd&& other) noexcept;
  KnownFd& operator=(KnownFd&& other) noexcept;
  ~KnownFd() { reset(); }

  // The number, whatever it stands for by now.
  [[nodiscard]] int get() const noexcept { return descriptor_.get(); }
  [[nodiscard]] explicit operator bool() const noexcept { return static_cast<bool>(descriptor_); }
  // Whether the number still stands for the file. One system call; errno stays.
  [[nodiscard]] bool is_here() const noexcept;
  // The same, with one system call a tick of the kernel's clock at most (4 ms): for what is done
  // with every packet and would do little harm to another file.
  [[nodiscard]] bool is_here_this_tick() const noexcept;
  // Closes the file if it is here. errno stays.
  void reset() noexcept;
  // Forgets the number without closing it: the caller knows that it stands for another file.
  void abandon() noexcept { static_cast<void>(descriptor_.release()); }

 private:
  UniqueFd descriptor_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  mutable std::atomic<std::uint64_t> seen_ns_{0};  // the tick at which it was here last
};

}  // namespace meterbank
