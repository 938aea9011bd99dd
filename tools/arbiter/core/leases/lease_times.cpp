// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/leases/lease_times.hpp"

#include <algorithm>

namespace meterbank::arbiter {
namespace {

[[nodiscard]] Nanoseconds due_of(const Lease& lease, Nanoseconds now) {
  Nanoseconds due = DueTimes::kNever;
  // A time of 0 means that none is set.
  const auto take_earlier = [&due](Nanoseconds time) {
    if (time != 0) due = std::min(due, time);
  };
  const bool is_suspended = lease.state() == pmu::LeaseState::kSuspended;
  const bool runs = is_suspended || lease.state() == pmu::LeaseState::kActive;
  take_earlier(lease.deadline_ns);
  // What is being given back, or has no client, must not last: without a deadline it is over.
  const bool must_end = lease.state() == pmu::LeaseState::kRevoking || (runs && lease.client == 0);
  if (must_end && lease.deadline_ns == 0) take_earlier(1);
  take_earlier(term_end(lease));
  if (lease.retry_ns > now) take_earlier(lease.retry_ns);
  if (runs) take_earlier(lease.ends_ns);
  if (is_suspended && lease.cause == pmu::Cause::kTakenByOutsider) {
    take_earlier(lease.away_ns + kAwayMax);
  }
  return due;
}

// Whether the arbiter or a client must act before this lease's deadline.
[[nodiscard]] bool has_to_act(const Lease& lease) {
  return term_end(lease) != 0 || (lease.is_held() && lease.deadline_ns != 0);
}

}  // namespace

Nanoseconds term_end(const Lease& lease) noexcept {
  const Nanoseconds term = lease.asked.head.term_ns;
  const bool is_watched =
      lease.client != 0 && term != 0 && lease.state() == pmu::LeaseState::kActive;
  return is_watched ? lease.heartbeat_ns + term : 0;
}

void LeaseTimes::note(const Lease& lease, Nanoseconds now) {
  const bool has_ended = lease.state() == pmu::LeaseState::kNone;
  due_.set(lease.number, has_ended ? DueTimes::kNever : due_of(lease, now));
  const bool acts = !has_ended && has_to_act(lease);
  if (acts == acts_.at(lease.number)) return;
  acts_[lease.number] = acts;
  acting_ = acts ? acting_ + 1 : acting_ - 1;
}

std::optional<Nanoseconds> LeaseTimes::deadline(Nanoseconds now) const {
  Nanoseconds due = due_.first();
  if (acting_ != 0) due = std::min(due, now + kTick);
  if (due == DueTimes::kNever) return std::nullopt;
  return due;
}

}  // namespace meterbank::arbiter
