// SPDX-License-Identifier: Apache-2.0
//
// A child process that stops after each instruction of one operation. Whatever shared memory holds
// at such a stop is what a SIGKILL there would leave behind.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "../../support/sanitizers.hpp"

namespace meterbank::test {

// One operation of a provider. Constructed before the fork; both functions run in the child only.
class Act {
 public:
  Act() = default;
  Act(const Act&) = delete;
  Act& operator=(const Act&) = delete;
  virtual ~Act() = default;
  virtual void prepare() = 0;  // at full speed
  virtual void perform() = 0;  // stopped after each instruction
  // Both run in a thread of their own, of which the end belongs to the operation too.
  [[nodiscard]] virtual bool is_in_thread() const { return false; }
};

class SteppedChild {
 public:
  enum class Stop : std::uint8_t { kInside, kFinished, kDied };

  // Returns with the child stopped between prepare() and perform().
  explicit SteppedChild(Act& act);
  SteppedChild(const SteppedChild&) = delete;
  SteppedChild& operator=(const SteppedChild&) = delete;
  ~SteppedChild() { kill(); }

  [[nodiscard]] bool is_ready() const noexcept { return pid_ > 0; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  // Of one that ended by itself; -1: it did not.
  [[nodiscard]] int exit_code() const noexcept { return exit_code_; }
  Stop step();                    // one instruction
  Stop to_system_call();          // to the next entry into or return from the kernel
  Stop finish_after(int signal);  // which is delivered here; the rest at full speed
  void kill() noexcept;           // SIGKILL, and reaped

 private:
  void wait_until_ready();
  Stop resume(int request, std::intptr_t signal = 0);
  pid_t pid_ = -1;
  int exit_code_ = -1;
  pid_t thread_ = -1;  // that is stepped; the process' own number where it is the first one
};

// False where single steps are impossible or mean something else: a sanitizer's bookkeeping would
// be stepped through too, and on AArch64 a step breaks every load-exclusive loop.
[[nodiscard]] constexpr bool can_step() noexcept {
#if defined(__x86_64__)
  return !kHasSanitizer;
#else
  return false;
#endif
}

}  // namespace meterbank::test
