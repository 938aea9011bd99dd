// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/books/counter_book.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "arbiter/core/books/placement_search.hpp"

namespace meterbank::arbiter {
namespace {

bool has(std::span<const LeaseId> ascending, LeaseId lease) noexcept {
  return std::binary_search(ascending.begin(), ascending.end(), lease);
}

// The counters that one placement or another of the demand has.
CounterMask reach_of(const CounterDemand& demand, CounterMask room) {
  CounterMask reach = demand.exact;
  for (const CounterMask mask : demand.any) reach |= mask;
  for (const Block& block : demand.blocks) {
    for (CounterMask starts = starts_of(block, room); starts != 0; starts &= starts - 1) {
      reach |= bits_of(lowest_of(starts), block.length);
    }
  }
  return reach & room;
}

}  // namespace

CounterMask Placement::mask(const CounterDemand& demand) const noexcept {
  CounterMask mask = exact;
  for (const std::uint32_t counter : any) mask |= bit(counter);
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    mask |= bits_of(blocks[i], demand.blocks[i].length);
  }
  return mask;
}

const CounterBook::Holder* CounterBook::find(LeaseId lease) const noexcept {
  const auto found =
      std::lower_bound(holders_.begin(), holders_.end(), lease,
                       [](const Holder& holder, LeaseId wanted) { return holder.lease < wanted; });
  return found == holders_.end() || found->lease != lease ? nullptr : &*found;
}

Fit CounterBook::fits(const CounterDemand& demand) const {
  const Fit fit = fit_beside_others(demand, {});
  return fit != Fit::kFits && is_never(demand) ? Fit::kNever : fit;
}

bool CounterBook::fits_without(const CounterDemand& demand, Gone gone) const {
  return fit_beside_others(demand, gone) == Fit::kFits;
}

Fit CounterBook::take(LeaseId lease, const CounterDemand& demand) {
  Plan plan;
  const Fit fit = plan_beside_others(demand, {}, plan);
  if (fit != Fit::kFits) return is_never(demand) ? Fit::kNever : fit;
  for (auto& [index, placement] : plan.moved) holders_[index].placement = std::move(placement);
  const auto place = std::find_if(holders_.begin(), holders_.end(),
                                  [lease](const Holder& holder) { return holder.lease > lease; });
  holders_.insert(place, Holder{lease, demand, std::move(plan.newcomer)});
  return fit;
}

void CounterBook::release(LeaseId lease) {
  if (const Holder* holder = find(lease)) {
    holders_.erase(holders_.begin() + (holder - holders_.data()));
  }
}

std::vector<LeaseId> CounterBook::blockers(const CounterDemand& demand) const {
  std::vector<LeaseId> singly;
  const Fit fit = fits(demand);
  if (fit == Fit::kFits || fit == Fit::kNever) return singly;
  std::vector<LeaseId> within_reach;
  const CounterMask reach = reach_of(demand, counters_ & ~blocked_);
  for (const Holder& holder : holders_) {
    if (fits_without(demand, {&holder.lease, 1})) singly.push_back(holder.lease);
    // A demand for a whole PMU is kept out even by a holder without a counter.
    const bool is_near = demand.whole || (holder.placement.mask(holder.demand) & reach) != 0;
    if (is_near) within_reach.push_back(holder.lease);
  }
  return singly.empty() ? within_reach : singly;
}

const Placement* CounterBook::placement(LeaseId lease) const noexcept {
  const Holder* holder = find(lease);
  return holder == nullptr ? nullptr : &holder->placement;
}

CounterMask CounterBook::used() const noexcept {
  CounterMask used = 0;
  for (const Holder& holder : holders_) used |= holder.placement.mask(holder.demand);
  return used;
}

CounterMask CounterBook::free() const noexcept { return free_without({}); }

CounterMask CounterBook::free_without(Gone gone) const noexcept {
  CounterMask free = counters_ & ~blocked_;
  for (const Holder& holder : holders_) {
    if (!has(gone, holder.lease)) free &= ~holder.placement.mask(holder.demand);
  }
  return free;
}

std::uint32_t CounterBook::room_for(CounterMask mask) const {
  CounterDemand demand;
  const std::uint32_t count_max = count_of(mask & counters_ & ~blocked_);
  for (std::uint32_t count = 0; count < count_max; ++count) {
    demand.any.push_back(mask);
    if (fits(demand) != Fit::kFits) return count;
  }
  return count_max;
}

// Most questions are settled without a search: there are fewer counters left than wanted, or what
// is left will do as it is.
std::optional<Fit> CounterBook::fit_by_masks(const CounterDemand& demand, Gone gone) const {
  if (demand.whole) {
    const bool is_alone = (blocked_ & counters_) == 0 &&
                          std::all_of(holders_.begin(), holders_.end(), [&](const Holder& holder) {
                            return has(gone, holder.lease);
                          });
    return is_alone ? Fit::kFits : Fit::kNotNow;
  }
  for (const Holder& holder : holders_) {
    if (holder.demand.whole && !has(gone, holder.lease)) return Fit::kNotNow;
  }
  CounterMask room = free_without(gone);
  // Moving others makes no room in all.
  std::size_t wanted = count_of(demand.exact) + demand.any.size();
  for (const Block& block : demand.blocks) wanted += block.length;
  if (wanted > count_of(room)) return Fit::kNotNow;
  if ((demand.exact & ~room) != 0 || !demand.blocks.empty()) return std::nullopt;
  room &= ~demand.exact;
  for (const CounterMask mask : demand.any) {
    if ((mask & room) == 0) {
      if (is_walled_in(mask, gone)) return Fit::kNotNow;
      return std::nullopt;
    }
    room &= ~bit(lowest_of(mask & room));
  }
  return Fit::kFits;
}

// Whether moving others frees none of these counters: those who have one may only have others of
// them, whose holders may only have others of them, and so on, and none is free.
bool CounterBook::is_walled_in(CounterMask mask, Gone gone) const {
  const CounterMask free = free_without(gone);
  CounterMask reach = mask & counters_;
  for (CounterMask before = 0; before != reach;) {
    before = reach;
    if ((reach & free) != 0) return false;
    for (const Holder& holder : holders_) {
      if (has(gone, holder.lease)) continue;
      if (!holder.demand.blocks.empty()) return false;  // left to the search
      for (std::size_t i = 0; i < holder.demand.any.size(); ++i) {
        const bool is_here = (bit(holder.placement.any[i]) & reach) != 0;
        if (is_here) reach |= holder.demand.any[i] & counters_;
      }
    }
  }
  return true;
}

// What does not fit is kNotNow here, even if it never would.
Fit CounterBook::fit_beside_others(const CounterDemand& demand, Gone gone) const {
  if (const std::optional<Fit> fit = fit_by_masks(demand, gone)) return *fit;
  Plan unused;
  return plan_beside_others(demand, gone, unused);
}

bool CounterBook::is_never(const CounterDemand& demand) const {
  return CounterBook(counters_).fit_beside_others(demand, {}) == Fit::kNotNow;
}

Fit CounterBook::plan_beside_others(const CounterDemand& demand, Gone gone, Plan& plan) const {
  if (demand.whole) {
    plan.newcomer.exact = counters_;
    return *fit_by_masks(demand, gone);
  }
  bool has_singles = false;
  bool has_blocks = false;
  for (const Holder& holder : holders_) {
    if (has(gone, holder.lease)) continue;
    if (holder.demand.whole) return Fit::kNotNow;
    has_singles = has_singles || !holder.demand.any.empty();
    has_blocks = has_blocks || !holder.demand.blocks.empty();
  }
  Fit fit = plan_moving(Movable::kNone, demand, gone, plan);
  if (fit != Fit::kFits && has_singles) fit = plan_moving(Movable::kSingles, demand, gone, plan);
  if (fit != Fit::kFits && has_blocks) fit = plan_moving(Movable::kBlocksToo, demand, gone, plan);
  return fit;
}

Fit CounterBook::plan_moving(Movable movable, const CounterDemand& demand, Gone gone,
                             Plan& plan) const {
  plan.newcomer.exact = demand.exact;
  plan.newcomer.any.assign(demand.any.size(), kUnplaced);
  plan.newcomer.blocks.assign(demand.blocks.size(), kUnplaced);
  plan.moved.clear();

  Demanded demanded{};
  count_demand(demand, demanded);
  CounterMask room = counters_ & ~blocked_;
  for (std::size_t index = 0; index < holders_.size(); ++index) {
    const Holder& holder = holders_[index];
    if (has(gone, holder.lease)) continue;
    count_demand(holder.demand, demanded);
    room &= ~holder.placement.exact;
    if (movable != Movable::kNone) plan.moved.emplace_back(index, holder.placement);
    for (const std::uint32_t counter : holder.placement.any) {
      if (movable == Movable::kNone) room &= ~bit(counter);
    }
    for (std::size_t i = 0; i < holder.placement.blocks.size(); ++i) {
      const CounterMask place = bits_of(holder.placement.blocks[i], holder.demand.blocks[i].length);
      // A lease that is caught on a blocked counter stays, and keeps the rest of its block.
      const bool stays = movable != Movable::kBlocksToo || (place & blocked_) != 0;
      if (stays) room &= ~place;
    }
  }
  if ((demand.exact & ~room) != 0) return Fit::kNotNow;
  room &= ~demand.exact;

  PlacementSearch search(room, demanded);
  for (auto& [index, placement] : plan.moved) {
    const CounterDemand& held = holders_[index].demand;
    for (std::size_t i = 0; i < held.any.size(); ++i) {
      if ((bit(placement.any[i]) & blocked_) != 0) continue;
      search.want_single(held.any[i], &placement.any[i]);
    }
    for (std::size_t i = 0; i < held.blocks.size() && movable == Movable::kBlocksToo; ++i) {
      const CounterMask place = bits_of(placement.blocks[i], held.blocks[i].length);
      if ((place & blocked_) == 0) search.want_block(held.blocks[i], &placement.blocks[i]);
    }
  }
  for (std::size_t i = 0; i < demand.any.size(); ++i) {
    search.want_single(demand.any[i], &plan.newcomer.any[i]);
  }
  for (std::size_t i = 0; i < demand.blocks.size(); ++i) {
    search.want_block(demand.blocks[i], &plan.newcomer.blocks[i]);
  }
  return search.run();
}

}  // namespace meterbank::arbiter
