// SPDX-License-Identifier: Apache-2.0
//
// From a revocation to the last counter. The lease word changes before anything is closed: a reader
// that sees the token after reading a value knows that the value was counted for it.
#include <algorithm>
#include <utility>

#include "arbiter/core/life/lease_path.hpp"

namespace meterbank::arbiter {

void Arbiter::LeasePath::revoke(Lease& lease, pmu::Cause cause, Nanoseconds drain_ns) {
  drain_ns = std::min(drain_ns, kDrainMax);
  if (lease.state() == pmu::LeaseState::kRevoking) {
    // A second revocation may shorten the time, and never extends it.
    lease.deadline_ns = std::min(lease.deadline_ns, now_ + drain_ns);
    if (cause != pmu::Cause::kPreempted) lease.cause = cause;
    return;
  }
  ++statistics_.revocations;
  outbox_.record(JournalRecord::Kind::kRevoking, lease, 0, static_cast<std::uint32_t>(cause));
  const bool has_nothing_to_read =
      lease.client == 0 || drain_ns == 0 ||
      (lease.state() == pmu::LeaseState::kSuspended && lease.cause == pmu::Cause::kPreempted);
  lease.cause = cause;
  if (has_nothing_to_read) return end_revoked(lease);
  lease.deadline_ns = now_ + drain_ns;
  become(lease, pmu::LeaseState::kRevoking);
  outbox_.notice(lease, pmu::NoticeKind::kRevoking, lease.deadline_ns);
}

void Arbiter::LeasePath::end_revoked(Lease& lease) {
  if (lease.cause == pmu::Cause::kPreempted) ++statistics_.preemptions;
  // A lease without a connection does not wait in the queue.
  const bool comes_back = lease.cause == pmu::Cause::kPreempted && lease.client != 0 &&
                          lease.has(pmu::kAllocateRestorable);
  if (comes_back) return put_aside(lease);
  end(lease, lease.cause);
}

void Arbiter::LeasePath::sample(const Lease& lease) {
  for (const CarrierNumber number : lease.carriers) carriers_.sample(number);
}

void Arbiter::LeasePath::end(Lease& lease, pmu::Cause cause) {
  lease.cause = cause;
  lease.deadline_ns = 0;
  become(lease, pmu::LeaseState::kFenced);
  outbox_.record(JournalRecord::Kind::kFenced, lease, 0, static_cast<std::uint32_t>(cause));
  if (cause == pmu::Cause::kTermEnded || cause == pmu::Cause::kHoldEnded) ++statistics_.expiries;
  stop(lease);
  if (cause != pmu::Cause::kFreed) {
    if (!lease.items.empty()) outbox_.send_values(lease, 0);
    outbox_.notice(lease, pmu::NoticeKind::kLost, 0);
  }
  for (const Revoker& who : std::exchange(lease.revokers, {})) {
    outbox_.send(who.client, who.request, pmu::Done{});
  }
  let_go(lease);
}

// Gives way, and waits to be served again: its counts are kept, its counters are not.
void Arbiter::LeasePath::put_aside(Lease& lease) {
  sample(lease);
  leave_turns(lease.number);
  if (std::exchange(lease.has_rest, false)) book_.release(lease.number);
  for (const CarrierNumber number : lease.carriers) {
    carriers_.pause(number);
    carriers_.look_again_at(number, 0);
    book_.release(booking_of(number));
  }
  lease.cause = pmu::Cause::kPreempted;
  if (lease.client != 0) lease.deadline_ns = 0;
  lease.unanswered = 0;
  lease.away_ns = now_;
  become(lease, pmu::LeaseState::kSuspended);
  outbox_.record(JournalRecord::Kind::kSuspended, lease, 0,
                 static_cast<std::uint32_t>(pmu::Cause::kPreempted));
  outbox_.notice(lease, pmu::NoticeKind::kSuspended, 0);
  line_.leave(lease);
  line_.join(lease);
  ++changes_;
  has_news_ = true;
}

void Arbiter::LeasePath::let_go(Lease& lease) {
  const LeaseNumber number = lease.number;
  line_.leave(lease);
  leave_turns(number);
  if (std::exchange(lease.has_rest, false)) book_.release(number);
  ++changes_;
  has_news_ = true;
  for (const CarrierNumber of : std::vector<CarrierNumber>(lease.carriers)) {
    carriers_.stop_joining(of, number);
    if (carriers_.at(of).leases.size() > 1) {
      carriers_.leave(of, number);
      std::erase(lease.carriers, of);
    } else if (carriers_.at(of).state() != CarrierState::kWatched) {
      close(of);
    }
  }
  finish(lease);
}

void Arbiter::LeasePath::finish(Lease& lease) {
  if (lease.carriers.empty()) {
    if (lease.granted_ns != 0) outbox_.record(JournalRecord::Kind::kFreed, lease);
    return become(lease, pmu::LeaseState::kNone);
  }
  const bool is_watched = std::any_of(
      lease.carriers.begin(), lease.carriers.end(),
      [&](CarrierNumber number) { return carriers_.at(number).state() == CarrierState::kWatched; });
  become(lease, is_watched ? pmu::LeaseState::kFenced : pmu::LeaseState::kLimbo);
}

// The last values are read. A holder that has descriptors can count on after its fence: its
// counters are kept, stopped, for a moment, and if they have run by then, it did.
void Arbiter::LeasePath::stop(const Lease& lease) {
  const bool may_count_on =
      lease.has(pmu::kAllocateDelegates) && options_.has_backend && clients_.contains(lease.client);
  if (!may_count_on) return sample(lease);
  for (const CarrierNumber number : lease.carriers) {
    if (carriers_.at(number).state() != CarrierState::kOpen) continue;
    carriers_.watch(number, now_ + kViolationWait);
  }
}

void Arbiter::LeasePath::look_for_violation(CarrierNumber number) {
  const KernelCounters::Watched seen = carriers_.watched(number);
  if (seen == KernelCounters::Watched::kTooEarly) return;
  const LeaseNumber holder = carriers_.at(number).leases.front();
  if (seen == KernelCounters::Watched::kHasRun) {
    ++statistics_.violations;
    outbox_.record(JournalRecord::Kind::kViolation, leases_.at(holder));
  }
  close(number);
  if (Lease* lease = leases_.find_present(holder)) finish(*lease);
}

void Arbiter::LeasePath::close(CarrierNumber number) {
  const KernelCounters::Closing closing = carriers_.close(number);
  if (closing == KernelCounters::Closing::kWasClosed) return;
  ++changes_;
  // Nothing was open: the books are all there is to be given back.
  if (closing == KernelCounters::Closing::kFree) freed(number);
}

void Arbiter::LeasePath::confirmed(CarrierNumber number, bool has_let_go) {
  if (!carriers_.confirmed(number, has_let_go, now_)) return;
  const std::vector<LeaseNumber> last = carriers_.at(number).leases;
  freed(number);
  for (const LeaseNumber one : last) {
    if (Lease* lease = leases_.find_present(one)) finish(*lease);
  }
}

// The kernel has let go: books may give it to others.
void Arbiter::LeasePath::freed(CarrierNumber number) {
  book_.release(booking_of(number));
  for (const LeaseNumber one : carriers_.at(number).leases) {
    if (Lease* lease = leases_.find_present(one)) std::erase(lease->carriers, number);
  }
  carriers_.forget(number);
  ++changes_;
  has_news_ = true;
}

void Arbiter::LeasePath::end_overdue() {
  // Times as the last input left them: at() may have moved some into the future, so each is asked.
  for (const LeaseNumber number : times_.due(now_)) {
    Lease& lease = leases_.at(number);
    const bool runs =
        lease.state() == pmu::LeaseState::kActive || lease.state() == pmu::LeaseState::kSuspended;
    if (lease.state() == pmu::LeaseState::kRevoking) {
      if (lease.deadline_ns <= now_) end_revoked(lease);
    } else if (!runs) {
      continue;
    } else if (lease.client == 0 && lease.deadline_ns <= now_) {
      end(lease, pmu::Cause::kHolderGone);
    } else if (lease.ends_ns != 0 && lease.ends_ns <= now_) {
      revoke(lease, pmu::Cause::kHoldEnded, options_.drain_ns);
    } else if (term_end(lease) != 0 && term_end(lease) <= now_) {
      revoke(lease, pmu::Cause::kTermEnded, options_.drain_ns);
    } else if (lease.state() == pmu::LeaseState::kSuspended &&
               lease.cause == pmu::Cause::kTakenByOutsider && lease.away_ns + kAwayMax <= now_) {
      end(lease, pmu::Cause::kTakenByOutsider);
    }
  }
}

void Arbiter::LeasePath::end_all() {
  has_ended_ = true;
  for (const LeaseNumber number : line_.in_order()) {
    Lease& lease = leases_.at(number);
    if (lease.granted_ns == 0) {
      refuse_lease(lease, scarce(Reason::kCancelled, "the arbiter ends"));
    }
  }
  for (const auto& [number, lease] : leases_) {
    if (lease.is_held()) end(leases_.at(number), pmu::Cause::kArbiterEnds);
  }
  for (const auto& [client, known] : clients_) outbox_.ask(Disconnect{client});
}

}  // namespace meterbank::arbiter
