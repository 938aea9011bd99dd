// SPDX-License-Identifier: Apache-2.0
#include "cli/pmu/run/command_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "cli/session/open_files.hpp"

namespace meterbank::cli {
namespace {

// What this program has changed for itself and a command would inherit.
void restore_signals() noexcept {
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void become(char* const* words, int gate, int fault) noexcept {
  char go = 0;
  ssize_t got = -1;
  do {
    got = ::read(gate, &go, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) ::_exit(127);
  restore_signals();
  restore_open_files_limit();
  ::execvp(words[0], words);
  const int error = errno;
  [[maybe_unused]] const auto written = ::write(fault, &error, sizeof(error));
  ::_exit(127);
}

}  // namespace

Result<CommandProcess> CommandProcess::start(const std::vector<std::string>& command,
                                             const std::function<void()>& prepare) {
  CommandProcess process;
  process.name_ = command.front();
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const auto& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  std::array<int, 2> gate{}, fault{};
  if (::pipe2(gate.data(), O_CLOEXEC) != 0) {
    return fail(ErrorCode::kSystem, "cannot make a pipe", "", errno);
  }
  UniqueFd gate_end(gate[0]);
  process.gate_.reset(gate[1]);
  if (::pipe2(fault.data(), O_CLOEXEC) != 0) {
    return fail(ErrorCode::kSystem, "cannot make a pipe", "", errno);
  }
  process.fault_.reset(fault[0]);
  UniqueFd fault_end(fault[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return fail(ErrorCode::kSystem, "cannot make a process", "", errno);
  if (pid == 0) {
    // Its own end, or it would wait for itself.
    process.gate_.reset();
    if (prepare) prepare();
    become(words.data(), gate_end.get(), fault_end.get());
  }
  process.pid_ = pid;
  process.ended_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  return process;
}

CommandProcess::CommandProcess(CommandProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      ended_(std::move(other.ended_)),
      gate_(std::move(other.gate_)),
      fault_(std::move(other.fault_)),
      name_(std::move(other.name_)) {}

CommandProcess::~CommandProcess() {
  if (pid_ < 0) return;
  if (gate_) ::kill(pid_, SIGKILL);
  finish();
}

Result<void> CommandProcess::let_go() {
  const char go = 1;
  const auto written = ::write(gate_.get(), &go, 1);
  gate_.reset();
  int error = 0;
  ssize_t got = -1;
  do {
    got = ::read(fault_.get(), &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  if (written == 1 && got == 0) return {};
  const auto code = error == ENOENT   ? ErrorCode::kNotFound
                    : error == EACCES ? ErrorCode::kDenied
                                      : ErrorCode::kSystem;
  return fail(code, fmt::format("cannot run {}", name_), "a program that is there", error);
}

void CommandProcess::pass_on(int signal) noexcept {
  if (pid_ > 0) ::kill(pid_, signal == 0 ? SIGTERM : signal);
}

void CommandProcess::wait() const noexcept {
  siginfo_t info{};
  // Left as a zombie, whose counters can be read.
  while (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
}

int CommandProcess::finish() {
  int status = 0;
  pid_t got = -1;
  do {
    got = ::waitpid(pid_, &status, 0);
  } while (got < 0 && errno == EINTR);
  pid_ = -1;
  gate_.reset();
  if (got < 0) return 127;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace meterbank::cli
