// SPDX-License-Identifier: Apache-2.0
//
// How deep a test goes. METERBANK_LONG is unset in ./run test, 1 in .ci/run, and the factor that
// ./run campaign was given there.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace meterbank::test {

// 0: the tests are to end soon.
[[nodiscard]] inline std::uint64_t depth_factor() {
  const char* text = std::getenv("METERBANK_LONG");
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

// Whether a search that has an end is to be complete.
[[nodiscard]] inline bool runs_long() { return depth_factor() != 0; }

// How often something random is to be tried.
[[nodiscard]] inline std::uint64_t depth(std::uint64_t soon, std::uint64_t full) {
  return runs_long() ? full * depth_factor() : soon;
}

// How often a function of one thread is to be tried with random arguments. METERBANK_FEWER_TRIES
// divides that; .ci/run sets it under sanitizers and an emulator.
[[nodiscard]] inline std::uint64_t tries(std::uint64_t usual) {
  const char* text = std::getenv("METERBANK_FEWER_TRIES");
  if (text == nullptr) return usual;
  const std::uint64_t divisor = std::max<std::uint64_t>(std::strtoull(text, nullptr, 10), 1);
  return std::max<std::uint64_t>(usual / divisor, 1);
}

}  // namespace meterbank::test
