// SPDX-License-Identifier: Apache-2.0
#include "stepped_child.hpp"

#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>

namespace meterbank::test {

namespace {

// Performs in a second thread, whose number goes to `report`. The thread must not be joined: its
// end is being stepped through.
[[noreturn]] void perform_in_thread(Act& act, int report) {
  std::thread([&act, report] {
    act.prepare();
    const auto number = static_cast<pid_t>(::syscall(SYS_gettid));
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    if (::write(report, &number, sizeof(number)) != sizeof(number)) ::_exit(1);
    ::raise(SIGSTOP);
    act.perform();
  }).detach();
  for (;;) ::pause();
}

}  // namespace

SteppedChild::SteppedChild(Act& act) {
  std::array<int, 2> report{-1, -1};
  const bool is_in_thread = act.is_in_thread();
  if (is_in_thread && ::pipe(report.data()) != 0) return;
  pid_ = ::fork();
  if (pid_ == 0) {
    if (is_in_thread) perform_in_thread(act, report[1]);
    act.prepare();
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    act.perform();
    ::raise(SIGSTOP);
    ::_exit(0);
  }
  thread_ = pid_;
  if (is_in_thread) {
    ::close(report[1]);
    if (::read(report[0], &thread_, sizeof(thread_)) != sizeof(thread_)) thread_ = -1;
    ::close(report[0]);
  }
  wait_until_ready();
}

void SteppedChild::wait_until_ready() {
  int status = 0;
  if (thread_ <= 0 || ::waitpid(thread_, &status, __WALL) != thread_ || !WIFSTOPPED(status) ||
      WSTOPSIG(status) != SIGSTOP ||
      ::ptrace(PTRACE_SETOPTIONS, thread_, nullptr, PTRACE_O_EXITKILL) != 0) {
    kill();
  }
}

SteppedChild::Stop SteppedChild::resume(int request, std::intptr_t signal) {
  int status = 0;
  if (::ptrace(static_cast<__ptrace_request>(request), thread_, nullptr, signal) != 0) {
    return Stop::kDied;
  }
  while (::waitpid(thread_, &status, __WALL) < 0) {
    if (errno != EINTR) return Stop::kDied;
  }
  if (!WIFSTOPPED(status)) {
    if (WIFEXITED(status)) exit_code_ = WEXITSTATUS(status);
    const bool is_end_of_thread = thread_ != pid_ && WIFEXITED(status);
    if (thread_ == pid_) pid_ = -1;  // reaped
    thread_ = -1;
    return is_end_of_thread ? Stop::kFinished : Stop::kDied;
  }
  return WSTOPSIG(status) == SIGSTOP ? Stop::kFinished : Stop::kInside;
}

SteppedChild::Stop SteppedChild::step() { return resume(PTRACE_SINGLESTEP); }
SteppedChild::Stop SteppedChild::to_system_call() { return resume(PTRACE_SYSCALL); }
SteppedChild::Stop SteppedChild::finish_after(int signal) { return resume(PTRACE_CONT, signal); }

void SteppedChild::kill() noexcept {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  int status = 0;
  // A second thread that was stepped is reaped before its process.
  while (thread_ > 0 && ::waitpid(thread_, &status, __WALL) == thread_ && WIFSTOPPED(status)) {
  }
  if (thread_ != pid_) ::waitpid(pid_, &status, 0);
  pid_ = thread_ = -1;
}

}  // namespace meterbank::test
