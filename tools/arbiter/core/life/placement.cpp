// SPDX-License-Identifier: Apache-2.0
//
// Where the books have room for a lease, with what others share.
#include <algorithm>
#include <utility>

#include "arbiter/core/life/lease_path.hpp"

namespace meterbank::arbiter {

const Carrier* Arbiter::LeasePath::shared_carrier(const Lease& lease, const Piece& piece) const {
  if (piece.openings.empty() || !may_share(lease)) return nullptr;
  return carriers_.find_shared(piece.openings);
}

Alternative Arbiter::LeasePath::alternative_of(const Lease& lease) const {
  const LeaseNumber number = lease.number;
  return {.task = lease.plan.task, .slice = lease.is_sliced() ? number : std::uint64_t{0}};
}

const Plan& Arbiter::LeasePath::wanted_by(const Lease& lease, Plan& room) const {
  if (!may_share(lease)) return lease.plan;
  room = {.parts = {}, .tag = lease.plan.tag, .task = lease.plan.task};
  for (const Piece& piece : pieces_of(lease)) {
    if (shared_carrier(lease, piece) != nullptr) continue;
    for (const PmuDemand& part : piece.plan.parts) {
      const auto same = std::find_if(room.parts.begin(), room.parts.end(),
                                     [&](const PmuDemand& one) { return one.pmu == part.pmu; });
      if (same == room.parts.end()) {
        room.parts.push_back(part);
        continue;
      }
      std::vector<CounterMask>& any = same->counters.any;
      any.insert(any.end(), part.counters.any.begin(), part.counters.any.end());
      same->events.insert(same->events.end(), part.events.begin(), part.events.end());
    }
  }
  return room;
}

Decision Arbiter::LeasePath::would_take(const Lease& lease) {
  const std::vector<Piece>& pieces = pieces_of(lease);
  const Alternative alternative = alternative_of(lease);
  if (pieces.size() == 1 && !may_share(lease)) {
    return book_.test(pieces.front().plan, alternative);
  }
  Plan room;
  if (book_.would_fit(wanted_by(lease, room), alternative)) return {};
  // Whichever piece finds no place beside those before it is what the answer is about.
  MachineBook::Before before = book_.before(lease.plan);
  Decision decision = take(lease);
  if (decision.is_granted()) {
    CarrierNumber carrier = carriers_.next_number();
    book_.release(lease.number);
    for (const CarrierNumber paused : lease.carriers) book_.release(booking_of(paused));
    for (std::size_t i = 0; i < pieces.size(); ++i) book_.release(booking_of(carrier++));
  }
  book_.undo(std::move(before));
  return decision;
}

Decision Arbiter::LeasePath::take(const Lease& lease) {
  const Alternative alternative = alternative_of(lease);
  std::vector<LeaseId> taken;
  CarrierNumber carrier = carriers_.next_number();
  std::size_t paused = 0;
  Decision decision;
  for (const Piece& piece : pieces_of(lease)) {
    if (shared_carrier(lease, piece) != nullptr) continue;
    LeaseId booking = lease.number;
    if (!piece.openings.empty()) {
      const bool has_carrier = paused < lease.carriers.size();
      booking = booking_of(has_carrier ? lease.carriers[paused++] : carrier++);
    }
    Decision taking = book_.try_take(booking, piece.plan, alternative);
    if (!taking.is_granted()) {
      for (const LeaseId one : taken) book_.release(one);
      return taking;
    }
    if (taking.threshold) decision.threshold = taking.threshold;
    taken.push_back(booking);
  }
  return decision;
}

}  // namespace meterbank::arbiter
