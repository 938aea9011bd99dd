// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/place_book.hpp"

#include <algorithm>

namespace meterbank::arbiter {

PlaceBook::PlaceBook(CounterMask counters) : tasks_{{0, 0}}, slices_{{0, 0}} {
  books_.emplace(Alternative{}, CounterBook(counters));
}

// The combination that is booked and has in it what `combination` has. Before the first lease of a
// task comes, the same count with it as without any.
Alternative PlaceBook::known(const Alternative& combination) const {
  return {.task = tasks_.contains(combination.task) ? combination.task : 0,
          .slice = slices_.contains(combination.slice) ? combination.slice : 0};
}

// In which a lease counts, those that come with it included.
std::vector<Alternative> PlaceBook::combinations(const Alternative& alternative) const {
  std::vector<Alternative> found;
  const auto add = [&](std::uint32_t task) {
    if (alternative.slice != 0) {
      found.push_back({.task = task, .slice = alternative.slice});
      return;
    }
    for (const auto& [slice, count] : slices_) found.push_back({.task = task, .slice = slice});
  };
  if (alternative.task != 0) {
    add(alternative.task);
  } else {
    for (const auto& [task, count] : tasks_) add(task);
  }
  return found;
}

Fit PlaceBook::fits(const CounterDemand& demand, const Alternative& alternative) const {
  for (const Alternative& combination : combinations(alternative)) {
    const Fit fit = books_.at(known(combination)).fits(demand);
    if (fit != Fit::kFits) return fit;
  }
  return Fit::kFits;
}

Fit PlaceBook::take(LeaseId lease, const CounterDemand& demand, const Alternative& alternative) {
  if (const Fit fit = fits(demand, alternative); fit != Fit::kFits) return fit;
  if (!tasks_.contains(alternative.task)) {
    for (const auto& [slice, count] : slices_) {
      books_.emplace(Alternative{alternative.task, slice}, books_.at({0, slice}));
    }
    tasks_.emplace(alternative.task, 0);
  }
  if (!slices_.contains(alternative.slice)) {
    for (const auto& [task, count] : tasks_) {
      books_.emplace(Alternative{task, alternative.slice}, books_.at({task, 0}));
    }
    slices_.emplace(alternative.slice, 0);
  }
  ++tasks_[alternative.task];
  ++slices_[alternative.slice];
  holders_.emplace(lease, alternative);
  for (const Alternative& combination : combinations(alternative)) {
    const Fit fit = books_.at(combination).take(lease, demand);
    if (fit == Fit::kFits) continue;
    // A book that takes back what it just said must not leave half a lease behind.
    release(lease);
    return fit;
  }
  return Fit::kFits;
}

void PlaceBook::release(LeaseId lease) {
  const auto holder = holders_.find(lease);
  if (holder == holders_.end()) return;
  const Alternative alternative = holder->second;
  holders_.erase(holder);
  for (const Alternative& combination : combinations(alternative)) {
    books_.at(combination).release(lease);
  }
  // The last lease of a task leaves books that are the same as those without one.
  if (--tasks_[alternative.task] == 0 && alternative.task != 0) {
    tasks_.erase(alternative.task);
    std::erase_if(books_, [&](const auto& book) { return book.first.task == alternative.task; });
  }
  if (--slices_[alternative.slice] == 0 && alternative.slice != 0) {
    slices_.erase(alternative.slice);
    std::erase_if(books_, [&](const auto& book) { return book.first.slice == alternative.slice; });
  }
}

std::vector<LeaseId> PlaceBook::blockers(const CounterDemand& demand,
                                         const Alternative& alternative) const {
  for (const Alternative& combination : combinations(alternative)) {
    const CounterBook& book = books_.at(known(combination));
    if (book.fits(demand) != Fit::kFits) return book.blockers(demand);
  }
  return {};
}

const Placement* PlaceBook::placement(LeaseId lease) const {
  const auto holder = holders_.find(lease);
  if (holder == holders_.end()) return nullptr;
  return books_.at(holder->second).placement(lease);
}

std::uint32_t PlaceBook::room_for(CounterMask mask, const Alternative& alternative) const {
  std::uint32_t least = 64;
  for (const Alternative& combination : combinations(alternative)) {
    least = std::min(least, books_.at(known(combination)).room_for(mask));
  }
  return least;
}

}  // namespace meterbank::arbiter
