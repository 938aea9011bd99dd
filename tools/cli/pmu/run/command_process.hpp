// SPDX-License-Identifier: Apache-2.0
//
// A command in a process of its own, which stops before it becomes the command until it is let go.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"

namespace meterbank::cli {

class CommandProcess {
 public:
  // `prepare` runs in the new process first. Where this process has threads it may do no more than
  // a signal handler may. Errors: kSystem.
  static Result<CommandProcess> start(const std::vector<std::string>& command,
                                      const std::function<void()>& prepare);
  CommandProcess(CommandProcess&& other) noexcept;
  CommandProcess& operator=(CommandProcess&&) = delete;
  // Kills it if it still waits to be let go; then waits for its end.
  ~CommandProcess();

  // Errors: kNotFound, kDenied, kSystem: it could not become the command.
  [[nodiscard]] Result<void> let_go();
  // Readable when it has ended.
  [[nodiscard]] int descriptor() const noexcept { return ended_.get(); }
  // A signal that reached this process only; 0 is as SIGTERM. One of the terminal has reached the
  // command as well, which does not mind a second one.
  void pass_on(int signal) noexcept;
  void wait() const noexcept;
  // Waits for its end. Its exit code, or 128 and the signal, as shells say it.
  int finish();

 private:
  CommandProcess() = default;

  pid_t pid_ = -1;
  UniqueFd ended_;  // pidfd
  UniqueFd gate_;   // a byte lets it go
  UniqueFd fault_;  // errno of exec; ends without a byte when it succeeded
  std::string name_;
};

}  // namespace meterbank::cli
