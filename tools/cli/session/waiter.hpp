// SPDX-License-Identifier: Apache-2.0
//
// Waits for the next moment, a key or a request to stop; and the moments themselves.
#pragma once

#include <signal.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include "meterbank/base/unique_fd.hpp"

namespace meterbank::cli {

using Clock = std::chrono::steady_clock;

enum class Wake : std::uint8_t {
  kDeadline,
  kStop,     // SIGINT, SIGTERM or SIGHUP
  kTimeout,  // the whole command may not take longer
  kInput,
  kResize,   // SIGWINCH
  kRequest,  // SIGUSR1, if it is waited for
};

// Takes the signals that end a command out of asynchronous delivery for as long as it lives. Make
// it before any thread, which inherits the mask. Thread safety: one thread.
class Waiter {
 public:
  explicit Waiter(std::optional<std::chrono::nanoseconds> timeout);
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;
  ~Waiter();

  // From now on SIGUSR1 wakes instead of ending the process.
  void wait_for_requests();

  // Stops are sticky until take_signal(): every later wait ends at once. Input is looked at only if
  // a descriptor is given.
  Wake wait_until(Clock::time_point deadline, int input = -1);
  Wake wait_until_stopped() { return wait_until(Clock::time_point::max()); }

  // The signal that asked to stop, or 0.
  [[nodiscard]] int signal() const noexcept { return signal_; }
  // The same; from now on waits go on, until the next signal. For who hands it on.
  [[nodiscard]] int take_signal() noexcept { return std::exchange(signal_, 0); }
  [[nodiscard]] bool timed_out() const noexcept { return timed_out_; }

 private:
  void take_signals(bool& resized, bool& requested);

  UniqueFd signals_;
  sigset_t old_mask_{};
  Clock::time_point limit_ = Clock::time_point::max();
  int signal_ = 0;
  bool timed_out_ = false;
};

// Moments at a fixed distance from the first. A moment that was slept or worked through is missed,
// never made up for, and the later ones stay where they are.
class Cadence {
 public:
  Cadence(Clock::time_point first, std::chrono::nanoseconds interval) noexcept
      : next_(first), interval_(interval) {}

  [[nodiscard]] Clock::time_point next() const noexcept { return next_; }
  // Call when the work of this moment is done.
  void advance(Clock::time_point now) noexcept;
  // A new distance, counted from `now`.
  void restart(Clock::time_point now, std::chrono::nanoseconds interval) noexcept;

  [[nodiscard]] std::uint64_t missed() const noexcept { return missed_; }
  [[nodiscard]] std::chrono::nanoseconds interval() const noexcept { return interval_; }

 private:
  Clock::time_point next_;
  std::chrono::nanoseconds interval_;
  std::uint64_t missed_ = 0;
};

}  // namespace meterbank::cli
