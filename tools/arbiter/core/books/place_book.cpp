// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/books/place_book.hpp"

#include <algorithm>

namespace meterbank::arbiter {

bool coincide(const Alternative& one, const Alternative& other) noexcept {
  const bool is_task = one.task == 0 || other.task == 0 || one.task == other.task;
  return is_task && (one.slice == 0 || other.slice == 0 || one.slice == other.slice);
}

namespace {

[[nodiscard]] CounterDemand sum_of(CounterDemand one, const CounterDemand& other) {
  one.exact |= other.exact;
  one.any.insert(one.any.end(), other.any.begin(), other.any.end());
  one.blocks.insert(one.blocks.end(), other.blocks.begin(), other.blocks.end());
  return one;
}

// Beside a guest that counts at the same time. Which lease has which counter makes no difference:
// whatever is not exact may be moved.
[[nodiscard]] bool fits_beside(const CounterBook& book, const CounterDemand& demand,
                               const CounterDemand& guest, std::span<const LeaseId> gone) {
  const bool is_exclusive = demand.whole || guest.whole || (demand.exact & guest.exact) != 0;
  return !is_exclusive && book.fits_without(sum_of(guest, demand), gone);
}

}  // namespace

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
  if (is_plain()) return books_.begin()->second.fits(demand);
  for (const Alternative& combination : combinations(alternative)) {
    const Fit fit = books_.at(known(combination)).fits(demand);
    if (fit != Fit::kFits) return fit;
  }
  return Fit::kFits;
}

bool PlaceBook::would_fit(const CounterDemand& demand, const Alternative& alternative,
                          std::span<const LeaseId> gone, const Guest* guest) const {
  if (is_plain()) {
    const CounterBook& book = books_.begin()->second;
    return guest != nullptr && coincide(alternative, guest->alternative)
               ? fits_beside(book, demand, guest->demand, gone)
               : book.fits_without(demand, gone);
  }
  // Its task and its slice may be the first of their kind, and make moments that no other lease
  // makes.
  std::vector<Alternative> all = combinations(alternative);
  if (guest != nullptr) {
    Alternative with_task = alternative;
    if (with_task.task == 0) with_task.task = guest->alternative.task;
    Alternative with_slice = alternative;
    if (with_slice.slice == 0) with_slice.slice = guest->alternative.slice;
    for (const Alternative& more : {with_task, with_slice}) {
      const std::vector<Alternative> added = combinations(more);
      all.insert(all.end(), added.begin(), added.end());
    }
    all.push_back({.task = with_task.task, .slice = with_slice.slice});
  }
  const auto fits_in = [&](const Alternative& combination) {
    const CounterBook& book = books_.at(known(combination));
    const bool has_guest =
        guest != nullptr &&
        (guest->alternative.task == 0 || guest->alternative.task == combination.task) &&
        (guest->alternative.slice == 0 || guest->alternative.slice == combination.slice);
    return has_guest ? fits_beside(book, demand, guest->demand, gone)
                     : book.fits_without(demand, gone);
  };
  return std::all_of(all.begin(), all.end(), fits_in);
}

Fit PlaceBook::take(LeaseId lease, const CounterDemand& demand, const Alternative& alternative) {
  if (is_plain() && alternative == Alternative{}) {
    const Fit fit = books_.begin()->second.take(lease, demand);
    if (fit == Fit::kFits) count_in(lease, alternative);
    return fit;
  }
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
  count_in(lease, alternative);
  for (const Alternative& combination : combinations(alternative)) {
    const Fit fit = books_.at(combination).take(lease, demand);
    if (fit == Fit::kFits) continue;
    // A book that takes back what it just said must not leave half a lease behind.
    release(lease);
    return fit;
  }
  return Fit::kFits;
}

void PlaceBook::count_in(LeaseId lease, const Alternative& alternative) {
  ++tasks_[alternative.task];
  ++slices_[alternative.slice];
  holders_.emplace(lease, alternative);
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
  if (is_plain()) return books_.begin()->second.blockers(demand);
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
  if (is_plain()) return books_.begin()->second.room_for(mask);
  std::uint32_t least = 64;
  for (const Alternative& combination : combinations(alternative)) {
    least = std::min(least, books_.at(known(combination)).room_for(mask));
  }
  return least;
}

}  // namespace meterbank::arbiter
