// SPDX-License-Identifier: Apache-2.0
//
// Waits for an effect of another thread, another process or the kernel.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

namespace meterbank::test {

// Far longer than any step of these tests takes.
inline constexpr std::chrono::seconds kTimeout{20};

// Evaluates the condition once a millisecond until it is true or the timeout expires.
[[nodiscard]] inline bool comes_true(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + kTimeout;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace meterbank::test
