// SPDX-License-Identifier: Apache-2.0
#include "stepped_child.hpp"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

namespace meterbank::test {

SteppedChild::SteppedChild(Act& act) {
  pid_ = ::fork();
  if (pid_ == 0) {
    act.prepare();
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    act.perform();
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  int status = 0;
  if (::waitpid(pid_, &status, 0) != pid_ || !WIFSTOPPED(status) || WSTOPSIG(status) != SIGSTOP ||
      ::ptrace(PTRACE_SETOPTIONS, pid_, nullptr, PTRACE_O_EXITKILL) != 0) {
    kill();
  }
}

SteppedChild::Stop SteppedChild::resume(int request) {
  int status = 0;
  if (::ptrace(static_cast<__ptrace_request>(request), pid_, nullptr, nullptr) != 0) {
    return Stop::kDied;
  }
  while (::waitpid(pid_, &status, 0) < 0) {
    if (errno != EINTR) return Stop::kDied;
  }
  if (!WIFSTOPPED(status)) {
    pid_ = -1;  // reaped
    return Stop::kDied;
  }
  return WSTOPSIG(status) == SIGSTOP ? Stop::kFinished : Stop::kInside;
}

SteppedChild::Stop SteppedChild::step() { return resume(PTRACE_SINGLESTEP); }
SteppedChild::Stop SteppedChild::to_system_call() { return resume(PTRACE_SYSCALL); }

void SteppedChild::kill() noexcept {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) == pid_ && WIFSTOPPED(status)) {
  }
  pid_ = -1;
}

}  // namespace meterbank::test
