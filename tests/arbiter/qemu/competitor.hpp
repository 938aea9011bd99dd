// SPDX-License-Identifier: Apache-2.0
//
// A process that holds pinned counters of a CPU without a lease.
#pragma once

#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>

#include "kernel_counter.hpp"

namespace meterbank::emulated {

class Competitor {
 public:
  Competitor(std::uint32_t counters, int cpu) {
    std::array<int, 2> ready = {};
    if (pipe(ready.data()) != 0) std::abort();
    child_ = fork();
    if (child_ == 0) {
      const auto held = open_counters(counters, {.cpu = cpu});
      const char answering = static_cast<char>(count_answering(held));
      static_cast<void>(!write(ready[1], &answering, 1));
      for (;;) pause();
    }
    char answering = 0;
    static_cast<void>(!::read(ready[0], &answering, 1));
    answering_ = static_cast<std::uint32_t>(answering);
    close(ready[0]);
    close(ready[1]);
  }
  Competitor(const Competitor&) = delete;
  Competitor& operator=(const Competitor&) = delete;
  ~Competitor() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const noexcept { return child_; }
  // So many of its counters were got.
  [[nodiscard]] std::uint32_t answering() const noexcept { return answering_; }

 private:
  pid_t child_ = -1;
  std::uint32_t answering_ = 0;
};

}  // namespace meterbank::emulated
