// SPDX-License-Identifier: Apache-2.0
//
// What of a lease is booked together: each of its pieces has a booking of its own.
#pragma once

#include <vector>

#include "arbiter/core/lease.hpp"

namespace meterbank::arbiter {

// One thing that a lease has in the books: a carrier's events, or all that names none.
struct Piece {
  Plan plan;
  std::vector<Opening> openings;  // empty: names no event
};

// Whether its events may be counted on carriers that others count on, too.
[[nodiscard]] bool may_share(const Lease& lease);
// Divides the plan into pieces. Exact counters come first.
void set_plan(Lease& lease, Plan plan);
[[nodiscard]] inline const std::vector<Piece>& pieces_of(const Lease& lease) {
  return *lease.pieces;
}

}  // namespace meterbank::arbiter
