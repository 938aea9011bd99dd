// SPDX-License-Identifier: Apache-2.0
//
// How far an estimate lies from what an endless recording would say. What is next to each other in
// time is alike: the load of a second is nearly that of the second before. So a mean of such values
// is less certain than their scatter suggests.
#pragma once

#include <cstddef>
#include <span>

namespace meterbank::compare {

// How far blocks are joined.
inline constexpr std::size_t kBlocksLeast = 7;
// Of a recording that is to be compared.
inline constexpr std::size_t kBlocksNeeded = 12;
// With fewer independent parts, chance could have made any difference.
inline constexpr double kIndependentLeast = 4;

struct LongRun {
  double variance_a = 0, variance_b = 0;  // of the sums of the deviations
  double freedom = 0;                     // of their sum, as of Student's t
  double independent = 0;                 // parts of the recording that has fewer of them
};

// `a` and `b` are what the blocks of two recordings add to the error of an estimate, in the order
// of time; blocks of one recording are of equal length. Precondition: kBlocksNeeded of each.
//
// The blocks are looked at as they are, and joined by two, four, ... while kBlocksLeast are left.
// For each length, the variance is that of independent blocks, times what neighbours have in
// common. The greatest variance counts, because noise hides from short blocks what is slow; the
// freedom is that of the longest blocks, because they may be the only ones that see it.
// `equally_long`: blocks of both are of the same length, so that both together say how alike
// neighbours are.
[[nodiscard]] LongRun long_run_of(std::span<const double> a, std::span<const double> b,
                                  bool equally_long);

}  // namespace meterbank::compare
