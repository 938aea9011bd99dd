// SPDX-License-Identifier: Apache-2.0
#include "standard_error.hpp"

#include <poll.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <string>

namespace meterbank::detail {

WithoutPipeSignal::WithoutPipeSignal() noexcept {
  sigset_t pending;
  ::sigemptyset(&pipe_);
  ::sigaddset(&pipe_, SIGPIPE);
  was_pending_ = ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGPIPE) == 1;
  ::pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
}

WithoutPipeSignal::~WithoutPipeSignal() {
  const timespec now{};
  if (!was_pending_) ::sigtimedwait(&pipe_, nullptr, &now);
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

StandardError::StandardError() noexcept {
  struct stat facts {};
  is_open_ = ::fstat(STDERR_FILENO, &facts) == 0;
  device_ = facts.st_dev;
  inode_ = facts.st_ino;
}

void StandardError::say(std::string_view text) const noexcept {
  struct stat facts {};
  if (!is_open_ || ::fstat(STDERR_FILENO, &facts) != 0) return;
  if (facts.st_dev != device_ || facts.st_ino != inode_) return;
  pollfd writable{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&writable, 1, 0) != 1 || (writable.revents & POLLOUT) == 0) return;
  const WithoutPipeSignal quiet;
  std::string_view begin = "meterbank: ", end = "\n";
  std::array<iovec, 3> parts{};
  std::size_t count = 0;
  for (const std::string_view part : {begin, text, end}) {
    parts[count++] = {const_cast<char*>(part.data()), part.size()};
  }
  static_cast<void>(!::writev(STDERR_FILENO, parts.data(), static_cast<int>(count)));
}

}  // namespace meterbank::detail
