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
[[nodiscard]] inline std::uint64_t heartbeat_age_ns(const SegmentHeader& header) noexcept {
  const std::uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
  const std::uint64_t beat = header.heartbeat_ns.load(std::memory_order_relaxed);  // orders nothing
  return beat < now_ns ? now_ns - beat : 0;
}

}  // namespace meterbank
