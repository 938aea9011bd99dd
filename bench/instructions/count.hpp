// SPDX-License-Identifier: Apache-2.0
//
// Instructions of the calling thread, those of the kernel left out. They are counted by a hardware
// counter, or by callgrind if the program runs under it. Many machines can do neither.
#pragma once

#include <cstdint>
#include <optional>

namespace meterbank::bench {

[[nodiscard]] bool can_count_instructions();
// Precondition of both: can_count_instructions(). The second returns what was executed since the
// first; nothing if the counter was lost.
void start_counting_instructions();
[[nodiscard]] std::optional<std::uint64_t> stop_counting_instructions();

// What a run of `work`, which does `operations` of something, executes for each of them.
template <typename F>
std::optional<double> instructions_each(std::uint64_t operations, F&& work) {
  if (!can_count_instructions()) return {};
  start_counting_instructions();
  work();
  const auto counted = stop_counting_instructions();
  if (!counted) return {};
  return static_cast<double>(*counted) / static_cast<double>(operations);
}

}  // namespace meterbank::bench
