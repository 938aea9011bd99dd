// SPDX-License-Identifier: Apache-2.0
#include "cli/session/waiter.hpp"

#include <poll.h>
#include <sys/signalfd.h>

#include <algorithm>
#include <array>

namespace meterbank::cli {
namespace {

constexpr std::array kSignals{SIGINT, SIGTERM, SIGHUP, SIGWINCH};

}  // namespace

Waiter::Waiter(std::optional<std::chrono::nanoseconds> timeout) {
  sigset_t mask;
  ::sigemptyset(&mask);
  for (const int number : kSignals) ::sigaddset(&mask, number);
  ::pthread_sigmask(SIG_BLOCK, &mask, &old_mask_);
  signals_.reset(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
  // Without a descriptor the signals keep their ordinary meaning: they end the process.
  if (!signals_) ::pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
  if (timeout) limit_ = Clock::now() + *timeout;
}

Waiter::~Waiter() {
  // An impatient second Ctrl-C must not end the process between the work and its exit code.
  bool resized = false, requested = false;
  if (signals_) take_signals(resized, requested);
  ::pthread_sigmask(SIG_SETMASK, &old_mask_, nullptr);
}

void Waiter::wait_for_requests() {
  if (!signals_) return;
  sigset_t mask;
  ::sigemptyset(&mask);
  for (const int number : kSignals) ::sigaddset(&mask, number);
  ::sigaddset(&mask, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  ::signalfd(signals_.get(), &mask, SFD_CLOEXEC | SFD_NONBLOCK);
}

void Waiter::take_signals(bool& resized, bool& requested) {
  signalfd_siginfo received{};
  while (::read(signals_.get(), &received, sizeof received) == sizeof received) {
    if (received.ssi_signo == SIGWINCH) {
      resized = true;
    } else if (received.ssi_signo == SIGUSR1) {
      requested = true;
    } else {
      signal_ = static_cast<int>(received.ssi_signo);
    }
  }
}

Wake Waiter::wait_until(Clock::time_point deadline, int input) {
  const auto end = std::min(deadline, limit_);
  for (;;) {
    if (signal_ != 0) return Wake::kStop;
    const auto now = Clock::now();
    const bool due = now >= end;
    // poll() skips a negative descriptor, so both may be absent.
    std::array<pollfd, 2> watched{pollfd{signals_.get(), POLLIN, 0}, pollfd{input, POLLIN, 0}};
    // Far deadlines are reached in hops, which keeps the arithmetic inside a timespec.
    const auto hop = std::min<Clock::duration>(end - now, std::chrono::hours(1));
    timespec left{};
    if (!due) {
      left.tv_sec = static_cast<std::time_t>(hop.count() / 1'000'000'000);
      left.tv_nsec = static_cast<long>(hop.count() % 1'000'000'000);
    }
    if (::ppoll(watched.data(), watched.size(), &left, nullptr) > 0) {
      bool resized = false, requested = false;
      if (watched[0].revents != 0) take_signals(resized, requested);
      // The next wait ends at once where it should stop, too.
      if (requested) return Wake::kRequest;
      if (signal_ != 0) return Wake::kStop;
      if (resized) return Wake::kResize;
      if (watched[1].revents != 0) return Wake::kInput;
    }
    if (!due) continue;
    timed_out_ = now >= limit_;
    return timed_out_ ? Wake::kTimeout : Wake::kDeadline;
  }
}

void Cadence::advance(Clock::time_point now) noexcept {
  next_ += interval_;
  if (now < next_ + interval_ || interval_.count() <= 0) return;
  const auto late = (now - next_) / interval_;
  missed_ += static_cast<std::uint64_t>(late);
  next_ += late * interval_;
}

void Cadence::restart(Clock::time_point now, std::chrono::nanoseconds interval) noexcept {
  interval_ = interval;
  next_ = now + interval;
}

}  // namespace meterbank::cli
