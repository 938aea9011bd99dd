// SPDX-License-Identifier: Apache-2.0
//
// A program's run: what it printed, how it ended, what it took.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace meterbank::hostile {

struct Run {
  int code = -1;       // of exit, if it ended by itself
  int signal = 0;      // which ended it
  bool late = false;   // it was killed because it had not ended
  double seconds = 0;  // on the clock
  std::uint64_t peak_bytes = 0;
  std::string out, err;

  [[nodiscard]] bool exited() const noexcept { return signal == 0 && !late; }
};

using Arguments = std::vector<std::string>;

// Runs a program to its end, or until it has been silent for `limit`; four times that at most.
[[nodiscard]] Run run_command(const Arguments& arguments, std::chrono::milliseconds limit);
// The same on a terminal of its own, where `keys` are typed after a while.
[[nodiscard]] Run run_on_terminal(const Arguments& arguments, std::chrono::milliseconds before_keys,
                                  const std::string& keys, std::chrono::milliseconds limit);

// A program that goes on until it is killed.
class Background {
 public:
  // Waits until it has printed "ready"; otherwise error() says what became of it.
  Background(const Arguments& arguments, std::chrono::milliseconds limit);
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background();

  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] bool is_alive() noexcept;

 private:
  pid_t pid_ = -1;
  int out_ = -1;
  std::string error_;
};

// Kills everything that this process has started, and what that has, and waits for it.
void kill_descendants();

}  // namespace meterbank::hostile
