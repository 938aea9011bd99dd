// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace meterbank::hostile {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

int milliseconds_until(Clock::time_point end) {
  const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now());
  return left.count() < 0 ? 0 : static_cast<int>(left.count()) + 1;
}

[[noreturn]] void execute(const Arguments& arguments) {
  std::vector<char*> words;
  for (const std::string& argument : arguments)
    words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  ::execv(words[0], words.data());
  ::_exit(127);
}

// False: there is no more to come.
bool read_some(int from, std::string& into) {
  std::array<char, 65536> bytes;
  const auto count = ::read(from, bytes.data(), bytes.size());
  if (count > 0) into.append(bytes.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

// Reads until both ends are closed, nothing has come for `limit`, or `end` is there. Returns until
// when the program may still end by itself.
Clock::time_point gather(std::array<pollfd, 2>& ends, Run& run, milliseconds limit,
                         Clock::time_point end) {
  auto silent_until = std::min(Clock::now() + limit, end);
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    if (::poll(ends.data(), ends.size(), milliseconds_until(silent_until)) <= 0) {
      if (Clock::now() >= silent_until) break;
      continue;
    }
    silent_until = std::min(Clock::now() + limit, end);
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0) continue;
      if (!read_some(ends[i].fd, i == 0 ? run.out : run.err)) ends[i].fd = -1;
    }
  }
  return silent_until;
}

void await_end(pid_t child, Run& run, Clock::time_point begun, Clock::time_point end) {
  int status = 0;
  rusage used{};
  for (;;) {
    const pid_t got = ::wait4(child, &status, WNOHANG, &used);
    if (got == child || (got < 0 && errno != EINTR)) break;
    if (Clock::now() >= end) {
      run.late = true;
      ::kill(child, SIGKILL);
      ::wait4(child, &status, 0, &used);
      break;
    }
    ::usleep(500);
  }
  run.seconds = std::chrono::duration<double>(Clock::now() - begun).count();
  run.peak_bytes = static_cast<std::uint64_t>(used.ru_maxrss) * 1024;
  if (WIFEXITED(status)) run.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status) && !run.late) run.signal = WTERMSIG(status);
}

}  // namespace

Run run_command(const Arguments& arguments, std::chrono::milliseconds limit) {
  Run run;
  int out[2], err[2];
  if (::pipe2(out, O_CLOEXEC) != 0 || ::pipe2(err, O_CLOEXEC) != 0) return run;
  const auto begun = Clock::now();
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    execute(arguments);
  }
  ::close(out[1]);
  ::close(err[1]);
  std::array<pollfd, 2> ends{pollfd{out[0], POLLIN, 0}, pollfd{err[0], POLLIN, 0}};
  const auto until = gather(ends, run, limit, begun + 4 * limit);
  await_end(child, run, begun, until);
  ::close(out[0]);
  ::close(err[0]);
  return run;
}

Run run_on_terminal(const Arguments& arguments, std::chrono::milliseconds before_keys,
                    const std::string& keys, std::chrono::milliseconds limit) {
  Run run;
  int terminal = -1;
  winsize size{};
  size.ws_row = 60;
  size.ws_col = 200;
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    ::setenv("TERM", "xterm-256color", 1);
    execute(arguments);
  }
  ::fcntl(terminal, F_SETFD, FD_CLOEXEC);
  std::array<pollfd, 2> ends{pollfd{terminal, POLLIN, 0}, pollfd{-1, 0, 0}};
  gather(ends, run, before_keys, Clock::now() + before_keys);
  static_cast<void>(!::write(terminal, keys.data(), keys.size()));
  const auto typed = Clock::now();
  gather(ends, run, limit, typed + limit);
  await_end(child, run, typed, typed + limit);
  ::close(terminal);
  return run;
}

Background::Background(const Arguments& arguments, std::chrono::milliseconds limit) {
  int out[2];
  if (::pipe2(out, O_CLOEXEC) != 0) {
    error_ = "no pipe";
    return;
  }
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(::open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(out[1], STDERR_FILENO);
    execute(arguments);
  }
  ::close(out[1]);
  out_ = out[0];
  std::string text;
  const auto end = Clock::now() + limit;
  while (text.find("ready\n") == std::string::npos) {
    pollfd wanted{out_, POLLIN, 0};
    if (::poll(&wanted, 1, milliseconds_until(end)) <= 0 && Clock::now() >= end) {
      error_ = "did not become ready: " + text;
      return;
    }
    if (wanted.revents != 0 && !read_some(out_, text)) {
      error_ = "ended before it was ready: " + text;
      return;
    }
  }
}

bool Background::is_alive() noexcept {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid == 0;
}

Background::~Background() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  if (out_ >= 0) ::close(out_);
}

void kill_descendants() {
  const std::string self = std::to_string(::getpid());
  for (int round = 0; round < 1000; ++round) {
    // Orphans become children of this process, which is their reaper.
    std::ifstream children("/proc/self/task/" + self + "/children");
    pid_t child = 0;
    bool any = false;
    while (children >> child) {
      any = true;
      ::kill(child, SIGKILL);
    }
    for (;;) {
      const pid_t got = ::waitpid(-1, nullptr, any ? 0 : WNOHANG);
      if (got < 0 && errno == ECHILD) return;
      if (got == 0 || (got < 0 && errno != EINTR)) break;
      any = false;
    }
  }
}

}  // namespace meterbank::hostile
