// SPDX-License-Identifier: Apache-2.0
//
// The kernel's clocks as a number.
#pragma once

#include <time.h>

#include <cstdint>

namespace meterbank {

// Nanoseconds of CLOCK_MONOTONIC and its like. Under strict seccomp only where the vDSO has the
// clock; elsewhere it asks the kernel.
[[nodiscard]] inline std::uint64_t clock_ns(clockid_t clock) noexcept {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace meterbank
