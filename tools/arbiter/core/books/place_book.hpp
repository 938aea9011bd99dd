// SPDX-License-Identifier: Apache-2.0
//
// Which lease may use which counters of one PMU on one CPU, where not all leases count at the same
// time.
//
// At any moment one task runs there or none that is counted, and one slice has its turn or none is
// left waiting: a combination of both. A CounterBook is kept for each combination, and holds all
// leases that count in it: those of its task or of none, and of its slice or of none. A lease fits
// if it fits in every book that it belongs in. Nothing is lost by that, as the kernel packs events
// anew whenever another task or slice comes on; and so a lease may stand on one counter in one book
// and on another in the next.
//
// The number of books is that of tasks plus 1, times that of slices plus 1. One thread.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "arbiter/core/books/counter_book.hpp"

namespace meterbank::arbiter {

// Leases that never count at the same time: those of different tasks (only one runs on a CPU at a
// time), and those of different slices (they take turns). 0: all the time.
struct Alternative {
  std::uint32_t task = 0;
  std::uint64_t slice = 0;
  friend auto operator<=>(const Alternative&, const Alternative&) = default;
};

// Whether there are moments at which both count.
[[nodiscard]] bool coincide(const Alternative& one, const Alternative& other) noexcept;

// A lease that is assumed to have come before the one in question.
struct Guest {
  const CounterDemand& demand;
  Alternative alternative;
};

class PlaceBook {
 public:
  explicit PlaceBook(CounterMask counters);

  // Whether it would fit beside all that counts at the same time. Changes nothing.
  [[nodiscard]] Fit fits(const CounterDemand& demand, const Alternative& alternative) const;
  // Whether it would fit if `gone` (ascending) had left and `guest`, if any, had come. Copies
  // nothing, so that what may be in an hour can be asked often.
  [[nodiscard]] bool would_fit(const CounterDemand& demand, const Alternative& alternative,
                               std::span<const LeaseId> gone, const Guest* guest) const;
  // Takes it, if it fits. Precondition: `lease` holds nothing here.
  Fit take(LeaseId lease, const CounterDemand& demand, const Alternative& alternative);
  void release(LeaseId lease);  // of nothing: does nothing

  // Those of the first combination in which it does not fit, as CounterBook::blockers().
  [[nodiscard]] std::vector<LeaseId> blockers(const CounterDemand& demand,
                                              const Alternative& alternative) const;
  // In the combination that has this lease and nothing more special.
  [[nodiscard]] const Placement* placement(LeaseId lease) const;
  // How many more single counters of `mask` such a lease could have.
  [[nodiscard]] std::uint32_t room_for(CounterMask mask, const Alternative& alternative) const;

  // Every lease here and what it is an alternative to, ascending.
  [[nodiscard]] const std::map<LeaseId, Alternative>& holders() const noexcept { return holders_; }

 private:
  [[nodiscard]] bool is_plain() const noexcept { return books_.size() == 1; }
  void count_in(LeaseId lease, const Alternative& alternative);
  [[nodiscard]] Alternative known(const Alternative& combination) const;
  [[nodiscard]] std::vector<Alternative> combinations(const Alternative& alternative) const;

  std::map<Alternative, CounterBook> books_;
  std::map<LeaseId, Alternative> holders_;
  std::map<std::uint32_t, std::uint32_t> tasks_;   // how many leases each has; 0 is always there
  std::map<std::uint64_t, std::uint32_t> slices_;  // the same
};

}  // namespace meterbank::arbiter
