// SPDX-License-Identifier: Apache-2.0
//
// Standard error of a program that may close it, or give its number to a file of its own, at any
// time after it created a provider.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <string_view>

namespace meterbank::detail {

// While it lives, a write to a pipe that nothing reads fails, and does not end the process.
class WithoutPipeSignal {
 public:
  WithoutPipeSignal() noexcept;
  WithoutPipeSignal(const WithoutPipeSignal&) = delete;
  WithoutPipeSignal& operator=(const WithoutPipeSignal&) = delete;
  ~WithoutPipeSignal();

 private:
  sigset_t pipe_, before_;
  bool was_pending_ = false;
};

class StandardError {
 public:
  // Notes which file it is now.
  StandardError() noexcept;

  // Writes one line if it is still that file and does not make the caller wait.
  void say(std::string_view text) const noexcept;

 private:
  bool is_open_ = false;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace meterbank::detail
