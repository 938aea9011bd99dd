// SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "meterbank/base/unique_fd.hpp"

namespace meterbank::test {
namespace {

constexpr int kHangMs = 60'000;  // a hang, whatever the machine is busy with

[[noreturn]] void become(const std::string& program, const std::vector<std::string>& words) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::vector<char*> arguments{const_cast<char*>(program.c_str())};
  for (const auto& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  ::_exit(127);
}

int code_of(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Appends what there is; false at the end.
bool read_some(int descriptor, std::string& text) {
  std::array<char, 65'536> bytes{};
  const auto count = ::read(descriptor, bytes.data(), bytes.size());
  if (count <= 0) return false;  // a terminal whose program ended: EIO
  text.append(bytes.data(), static_cast<std::size_t>(count));
  return true;
}

}  // namespace

Ended run_on_pipes(const std::string& program, const std::vector<std::string>& words) {
  std::array<int, 2> out{};
  std::array<int, 2> err{};
  if (::pipe2(out.data(), O_CLOEXEC) != 0 || ::pipe2(err.data(), O_CLOEXEC) != 0) return {};
  const pid_t pid = ::fork();
  if (pid == 0) {
    const int nothing = ::open("/dev/null", O_RDONLY);
    ::dup2(nothing, STDIN_FILENO);
    ::dup2(out[1], STDOUT_FILENO);
    ::dup2(err[1], STDERR_FILENO);
    become(program, words);
  }
  ::close(out[1]);
  ::close(err[1]);
  const UniqueFd out_end(out[0]);
  const UniqueFd err_end(err[0]);
  Ended ended;
  std::array<pollfd, 2> ends{pollfd{out_end.get(), POLLIN, 0}, pollfd{err_end.get(), POLLIN, 0}};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    if (::poll(ends.data(), ends.size(), kHangMs) <= 0) {
      ADD_FAILURE() << program << " hangs";
      ::kill(pid, SIGKILL);
      break;
    }
    if (ends[0].revents != 0 && !read_some(ends[0].fd, ended.out)) ends[0].fd = -1;
    if (ends[1].revents != 0 && !read_some(ends[1].fd, ended.err)) ends[1].fd = -1;
  }
  ended.code = code_of(pid);
  return ended;
}

Ended run_on_terminal(const std::string& program, const std::vector<std::string>& words,
                      std::string_view keys, TerminalSize size, const std::string& locale) {
  winsize window{size.rows, size.columns, 0, 0};
  int master = -1;
  const pid_t pid = ::forkpty(&master, nullptr, nullptr, &window);
  if (pid == 0) {
    ::setenv("TERM", "xterm", 1);
    ::setenv("LC_ALL", locale.c_str(), 1);
    become(program, words);
  }
  const UniqueFd terminal(master);
  Ended ended;
  for (;;) {
    pollfd readable{terminal.get(), POLLIN, 0};
    if (::poll(&readable, 1, kHangMs) <= 0) {
      ADD_FAILURE() << program << " hangs";
      ::kill(pid, SIGKILL);
      break;
    }
    if (!read_some(terminal.get(), ended.out)) break;
    if (keys.empty()) continue;
    static_cast<void>(!::write(terminal.get(), keys.data(), 1));
    keys.remove_prefix(1);
  }
  ended.code = code_of(pid);
  return ended;
}

Background::Background(const std::string& program, const std::vector<std::string>& words) {
  std::array<int, 2> out{};
  if (::pipe2(out.data(), O_CLOEXEC) != 0) return;
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(out[1], STDOUT_FILENO);
    become(program, words);
  }
  ::close(out[1]);
  const UniqueFd out_end(out[0]);
  while (said_.find('\n') == std::string::npos && read_some(out_end.get(), said_)) {
  }
}

Background::~Background() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGTERM);
  code_of(pid_);
}

}  // namespace meterbank::test
