// SPDX-License-Identifier: Apache-2.0
//
// What a segment itself says about the life of its provider. Hints: one load each, no system call.
#pragma once

#include <cstdint>

#include "meterbank/base/clock.hpp"
#include "meterbank/shm/owner_mutex.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank {

// [Q7] pairs with [P7]. Without it the last values that a reader takes could be older than the end.
[[nodiscard]] inline bool is_closed(const SegmentHeader& header) noexcept {
  return header.state.load(std::memory_order_acquire) ==
         static_cast<std::uint32_t>(SegmentState::kClosed);
}

[[nodiscard]] inline bool owner_died(const SegmentHeader& header) noexcept {
  return has_owner_died(header.owner_mutex);
}

// Zero for a beat in the future, as another time namespace or a hostile provider may claim.
[[nodiscard]] inline std::uint64_t heartbeat_age_ns(const SegmentHeader& header,
                                                    std::uint64_t now_ns) noexcept {
  const std::uint64_t beat = header.heartbeat_ns.load(std::memory_order_relaxed);  // orders nothing
  return beat < now_ns ? now_ns - beat : 0;
}

[[nodiscard]] inline std::uint64_t heartbeat_age_ns(const SegmentHeader& header) noexcept {
  return heartbeat_age_ns(header, clock_ns(CLOCK_MONOTONIC));
}

// True if the provider has a keeper, and its last heartbeat is more than three periods old.
[[nodiscard]] inline bool is_late(const SegmentHeader& header, std::uint64_t now_ns) noexcept {
  constexpr std::uint64_t kPeriods = 3;
  // relaxed: liveness words order nothing.
  const std::uint64_t period = header.heartbeat_period_ns.load(std::memory_order_relaxed);
  return period != 0 && heartbeat_age_ns(header, now_ns) / kPeriods > period;
}

// True if the header alone will show the end of the provider. A thread of its keeper holds the
// mutex, which the kernel marks when that thread ends. If the kernel cannot, because the provider
// damaged or forged the mutex, the heartbeat grows old: within four periods, because the last
// heartbeat is at most one period in the future.
[[nodiscard]] inline bool shows_its_end(const SegmentHeader& header,
                                        std::uint64_t now_ns) noexcept {
  constexpr std::uint64_t kPeriodNsMax = 10'000'000'000;
  // relaxed: liveness words order nothing.
  const std::uint64_t period = header.heartbeat_period_ns.load(std::memory_order_relaxed);
  const std::uint64_t beat = header.heartbeat_ns.load(std::memory_order_relaxed);
  const bool is_of_present = beat < now_ns || beat - now_ns <= period;
  return period != 0 && period <= kPeriodNsMax && is_of_present &&
         is_owner_held(header.owner_mutex);
}

}  // namespace meterbank
