// SPDX-License-Identifier: Apache-2.0
//
// When something is due for each of many numbers, as a tournament: each inner node has the earlier
// time of the two below it.
//
//                 [1] 20            first()
//            [2] 20    [3] 50
//        [4] 90 [5] 20 [6] -  [7] 50      times of the numbers 0 to 3
//
// Whatever the count, the first time is known at once, and setting one costs a step for each level.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "arbiter/core/lease.hpp"

namespace meterbank::arbiter {

class DueTimes {
 public:
  static constexpr Nanoseconds kNever = pmu::kForever;

  // For the numbers below `count`; nothing is due.
  explicit DueTimes(std::uint32_t count);

  // Precondition: `number` is below the count.
  void set(LeaseNumber number, Nanoseconds time);
  // kNever: nothing is due.
  [[nodiscard]] Nanoseconds first() const noexcept { return tree_[1]; }
  // Those that are due at `now` or were due before; ascending.
  [[nodiscard]] std::vector<LeaseNumber> due(Nanoseconds now) const;

  friend bool operator==(const DueTimes&, const DueTimes&) = default;

 private:
  [[nodiscard]] std::size_t half() const noexcept { return tree_.size() / 2; }
  void add_due(std::size_t node, Nanoseconds now, std::vector<LeaseNumber>& due) const;

  std::vector<Nanoseconds> tree_;
};

}  // namespace meterbank::arbiter
