// SPDX-License-Identifier: Apache-2.0
//
// A walk that does not get to its grant, because the kernel refused a part of it; and one that
// begins again, after its lease had given way.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arbiter/core/life/lease_path.hpp"

namespace meterbank::arbiter {

// A lease that gave way has its turn again: its carriers are there, without counters.
void Arbiter::LeasePath::restart(Lease& lease) {
  become(lease, pmu::LeaseState::kPreparing);
  lease.unanswered = 1;
  for (const CarrierNumber number : lease.carriers) {
    if (!carriers_.resume(number)) ++lease.unanswered;
  }
  for (const Piece& piece : pieces_of(lease)) {
    if (piece.openings.empty()) verify_rest(lease, piece.plan);
  }
  answered(lease);
}

// Nothing of it is open: it needs no limbo.
void Arbiter::LeasePath::not_opened(CarrierNumber number, const OpenOutcome& outcome) {
  const Carrier& carrier = carriers_.at(number);
  Lease* lease = carrier.leases.empty() ? nullptr : leases_.find_present(carrier.leases.front());
  book_.release(booking_of(number));
  if (lease != nullptr) {
    if (!lease->fault) lease->fault = kernel_fault(outcome, carrier.openings);
    std::erase(lease->carriers, number);
  }
  carriers_.forget(number);
  ++changes_;
  has_news_ = true;
  if (lease != nullptr) answered(*lease);
}

Decision Arbiter::LeasePath::kernel_fault(const OpenOutcome& outcome,
                                          const std::vector<Opening>& openings) {
  const Opening& opening = openings.at(std::min<std::size_t>(outcome.opening, openings.size() - 1));
  const std::string& pmu = book_.machine().topology.pmus[opening.pmu].name;
  Decision decision = scarce(Reason::kUnverified, {});
  decision.item = opening.item;
  if (opening.cpu != pmu::kNoCpu) decision.cpu = opening.cpu;
  switch (outcome.fault) {
    case OpenFault::kNotSupported:
      decision.answer = Answer::kNotSupported;
      decision.reason = Reason::kNoSuchThing;
      decision.sentence = fmt::format("the kernel cannot count this on {}", pmu);
      break;
    case OpenFault::kDenied:
      decision.reason = Reason::kPolicy;
      decision.sentence = fmt::format("the kernel does not let the arbiter count this on {}", pmu);
      break;
    case OpenFault::kNoTask:
      decision.answer = Answer::kInvalidParameter;
      decision.reason = Reason::kMalformed;
      decision.sentence = fmt::format("there is no thread {}", opening.task);
      break;
    case OpenFault::kNoDescriptors:
      decision.reason = Reason::kQuota;
      decision.sentence = "the arbiter has no descriptor left";
      break;
    case OpenFault::kOffline:
      decision.reason = Reason::kCpuOffline;
      decision.sentence = fmt::format("CPU {} is offline", opening.cpu);
      break;
    default:
      ++statistics_.mismatches;
      outsiders_.note_refused(opening, now_);
      ++changes_;
      decision.sentence =
          fmt::format("counters of {} are free in the books, and the kernel has none to give", pmu);
  }
  return decision;
}

void Arbiter::LeasePath::undo(Lease& lease) {
  const LeaseNumber number = lease.number;
  leave_turns(number);
  if (std::exchange(lease.has_rest, false)) book_.release(number);
  for (const CarrierNumber of : std::exchange(lease.carriers, {})) {
    carriers_.leave(of, number);
    const Carrier& carrier = carriers_.at(of);
    if (carrier.leases.empty() && carrier.state() != CarrierState::kOpening) close(of);
  }
  lease.items.clear();
  lease.began.clear();
  lease.checking.clear();
  lease.unanswered = 0;
  ++changes_;
}

}  // namespace meterbank::arbiter
