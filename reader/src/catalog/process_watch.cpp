// SPDX-License-Identifier: Apache-2.0
#include "process_watch.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

namespace meterbank {

ProcessWatch::ProcessWatch(const PointerRecord& record) noexcept
    : pid_(record.pid), start_time_(record.start_time) {
  if (record.boot_id != boot_id()) {
    gone_ = true;
    return;
  }
  pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, static_cast<pid_t>(pid_), 0)));
  if (!pidfd_ && errno == ESRCH) {
    gone_ = true;
    return;
  }
  // Zero with a descriptor in hand: procfs hides the process from us, which is not death.
  const std::uint64_t started = process_start_time(pid_);
  if (started == 0 ? !pidfd_ : started != start_time_) gone_ = true;
}

bool ProcessWatch::alive() noexcept {
  if (gone_) return false;
  if (pidfd_) {
    pollfd ended{pidfd_.get(), POLLIN, 0};
    gone_ = ::poll(&ended, 1, 0) > 0 && (ended.revents & POLLIN) != 0;
  } else {
    gone_ = process_start_time(pid_) != start_time_;
  }
  return !gone_;
}

}  // namespace meterbank
