// SPDX-License-Identifier: Apache-2.0
//
// Waiting for what another thread, another process or the kernel is about to do.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace meterbank::test {

// Far beyond what anything here takes: who waits so long waits for what does not come.
inline constexpr std::chrono::seconds kPatience{20};

// Looks again and again until it is so, or patience ends.
[[nodiscard]] inline bool comes_true(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace meterbank::test
