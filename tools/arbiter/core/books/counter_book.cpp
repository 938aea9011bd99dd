// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/books/counter_book.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace meterbank::arbiter {
namespace {

constexpr std::uint32_t kCountersMax = 64;
constexpr CounterMask kGeneralBits = (CounterMask{1} << kGeneralMax) - 1;
constexpr std::uint32_t kNowhere = kCountersMax;

constexpr CounterMask bit(std::uint32_t counter) noexcept { return CounterMask{1} << counter; }

// Precondition: `length` is at most kGeneralMax.
constexpr CounterMask bits_of(std::uint32_t first, std::uint32_t length) noexcept {
  return (bit(length) - 1) << first;
}

constexpr std::uint32_t count_of(CounterMask counters) noexcept {
  return static_cast<std::uint32_t>(std::popcount(counters));
}

constexpr std::uint32_t lowest_of(CounterMask counters) noexcept {
  return static_cast<std::uint32_t>(std::countr_zero(counters));
}

// A block of no counters, or one aligned to nothing, is at home nowhere.
constexpr bool is_possible(const Block& block) noexcept {
  return block.length != 0 && block.length <= kGeneralMax && block.alignment != 0;
}

// The first counters of all places for a block within `room`.
CounterMask starts_of(const Block& block, CounterMask room) noexcept {
  CounterMask starts = 0;
  if (!is_possible(block)) return starts;
  // Beyond kGeneralMax an alignment leaves one place, the first; cut, the sum cannot wrap.
  const std::uint32_t step = std::min(block.alignment, kGeneralMax);
  for (std::uint32_t first = 0; first + block.length <= kGeneralMax; first += step) {
    const CounterMask place = bits_of(first, block.length);
    if ((room & place) == place) starts |= bit(first);
  }
  return starts;
}

// How many such blocks `room` can hold at best. Taking the lowest place each time is optimal for
// intervals of one length.
std::uint32_t blocks_within(const Block& block, CounterMask room) noexcept {
  std::uint32_t count = 0;
  std::uint32_t end = 0;
  for (CounterMask starts = starts_of(block, room); starts != 0; starts &= starts - 1) {
    const std::uint32_t first = lowest_of(starts);
    if (first < end) continue;
    end = first + block.length;
    ++count;
  }
  return count;
}

// How many of the demands that are known could use each counter: the fewer, the less harm is done
// by taking it.
using Demanded = std::array<std::uint32_t, kCountersMax>;

void count_demand(const CounterDemand& demand, Demanded& demanded) noexcept {
  for (CounterMask mask : demand.any) {
    for (; mask != 0; mask &= mask - 1) ++demanded[lowest_of(mask)];
  }
}

// One search for places: for single counters by augmenting paths, for blocks by trying.
class PlacementSearch {
 public:
  PlacementSearch(CounterMask room, const Demanded& demanded) noexcept
      : room_(room), demanded_(demanded) {}

  // One counter of `options`. `place` says where it is now (kNowhere: nowhere) and, after a search
  // that ends in kFits, where it shall be.
  void want_single(CounterMask options, std::uint32_t* place) {
    singles_.push_back({options & room_, place, *place, kNowhere});
    if (*place != kNowhere) counters_in_use_ |= bit(*place);
  }

  void want_block(const Block& block, std::uint32_t* place) {
    // A block of one counter is a single one, and the matching is exact where trying is bounded.
    if (block.length == 1) {
      want_single(starts_of(block, room_), place);
      return;
    }
    const auto group = std::find_if(groups_.begin(), groups_.end(), [&](const Group& known) {
      return known.shape.length == block.length && known.shape.alignment == block.alignment;
    });
    Group& mine = group != groups_.end() ? *group : groups_.emplace_back();
    mine.shape = block;
    mine.places.push_back(place);
    if (*place != kNowhere) counters_in_use_ |= bits_of(*place, block.length);
  }

  // kFits, kNotNow or kTooHard; only the first changes any place.
  Fit run() {
    std::sort(groups_.begin(), groups_.end(), [](const Group& a, const Group& b) {
      if (a.shape.length != b.shape.length) return a.shape.length > b.shape.length;
      return a.shape.alignment > b.shape.alignment;
    });
    for (Group& group : groups_) list_starts(group);

    const std::uint32_t wanted = groups_.empty() ? 0 : missing(groups_.front());
    if (!place_blocks(0, 0, wanted, room_)) return has_given_up_ ? Fit::kTooHard : Fit::kNotNow;
    for (const Single& single : singles_) *single.place = single.counter;
    for (Group& group : groups_) assign(group);
    return Fit::kFits;
  }

 private:
  struct Single {
    CounterMask options;
    std::uint32_t* place;
    std::uint32_t now;
    std::uint32_t counter;  // what the search gave it
  };
  // Blocks of one shape are tried as a set, not one by one: which of them stands where makes no
  // difference to anybody else.
  struct Group {
    Block shape;
    std::vector<std::uint32_t*> places;
    std::vector<std::uint32_t> starts;  // all there are, the best first
    std::vector<std::uint32_t> chosen;
  };

  static std::uint32_t missing(const Group& group) noexcept {
    return static_cast<std::uint32_t>(group.places.size() - group.chosen.size());
  }

  // Places that are taken by the like of it now are best, then those that move the fewest others,
  // then those that the fewest could use, then the highest: rare counters tend to be the first.
  void list_starts(Group& group) const {
    struct Start {
      std::uint32_t cost;
      std::uint32_t first;
    };
    std::vector<Start> starts;
    for (CounterMask left = starts_of(group.shape, room_); left != 0; left &= left - 1) {
      const std::uint32_t first = lowest_of(left);
      const CounterMask place = bits_of(first, group.shape.length);
      std::uint32_t cost = count_of(place & counters_in_use_) << 16;
      for (std::uint32_t i = 0; i < group.shape.length; ++i) {
        cost += std::min(demanded_[first + i], 1023U);
      }
      const bool is_current = std::any_of(group.places.begin(), group.places.end(),
                                          [&](const auto* now) { return *now == first; });
      starts.push_back({is_current ? 0 : cost + 1, first});
    }
    std::sort(starts.begin(), starts.end(), [](const Start& a, const Start& b) {
      return a.cost != b.cost ? a.cost < b.cost : a.first > b.first;
    });
    for (const Start& start : starts) group.starts.push_back(start.first);
  }

  // Places what is missing of a group, by starts from number `from` on, and all groups after it.
  bool place_blocks(std::size_t number, std::size_t from, std::uint32_t wanted, CounterMask room) {
    while (number < groups_.size() && wanted == 0) {
      from = 0;
      ++number;
      wanted = number < groups_.size() ? missing(groups_[number]) : 0;
    }
    if (++steps_ > CounterBook::kStepsMax) {
      has_given_up_ = true;
      return false;
    }
    // With blocks still to come the singles have more room than they will have, so that what does
    // not fit here fits nowhere below.
    if (!is_room_for_blocks(number, wanted, room) || !match_singles(room)) return false;
    if (number == groups_.size()) return true;

    Group& group = groups_[number];
    for (std::size_t i = from; i < group.starts.size() && !has_given_up_; ++i) {
      const CounterMask place = bits_of(group.starts[i], group.shape.length);
      if ((room & place) != place) continue;
      group.chosen.push_back(group.starts[i]);
      if (place_blocks(number, i + 1, wanted - 1, room & ~place)) return true;
      group.chosen.pop_back();
    }
    return false;
  }

  // A bound, cheap to know: each shape by itself must fit, and the sum of all lengths.
  bool is_room_for_blocks(std::size_t number, std::uint32_t wanted, CounterMask room) const {
    std::size_t counters = singles_.size();
    for (std::size_t i = number; i < groups_.size(); ++i) {
      const std::uint32_t blocks = i == number ? wanted : missing(groups_[i]);
      if (blocks_within(groups_[i].shape, room) < blocks) return false;
      counters += std::size_t{blocks} * groups_[i].shape.length;
    }
    return counters <= count_of(room);
  }

  bool match_singles(CounterMask room) {
    free_ = room;
    for (Single& single : singles_) {
      const bool stays = single.now != kNowhere && (room & bit(single.now)) != 0;
      single.counter = stays ? single.now : kNowhere;
      if (!stays) continue;
      holder_[single.now] = static_cast<std::size_t>(&single - singles_.data());
      free_ &= ~bit(single.now);
    }
    for (std::size_t i = 0; i < singles_.size(); ++i) {
      if (singles_[i].counter == kNowhere && !give_counter(i, room)) return false;
    }
    return true;
  }

  // Breadth first, because the shortest augmenting path moves the fewest.
  bool give_counter(std::size_t newcomer, CounterMask room) {
    std::array<std::size_t, kCountersMax + 1> asked{};
    std::array<std::size_t, kCountersMax> asked_for{};  // who would take this counter
    std::size_t asked_count = 0;
    CounterMask seen = 0;
    asked[asked_count++] = newcomer;
    for (std::size_t next = 0; next < asked_count; ++next) {
      const std::size_t who = asked[next];
      const CounterMask options = singles_[who].options & room;
      if ((options & free_) != 0) {
        hand_over(newcomer, who, best_of(options & free_), asked_for);
        return true;
      }
      for (CounterMask left = options & ~seen; left != 0; left &= left - 1) {
        const std::uint32_t counter = lowest_of(left);
        asked_for[counter] = who;
        asked[asked_count++] = holder_[counter];
      }
      seen |= options;
    }
    return false;
  }

  // `who` takes `counter` and leaves its own to the one who asked for it, back to the newcomer.
  void hand_over(std::size_t newcomer, std::size_t who, std::uint32_t counter,
                 const std::array<std::size_t, kCountersMax>& asked_for) noexcept {
    free_ &= ~bit(counter);
    while (true) {
      const std::uint32_t left = std::exchange(singles_[who].counter, counter);
      holder_[counter] = who;
      if (who == newcomer) return;
      counter = left;
      who = asked_for[left];
    }
  }

  // A fixed counter serves one event, and whoever can use it leaves a general one to others.
  // Among equals the highest, because what only a few counters can do, the lowest can.
  std::uint32_t best_of(CounterMask free) const noexcept {
    if ((free & ~kGeneralBits) != 0) free &= ~kGeneralBits;
    std::uint32_t best = lowest_of(free);
    for (; free != 0; free &= free - 1) {
      if (demanded_[lowest_of(free)] <= demanded_[best]) best = lowest_of(free);
    }
    return best;
  }

  // Blocks whose place was chosen again keep it; the others get what is left.
  static void assign(Group& group) {
    std::vector<std::uint32_t*> moving;
    for (std::uint32_t* place : group.places) {
      const auto same = std::find(group.chosen.begin(), group.chosen.end(), *place);
      if (same != group.chosen.end()) {
        group.chosen.erase(same);
      } else {
        moving.push_back(place);
      }
    }
    for (std::size_t i = 0; i < moving.size(); ++i) *moving[i] = group.chosen[i];
  }

  CounterMask room_;
  const Demanded& demanded_;
  std::vector<Single> singles_;
  std::vector<Group> groups_;
  CounterMask counters_in_use_ = 0;
  CounterMask free_ = 0;
  std::array<std::size_t, kCountersMax> holder_{};  // of counters of room that are not free
  std::uint32_t steps_ = 0;
  bool has_given_up_ = false;
};

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
    // Who wants to be alone is kept out even by somebody who has no counter at all.
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
    if ((mask & room) == 0) return std::nullopt;
    room &= ~bit(lowest_of(mask & room));
  }
  return Fit::kFits;
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
  Fit fit = plan_moving(Movable::kNobody, demand, gone, plan);
  if (fit != Fit::kFits && has_singles) fit = plan_moving(Movable::kSingles, demand, gone, plan);
  if (fit != Fit::kFits && has_blocks) fit = plan_moving(Movable::kBlocksToo, demand, gone, plan);
  return fit;
}

Fit CounterBook::plan_moving(Movable movable, const CounterDemand& demand, Gone gone,
                             Plan& plan) const {
  plan.newcomer.exact = demand.exact;
  plan.newcomer.any.assign(demand.any.size(), kNowhere);
  plan.newcomer.blocks.assign(demand.blocks.size(), kNowhere);
  plan.moved.clear();

  Demanded demanded{};
  count_demand(demand, demanded);
  CounterMask room = counters_ & ~blocked_;
  for (std::size_t index = 0; index < holders_.size(); ++index) {
    const Holder& holder = holders_[index];
    if (has(gone, holder.lease)) continue;
    count_demand(holder.demand, demanded);
    room &= ~holder.placement.exact;
    if (movable != Movable::kNobody) plan.moved.emplace_back(index, holder.placement);
    for (const std::uint32_t counter : holder.placement.any) {
      if (movable == Movable::kNobody) room &= ~bit(counter);
    }
    for (std::size_t i = 0; i < holder.placement.blocks.size(); ++i) {
      const CounterMask place = bits_of(holder.placement.blocks[i], holder.demand.blocks[i].length);
      // Who is caught on a blocked counter stays, and keeps the rest of its block.
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
