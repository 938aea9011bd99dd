// SPDX-License-Identifier: Apache-2.0
//
// From a revocation to the last counter. The lease word changes before anything is closed: a reader
// that sees the token after reading a value knows that the value was counted for it.
#include <algorithm>
#include <utility>

#include "arbiter/core/life/state.hpp"

namespace meterbank::arbiter {

void Arbiter::State::revoke(Lease& lease, pmu::Cause cause, Nanoseconds drain_ns) {
  drain_ns = std::min(drain_ns, kDrainMax);
  if (lease.state() == pmu::LeaseState::kRevoking) {
    // A second revocation may shorten the time, and never extends it.
    lease.deadline_ns = std::min(lease.deadline_ns, now + drain_ns);
    if (cause != pmu::Cause::kPreempted) lease.cause = cause;
    return;
  }
  ++statistics.revocations;
  outbox.record(JournalRecord::Kind::kRevoking, lease, 0, static_cast<std::uint32_t>(cause));
  const bool has_nothing_to_read =
      lease.client == 0 || drain_ns == 0 ||
      (lease.state() == pmu::LeaseState::kSuspended && lease.cause == pmu::Cause::kPreempted);
  lease.cause = cause;
  if (has_nothing_to_read) return end_revoked(lease);
  lease.deadline_ns = now + drain_ns;
  become(lease, pmu::LeaseState::kRevoking);
  outbox.notice(lease, pmu::NoticeKind::kRevoking, lease.deadline_ns);
}

void Arbiter::State::end_revoked(Lease& lease) {
  if (lease.cause == pmu::Cause::kPreempted) ++statistics.preemptions;
  // A lease without a connection does not wait in the queue.
  const bool comes_back = lease.cause == pmu::Cause::kPreempted && lease.client != 0 &&
                          lease.has(pmu::kAllocateRestorable);
  if (comes_back) return put_aside(lease);
  end(lease, lease.cause);
}

void Arbiter::State::sample(const Lease& lease) {
  for (const CarrierNumber number : lease.carriers) carriers.sample(number);
}

void Arbiter::State::end(Lease& lease, pmu::Cause cause) {
  lease.cause = cause;
  lease.deadline_ns = 0;
  become(lease, pmu::LeaseState::kFenced);
  outbox.record(JournalRecord::Kind::kFenced, lease, 0, static_cast<std::uint32_t>(cause));
  if (cause == pmu::Cause::kTermEnded || cause == pmu::Cause::kHoldEnded) ++statistics.expiries;
  stop(lease);
  if (cause != pmu::Cause::kFreed) {
    if (!lease.items.empty()) outbox.send_values(lease, 0);
    outbox.notice(lease, pmu::NoticeKind::kLost, 0);
  }
  for (const Revoker& who : std::exchange(lease.revokers, {})) {
    outbox.send(who.client, who.request, pmu::Done{});
  }
  let_go(lease);
}

// Gives way, and waits to be served again: its counts are kept, its counters are not.
void Arbiter::State::put_aside(Lease& lease) {
  sample(lease);
  leave_turns(lease.number);
  if (std::exchange(lease.has_rest, false)) book.release(lease.number);
  for (const CarrierNumber number : lease.carriers) {
    carriers.pause(number);
    carriers.look_again_at(number, 0);
    book.release(booking_of(number));
  }
  lease.cause = pmu::Cause::kPreempted;
  if (lease.client != 0) lease.deadline_ns = 0;
  lease.unanswered = 0;
  lease.away_ns = now;
  become(lease, pmu::LeaseState::kSuspended);
  outbox.record(JournalRecord::Kind::kSuspended, lease, 0,
                static_cast<std::uint32_t>(pmu::Cause::kPreempted));
  outbox.notice(lease, pmu::NoticeKind::kSuspended, 0);
  line.leave(lease);
  line.join(lease);
  ++changes;
  has_news = true;
}

void Arbiter::State::let_go(Lease& lease) {
  const LeaseNumber number = lease.number;
  line.leave(lease);
  leave_turns(number);
  if (std::exchange(lease.has_rest, false)) book.release(number);
  ++changes;
  has_news = true;
  for (const CarrierNumber of : std::vector<CarrierNumber>(lease.carriers)) {
    carriers.stop_joining(of, number);
    if (carriers.at(of).leases.size() > 1) {
      carriers.leave(of, number);
      std::erase(lease.carriers, of);
    } else if (carriers.at(of).state() != CarrierState::kWatched) {
      close(of);
    }
  }
  finish(lease);
}

void Arbiter::State::finish(Lease& lease) {
  if (lease.carriers.empty()) {
    if (lease.granted_ns != 0) outbox.record(JournalRecord::Kind::kFreed, lease);
    return become(lease, pmu::LeaseState::kNone);
  }
  const bool is_watched = std::any_of(
      lease.carriers.begin(), lease.carriers.end(),
      [&](CarrierNumber number) { return carriers.at(number).state() == CarrierState::kWatched; });
  become(lease, is_watched ? pmu::LeaseState::kFenced : pmu::LeaseState::kLimbo);
}

// The last values are read. A holder that has descriptors can count on after its fence: its
// counters are kept, stopped, for a moment, and if they have run by then, it did.
void Arbiter::State::stop(const Lease& lease) {
  const bool may_count_on =
      lease.has(pmu::kAllocateDelegates) && options.has_backend && clients.contains(lease.client);
  if (!may_count_on) return sample(lease);
  for (const CarrierNumber number : lease.carriers) {
    if (carriers.at(number).state() != CarrierState::kOpen) continue;
    carriers.watch(number, now + kViolationWait);
  }
}

void Arbiter::State::look_for_violation(CarrierNumber number) {
  const KernelCounters::Watched seen = carriers.watched(number);
  if (seen == KernelCounters::Watched::kTooEarly) return;
  const LeaseNumber holder = carriers.at(number).leases.front();
  if (seen == KernelCounters::Watched::kHasRun) {
    ++statistics.violations;
    outbox.record(JournalRecord::Kind::kViolation, leases.at(holder));
  }
  close(number);
  if (Lease* lease = leases.find_present(holder)) finish(*lease);
}

void Arbiter::State::close(CarrierNumber number) {
  const KernelCounters::Closing closing = carriers.close(number);
  if (closing == KernelCounters::Closing::kWasClosed) return;
  ++changes;
  // Nothing was open: the books are all there is to be given back.
  if (closing == KernelCounters::Closing::kFree) freed(number);
}

void Arbiter::State::confirmed(CarrierNumber number, bool has_let_go) {
  if (!carriers.confirmed(number, has_let_go, now)) return;
  const std::vector<LeaseNumber> last = carriers.at(number).leases;
  freed(number);
  for (const LeaseNumber one : last) {
    if (Lease* lease = leases.find_present(one)) finish(*lease);
  }
}

// The kernel has let go: books may give it to others.
void Arbiter::State::freed(CarrierNumber number) {
  book.release(booking_of(number));
  for (const LeaseNumber one : carriers.at(number).leases) {
    if (Lease* lease = leases.find_present(one)) std::erase(lease->carriers, number);
  }
  carriers.forget(number);
  ++changes;
  has_news = true;
}

void Arbiter::State::end_overdue() {
  for (auto& [number, lease] : leases) {
    const bool runs =
        lease.state() == pmu::LeaseState::kActive || lease.state() == pmu::LeaseState::kSuspended;
    if (lease.state() == pmu::LeaseState::kRevoking) {
      if (lease.deadline_ns <= now) end_revoked(lease);
    } else if (!runs) {
      continue;
    } else if (lease.client == 0 && lease.deadline_ns <= now) {
      end(lease, pmu::Cause::kHolderGone);
    } else if (lease.ends_ns != 0 && lease.ends_ns <= now) {
      revoke(lease, pmu::Cause::kHoldEnded, options.drain_ns);
    } else if (term_end(lease) != 0 && term_end(lease) <= now) {
      revoke(lease, pmu::Cause::kTermEnded, options.drain_ns);
    } else if (lease.state() == pmu::LeaseState::kSuspended &&
               lease.cause == pmu::Cause::kTakenByOutsider && lease.away_ns + kAwayMax <= now) {
      end(lease, pmu::Cause::kTakenByOutsider);
    }
  }
}

void Arbiter::State::end_all() {
  has_ended = true;
  for (const LeaseNumber number : line.in_order()) {
    Lease& lease = leases.at(number);
    if (lease.granted_ns == 0) {
      refuse_lease(lease, scarce(Reason::kCancelled, "the arbiter ends"));
    }
  }
  for (auto& [number, lease] : leases) {
    if (lease.is_held()) end(lease, pmu::Cause::kArbiterEnds);
  }
  for (const auto& [client, known] : clients) outbox.ask(Disconnect{client});
}

}  // namespace meterbank::arbiter
