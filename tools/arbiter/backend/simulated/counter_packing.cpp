// SPDX-License-Identifier: Apache-2.0
#include "arbiter/backend/simulated/counter_packing.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <numeric>

namespace meterbank::arbiter {
namespace {

constexpr CounterMask kFixedCounters = ~CounterMask{0} << kFixedFirst;

using Counters = std::vector<std::uint32_t>;

[[nodiscard]] std::optional<Counters> pack_greedily(std::span<const CounterMask> events) {
  std::vector<std::size_t> order(events.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    return std::popcount(events[one]) < std::popcount(events[other]);
  });
  Counters counters(events.size());
  CounterMask used = 0;
  for (const std::size_t event : order) {
    const CounterMask free = events[event] & ~used;
    if (free == 0) return std::nullopt;
    const CounterMask fixed = free & kFixedCounters;
    counters[event] = static_cast<std::uint32_t>(std::countr_zero(fixed != 0 ? fixed : free));
    used |= CounterMask{1} << counters[event];
  }
  return counters;
}

// Augmenting paths: an event on a counter that is wanted moves to another one, if it can.
class Matching {
 public:
  explicit Matching(std::span<const CounterMask> events) : events_(events) { owner_.fill(kFree); }

  [[nodiscard]] bool place(std::size_t event) {
    for (CounterMask left = events_[event] & ~tried_; left != 0; left = events_[event] & ~tried_) {
      const auto counter = static_cast<std::uint32_t>(std::countr_zero(left));
      tried_ |= CounterMask{1} << counter;
      if (owner_.at(counter) != kFree && !place(owner_.at(counter))) continue;
      owner_.at(counter) = event;
      return true;
    }
    return false;
  }
  void begin() noexcept { tried_ = 0; }

  [[nodiscard]] Counters counters() const {
    Counters counters(events_.size());
    for (std::uint32_t counter = 0; counter < owner_.size(); ++counter) {
      if (owner_.at(counter) != kFree) counters[owner_.at(counter)] = counter;
    }
    return counters;
  }

 private:
  static constexpr std::size_t kFree = ~std::size_t{0};

  std::span<const CounterMask> events_;
  CounterMask tried_ = 0;
  std::array<std::size_t, 64> owner_ = {};
};

}  // namespace

std::optional<Counters> pack(std::span<const CounterMask> events, Packing packing) {
  if (packing == Packing::kGreedy) return pack_greedily(events);
  Matching matching(events);
  for (std::size_t event = 0; event < events.size(); ++event) {
    matching.begin();
    if (!matching.place(event)) return std::nullopt;
  }
  return matching.counters();
}

}  // namespace meterbank::arbiter
