// SPDX-License-Identifier: Apache-2.0
//
// Values in a fixed order, so that a distribution follows from how many were recorded: a snapshot
// of it is of one moment only if every word is what that number says.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

#include "meterbank/publisher/schema.hpp"
#include "meterbank/shm/distribution.hpp"

namespace meterbank::test {

// In turns: below the range, one for each of four buckets, above, NaN. Those outside the range move
// away from it by one each kStep turns, so that the extremes change all the time. All sums are
// exact in a double for longer than any test runs.
class RecordedPattern {
 public:
  static constexpr BucketSpec kBuckets{.scale = 0, .least = 2, .most = 16};
  static constexpr std::uint32_t kTurn = 7;
  static constexpr std::uint64_t kStep = 1024;

  static double value(std::uint64_t index) noexcept {
    return value(index % kTurn, index / kTurn / kStep);
  }
  static double value(std::uint64_t at, std::uint64_t step) noexcept {
    if (at == 0) return -0.5 * static_cast<double>(step);
    if (at == 5) return 100.0 + static_cast<double>(step);
    if (at == 6) return std::numeric_limits<double>::quiet_NaN();
    return static_cast<double>(std::uint64_t{1} << at);  // 2, 4, 8, 16
  }

  // How many values these words say were recorded. Nothing: they are not of one moment.
  static std::optional<std::uint64_t> recorded(const DistributionPlace& place,
                                               std::span<const std::uint64_t> block) noexcept {
    using Shape = DistributionShape;
    const auto words = block.subspan(place.more);
    const std::uint64_t all = block[place.own] + words[Shape::kRefused];
    const auto of_turn = [all](std::uint64_t at) { return (all + kTurn - 1 - at) / kTurn; };
    const std::uint64_t below = of_turn(0), above = of_turn(5);
    bool fits = words[Shape::kBelow] == below && words[Shape::kAbove] == above &&
                words[Shape::kRefused] == of_turn(6);
    double sum = -0.5 * stepped(below) + 100.0 * static_cast<double>(above) + stepped(above);
    for (std::uint64_t bucket = 0; bucket < 4; ++bucket) {
      const std::uint64_t count = words[Shape::kBuckets + bucket];
      fits = fits && count == of_turn(bucket + 1);
      sum += static_cast<double>(count << (bucket + 1));
    }
    fits = fits && std::bit_cast<double>(words[Shape::kSum]) == sum;
    if (all != 0) fits = fits && has_extremes(words, all, below, above);
    return fits ? std::optional(all) : std::nullopt;
  }

 private:
  // The sum of turn / kStep over so many turns.
  static double stepped(std::uint64_t turns) noexcept {
    const std::uint64_t steps = turns / kStep;
    const std::uint64_t whole = steps * (steps - 1) / 2 * kStep;  // 0 if there are no steps
    return static_cast<double>(whole + turns % kStep * steps);
  }
  static bool has_extremes(std::span<const std::uint64_t> words, std::uint64_t all,
                           std::uint64_t below, std::uint64_t above) noexcept {
    using Shape = DistributionShape;
    const double least = -0.5 * static_cast<double>((below - 1) / kStep);
    const double most = above != 0
                            ? 100.0 + static_cast<double>((above - 1) / kStep)
                            : (all == 1 ? 0 : static_cast<double>(std::uint64_t{1} << (all - 1)));
    return std::bit_cast<double>(words[Shape::kLeast]) == least &&
           std::bit_cast<double>(words[Shape::kMost]) == most;
  }
};

}  // namespace meterbank::test
