// SPDX-License-Identifier: Apache-2.0
//
// When a tick was: both clocks, and how long the sample took to read. Ticks are evenly spaced, and
// the clocks go alike, so that each is predicted by the ticks before.
#pragma once

#include <cstdint>

#include "../frames/bytes.hpp"
#include "meterbank/reader/sample.hpp"

namespace meterbank::recording {

class TickTimes {
 public:
  TickTimes() = default;
  TickTimes(Timestamp last, std::uint64_t step) noexcept : time_(last), step_(step) {}

  void append_first(Timestamp time, std::uint64_t window_ns, ByteWriter& out) {
    out.number(time.monotonic_ns);
    out.number(time.realtime_ns);
    out.number(window_ns);
    time_ = time;
    step_ = 0;
  }
  void append_next(Timestamp time, std::uint64_t window_ns, ByteWriter& out) {
    const std::uint64_t step = time.monotonic_ns - time_.monotonic_ns;
    out.difference(step, step_);
    out.difference(time.realtime_ns - time_.realtime_ns, step);
    out.number(window_ns);
    time_ = time;
    step_ = step;
  }

  // Whether a tick at this time would be before the last one on the wall clock, or the clocks went
  // apart: one was set, or the machine slept.
  [[nodiscard]] bool jumps_at(Timestamp time) const noexcept {
    constexpr std::int64_t kTogetherNs = 100'000'000;
    const std::uint64_t step = time.monotonic_ns - time_.monotonic_ns;
    const std::uint64_t wall_step = time.realtime_ns - time_.realtime_ns;
    const auto apart = static_cast<std::int64_t>(wall_step - step);
    return time.realtime_ns < time_.realtime_ns || apart > kTogetherNs || apart < -kTogetherNs;
  }

  void read_first(ByteReader& in) noexcept {
    time_.monotonic_ns = in.number();
    time_.realtime_ns = in.number();
    window_ns_ = in.number();
    step_ = 0;
  }
  void read_next(ByteReader& in) noexcept {
    step_ = in.after(step_);
    time_.monotonic_ns += step_;
    time_.realtime_ns += in.after(step_);
    window_ns_ = in.number();
  }
  [[nodiscard]] Timestamp time() const noexcept { return time_; }
  [[nodiscard]] std::uint64_t step() const noexcept { return step_; }
  [[nodiscard]] std::uint64_t window_ns() const noexcept { return window_ns_; }

 private:
  Timestamp time_;
  std::uint64_t step_ = 0;
  std::uint64_t window_ns_ = 0;
};

}  // namespace meterbank::recording
