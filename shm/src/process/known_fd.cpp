// SPDX-License-Identifier: Apache-2.0
#include "meterbank/base/known_fd.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "meterbank/base/clock.hpp"

namespace meterbank {

KnownFd::KnownFd(UniqueFd descriptor) noexcept : descriptor_(std::move(descriptor)) {
  struct stat facts {};
  if (!descriptor_) return;
  const int kept = errno;
  if (::fstat(descriptor_.get(), &facts) == 0) {
    device_ = facts.st_dev;
    inode_ = facts.st_ino;
  }
  errno = kept;
}

KnownFd::KnownFd(KnownFd&& other) noexcept
    : descriptor_(std::move(other.descriptor_)), device_(other.device_), inode_(other.inode_) {}

KnownFd& KnownFd::operator=(KnownFd&& other) noexcept {
  if (this == &other) return *this;
  reset();
  descriptor_ = std::move(other.descriptor_);
  device_ = other.device_;
  inode_ = other.inode_;
  return *this;
}

bool KnownFd::is_here() const noexcept {
  if (!descriptor_) return false;
  const int kept = errno;
  struct stat facts {};
  const bool is_file = ::fstat(descriptor_.get(), &facts) == 0;
  errno = kept;
  return is_file && facts.st_dev == device_ && facts.st_ino == inode_;
}

bool KnownFd::is_here_this_tick() const noexcept {
  const std::uint64_t tick = clock_ns(CLOCK_MONOTONIC_COARSE);
  // relaxed, both: the time stands for itself, nothing is published by it.
  if (descriptor_ && seen_ns_.load(std::memory_order_relaxed) == tick) return true;
  if (!is_here()) return false;
  seen_ns_.store(tick, std::memory_order_relaxed);
  return true;
}

void KnownFd::reset() noexcept {
  if (!descriptor_) return;
  const int kept = errno;
  if (is_here()) {
    descriptor_.reset();
  } else {
    abandon();
  }
  errno = kept;
}

}  // namespace meterbank
