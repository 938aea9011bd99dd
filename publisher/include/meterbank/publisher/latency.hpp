// SPDX-License-Identifier: Apache-2.0
//
// How long a region takes, into a distribution of seconds.
//
//   LatencyRecorder latency(instance.recorder(Venue::kLatency));   once
//   { const LatencyScope scope(latency); handle(request); }        each time
//
// LatencyChain does it for regions that follow each other.
//
// Thread safety  LatencyRecorder: as the recorder inside. TickClock: any thread.
// Errors         None. A counter that went backwards all the same, as on a machine that was moved,
//                gives zero, which the distribution counts as below its range.
// Progress       Wait-free, as the recorder; of_this_machine() takes a millisecond, once a process.
// Cost           Two readings of the clock and one record(); of a chain one reading.
// bench/README.md
//                has the figures.
// Lifetime       A scope must not outlive its recorder.
// Units          Ticks of the clock; seconds in the distribution.
//
// The clock is the cheapest that does not lie: the processor's own counter where it runs at one
// rate, never stops and the kernel trusts it for its own time (x86-64 with an invariant TSC as the
// clock source; AArch64 always), else CLOCK_MONOTONIC.
#pragma once

#include <cstdint>
#include <utility>

#include "meterbank/base/clock.hpp"
#include "meterbank/publisher/value_handles.hpp"

namespace meterbank {

enum class LatencyClock : std::uint8_t {
  kProcessor,  // TSC, or the virtual count of AArch64
  kMonotonic,  // CLOCK_MONOTONIC
};

// Ticks of one clock, and what they are worth.
class TickClock {
 public:
  // The clock of this machine. Measures the rate of a TSC against CLOCK_MONOTONIC_RAW for a
  // millisecond, once a process; fails to nothing worse than kMonotonic.
  static const TickClock& of_this_machine() noexcept;
  static constexpr TickClock monotonic() noexcept { return {LatencyClock::kMonotonic, 1e-9}; }

  [[nodiscard]] LatencyClock kind() const noexcept { return kind_; }
  [[nodiscard]] double seconds(std::uint64_t ticks) const noexcept {
    return static_cast<double>(ticks) * seconds_a_tick_;
  }

  // At the beginning of a region: what follows may already have begun.
  [[nodiscard]] std::uint64_t begin() const noexcept {
#if defined(__x86_64__)
    if (kind_ == LatencyClock::kProcessor) return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    if (kind_ == LatencyClock::kProcessor) return virtual_count();
#endif
    return clock_ns(CLOCK_MONOTONIC);
  }
  // At its end: all of it has been done.
  [[nodiscard]] std::uint64_t end() const noexcept {
#if defined(__x86_64__)
    unsigned processor = 0;
    if (kind_ == LatencyClock::kProcessor) return __builtin_ia32_rdtscp(&processor);
#elif defined(__aarch64__)
    if (kind_ == LatencyClock::kProcessor) {
      asm volatile("isb" ::: "memory");
      return virtual_count();
    }
#endif
    return clock_ns(CLOCK_MONOTONIC);
  }

 private:
  constexpr TickClock(LatencyClock kind, double seconds_a_tick) noexcept
      : kind_(kind), seconds_a_tick_(seconds_a_tick) {}
  static TickClock measured() noexcept;
#if defined(__aarch64__)
  static std::uint64_t virtual_count() noexcept {
    std::uint64_t count = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
  }
#endif

  LatencyClock kind_;
  double seconds_a_tick_;
};

// A Recorder or ShardedRecorder of seconds, with a clock.
template <typename R = Recorder>
class LatencyRecorder {
 public:
  explicit LatencyRecorder(R recorder,
                           const TickClock& clock = TickClock::of_this_machine()) noexcept
      : recorder_(std::move(recorder)), clock_(clock) {}

  [[nodiscard]] const TickClock& clock() const noexcept { return clock_; }
  void record_ticks(std::uint64_t begin, std::uint64_t end) noexcept {
    recorder_.record(end > begin ? clock_.seconds(end - begin) : 0);
  }

 private:
  R recorder_;
  TickClock clock_;
};

// Times the region that it lives in.
template <typename R>
class [[nodiscard]] LatencyScope {
 public:
  explicit LatencyScope(LatencyRecorder<R>& recorder) noexcept
      : recorder_(&recorder), begin_(recorder.clock().begin()) {}
  LatencyScope(const LatencyScope&) = delete;
  LatencyScope& operator=(const LatencyScope&) = delete;
  ~LatencyScope() {
    if (recorder_ != nullptr) recorder_->record_ticks(begin_, recorder_->clock().end());
  }

  // Records nothing: this was not one of those to be timed.
  void discard() noexcept { recorder_ = nullptr; }

 private:
  LatencyRecorder<R>* recorder_;
  std::uint64_t begin_;
};

// Times regions that follow each other. The end of one is the beginning of the next, so each costs
// one reading of the clock where a scope takes two:
//
//   LatencyChain chain(parsing.clock());
//   parse(request);
//   chain.record(parsing);
//   answer(request);
//   chain.record(answering);
class LatencyChain {
 public:
  // The first region begins. `clock`: that of all recorders it is used with.
  explicit LatencyChain(const TickClock& clock = TickClock::of_this_machine()) noexcept
      : clock_(clock), begin_(clock_.begin()) {}

  // A region ends, and the next one begins.
  template <typename R>
  void record(LatencyRecorder<R>& recorder) noexcept {
    const std::uint64_t end = clock_.end();
    recorder.record_ticks(begin_, end);
    begin_ = end;
  }
  // The time since the last one belongs to no region.
  void skip() noexcept { begin_ = clock_.begin(); }

 private:
  TickClock clock_;
  std::uint64_t begin_;
};

}  // namespace meterbank
