// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/books/placement_search.hpp"

#include <algorithm>
#include <utility>

namespace meterbank::arbiter {
namespace {

constexpr CounterMask kGeneralBits = (CounterMask{1} << kGeneralMax) - 1;

constexpr bool is_possible(const Block& block) noexcept {
  return block.length != 0 && block.length <= kGeneralMax && block.alignment != 0;
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

}  // namespace

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

void count_demand(const CounterDemand& demand, Demanded& demanded) noexcept {
  for (CounterMask mask : demand.any) {
    for (; mask != 0; mask &= mask - 1) ++demanded[lowest_of(mask)];
  }
}

void PlacementSearch::want_single(CounterMask options, std::uint32_t* place) {
  singles_.push_back({options & room_, place, *place, kUnplaced});
  if (*place != kUnplaced) counters_in_use_ |= bit(*place);
}

void PlacementSearch::want_block(const Block& block, std::uint32_t* place) {
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
  if (*place != kUnplaced) counters_in_use_ |= bits_of(*place, block.length);
}

Fit PlacementSearch::run() {
  std::sort(groups_.begin(), groups_.end(), [](const Group& a, const Group& b) {
    if (a.shape.length != b.shape.length) return a.shape.length > b.shape.length;
    return a.shape.alignment > b.shape.alignment;
  });
  for (Group& group : groups_) list_starts(group);

  const std::uint32_t wanted = groups_.empty() ? 0 : groups_.front().missing();
  if (!place_blocks(0, 0, wanted, room_)) return has_given_up_ ? Fit::kTooHard : Fit::kNotNow;
  for (const Single& single : singles_) *single.place = single.counter;
  for (Group& group : groups_) assign(group);
  return Fit::kFits;
}

// Places that are taken by the like of it now are best, then those that move the fewest others,
// then those that the fewest could use, then the highest: rare counters tend to be the first.
void PlacementSearch::list_starts(Group& group) const {
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

bool PlacementSearch::place_blocks(std::size_t number, std::size_t from, std::uint32_t wanted,
                                   CounterMask room) {
  while (number < groups_.size() && wanted == 0) {
    from = 0;
    ++number;
    wanted = number < groups_.size() ? groups_[number].missing() : 0;
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
bool PlacementSearch::is_room_for_blocks(std::size_t number, std::uint32_t wanted,
                                         CounterMask room) const {
  std::size_t counters = singles_.size();
  for (std::size_t i = number; i < groups_.size(); ++i) {
    const std::uint32_t blocks = i == number ? wanted : groups_[i].missing();
    if (blocks_within(groups_[i].shape, room) < blocks) return false;
    counters += std::size_t{blocks} * groups_[i].shape.length;
  }
  return counters <= count_of(room);
}

bool PlacementSearch::match_singles(CounterMask room) {
  free_ = room;
  for (Single& single : singles_) {
    const bool stays = single.now != kUnplaced && (room & bit(single.now)) != 0;
    single.counter = stays ? single.now : kUnplaced;
    if (!stays) continue;
    holder_[single.now] = static_cast<std::size_t>(&single - singles_.data());
    free_ &= ~bit(single.now);
  }
  for (std::size_t i = 0; i < singles_.size(); ++i) {
    if (singles_[i].counter == kUnplaced && !give_counter(i, room)) return false;
  }
  return true;
}

// Breadth first, because the shortest augmenting path moves the fewest.
bool PlacementSearch::give_counter(std::size_t newcomer, CounterMask room) {
  std::array<std::size_t, kMaskCounters + 1> asked{};
  AskedFor asked_for{};
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
void PlacementSearch::hand_over(std::size_t newcomer, std::size_t who, std::uint32_t counter,
                                const AskedFor& asked_for) noexcept {
  free_ &= ~bit(counter);
  while (true) {
    const std::uint32_t left = std::exchange(singles_[who].counter, counter);
    holder_[counter] = who;
    if (who == newcomer) return;
    counter = left;
    who = asked_for[left];
  }
}

// A fixed counter serves one event, and a lease that uses it leaves a general one to others.
// Among equals the highest, because what only a few counters can do, the lowest can.
std::uint32_t PlacementSearch::best_of(CounterMask free) const noexcept {
  if ((free & ~kGeneralBits) != 0) free &= ~kGeneralBits;
  std::uint32_t best = lowest_of(free);
  for (; free != 0; free &= free - 1) {
    if (demanded_[lowest_of(free)] <= demanded_[best]) best = lowest_of(free);
  }
  return best;
}

// Blocks whose place was chosen again keep it; the others get what is left.
void PlacementSearch::assign(Group& group) {
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

}  // namespace meterbank::arbiter
