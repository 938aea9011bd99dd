// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/leases/due_times.hpp"

#include <algorithm>
#include <bit>

namespace meterbank::arbiter {

DueTimes::DueTimes(std::uint32_t count)
    : tree_(2 * std::bit_ceil(std::max<std::size_t>(count, 1)), kNever) {}

void DueTimes::set(LeaseNumber number, Nanoseconds time) {
  std::size_t node = half() + number;
  tree_.at(node) = time;
  while (node > 1) {
    node /= 2;
    const Nanoseconds earlier = std::min(tree_[2 * node], tree_[2 * node + 1]);
    if (tree_[node] == earlier) return;
    tree_[node] = earlier;
  }
}

std::vector<LeaseNumber> DueTimes::due(Nanoseconds now) const {
  std::vector<LeaseNumber> due;
  add_due(1, now, due);
  return due;
}

void DueTimes::add_due(std::size_t node, Nanoseconds now, std::vector<LeaseNumber>& due) const {
  if (tree_[node] > now || tree_[node] == kNever) return;
  if (node >= half()) {
    due.push_back(static_cast<LeaseNumber>(node - half()));
    return;
  }
  add_due(2 * node, now, due);
  add_due(2 * node + 1, now, due);
}

}  // namespace meterbank::arbiter
