// SPDX-License-Identifier: Apache-2.0
//
// Intervals between samples that people use, for keys that change one.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>

namespace meterbank::cli {

inline constexpr std::array<std::chrono::milliseconds, 10> kIntervals{
    std::chrono::milliseconds(50),    std::chrono::milliseconds(100),
    std::chrono::milliseconds(250),   std::chrono::milliseconds(500),
    std::chrono::milliseconds(1000),  std::chrono::milliseconds(2000),
    std::chrono::milliseconds(5000),  std::chrono::milliseconds(10000),
    std::chrono::milliseconds(30000), std::chrono::milliseconds(60000)};

// The next longer or shorter one; the same where there is none.
[[nodiscard]] inline std::chrono::nanoseconds step_interval(std::chrono::nanoseconds now,
                                                            bool longer) {
  if (longer) {
    const auto* const next = std::upper_bound(kIntervals.begin(), kIntervals.end(), now);
    return next == kIntervals.end() ? now : std::chrono::nanoseconds(*next);
  }
  const auto* const next = std::lower_bound(kIntervals.begin(), kIntervals.end(), now);
  return next == kIntervals.begin() ? now : std::chrono::nanoseconds(*(next - 1));
}

}  // namespace meterbank::cli
