// SPDX-License-Identifier: Apache-2.0
//
// What time does: every input begins with at() and ends with settle().
#include "arbiter/core/life/lease_path.hpp"

#include <algorithm>
#include <utility>

namespace meterbank::arbiter {
namespace {

// The earlier of what is known and `time`; 0 is no time.
void take_earlier(std::optional<Nanoseconds>& due, Nanoseconds time) {
  if (time != 0 && (!due || time < *due)) due = time;
}

// Whether the arbiter or a client must act before this lease's deadline.
[[nodiscard]] bool has_to_act(const Lease& lease) {
  return term_end(lease) != 0 || (lease.is_held() && lease.deadline_ns != 0);
}

[[nodiscard]] ArbiterOptions with_limits(ArbiterOptions options) {
  options.leases_max = std::clamp(options.leases_max, std::uint32_t{2}, pmu::kLedgerLeasesMax);
  return options;
}

}  // namespace

Nanoseconds term_end(const Lease& lease) noexcept {
  const Nanoseconds term = lease.asked.head.term_ns;
  const bool is_watched =
      lease.client != 0 && term != 0 && lease.state() == pmu::LeaseState::kActive;
  return is_watched ? lease.heartbeat_ns + term : 0;
}

Arbiter::LeasePath::LeasePath(MachineBook machine_book, Policy rules, ArbiterOptions chosen)
    : book_(std::move(machine_book)),
      policy_(std::move(rules)),
      options_(with_limits(chosen)),
      outbox_(options_.epoch),
      leases_(options_.epoch, options_.leases_max, policy_),
      carriers_(outbox_, options_.has_backend, options_.confirm_ns),
      line_(options_.ageing_ns),
      turns_(options_.slice_ns),
      outsiders_(book_, outbox_, options_.has_backend),
      reservations_(book_, outbox_, policy_),
      words_({.book = book_,
              .leases = leases_,
              .carriers = carriers_,
              .turns = turns_,
              .reservations = reservations_}) {
  reservations_.book();
  ++changes_;
  outbox_.record({.kind = JournalRecord::Kind::kStarted});
}

void Arbiter::LeasePath::at(Nanoseconds time) {
  if (!has_begun_) {
    has_begun_ = true;
    now_ = time;
    outbox_.set_time(now_);
    line_.set_time(now_);
    if (options_.grace_ns != 0) recovery_.begin_grace(now_ + options_.grace_ns);
    settle_guards();
    return;
  }
  if (time <= now_) return;
  const Nanoseconds gap = time - now_;
  now_ = time;
  outbox_.set_time(now_);
  line_.set_time(now_);
  if (gap <= kTickLate) return;
  for (auto& [number, lease] : leases_) {
    lease.heartbeat_ns += gap;
    // A wait and a hold are promises about the clock, and run on.
    if (lease.is_held() && lease.deadline_ns != 0) lease.deadline_ns += gap;
  }
}

void Arbiter::LeasePath::settle() {
  while (has_news_ && !has_ended_) {
    has_news_ = false;
    serve_queue();
  }
  turn_over();
  settle_guards();
  leases_.forget_ended();
}

void Arbiter::LeasePath::become(Lease& lease, pmu::LeaseState state) {
  if (!leases_.become(lease, state)) return;
  book_.touch(lease.plan);
  ++changes_;
}

bool Arbiter::LeasePath::is_tallied() const {
  const auto waiting = std::count_if(leases_.begin(), leases_.end(),
                                     [](const auto& entry) { return entry.second.is_waiting; });
  return leases_.is_tallied() && line_.is_in_order() &&
         line_.size() == static_cast<std::size_t>(waiting);
}

std::optional<Nanoseconds> Arbiter::LeasePath::deadline() const {
  std::optional<Nanoseconds> due;
  for (const auto& [number, lease] : leases_) {
    take_earlier(due, lease.deadline_ns);
    take_earlier(due, term_end(lease));
    if (lease.retry_ns > now_) take_earlier(due, lease.retry_ns);
    if (lease.state() == pmu::LeaseState::kActive || lease.state() == pmu::LeaseState::kSuspended) {
      take_earlier(due, lease.ends_ns);
    }
    if (lease.state() == pmu::LeaseState::kSuspended &&
        lease.cause == pmu::Cause::kTakenByOutsider) {
      take_earlier(due, lease.away_ns + kAwayMax);
    }
    if (has_to_act(lease)) take_earlier(due, now_ + kTick);
    if (lease.state() == pmu::LeaseState::kQueued && line_.size() > 1) {
      take_earlier(due, line_.promotion_ns(lease));
    }
  }
  for (const auto& [number, carrier] : carriers_) take_earlier(due, carrier.next_ns);
  take_earlier(due, outsiders_.deadline(!line_.empty()).value_or(0));
  take_earlier(due, turns_.ends_ns());
  if (recovery_.has_leases() || (is_grace() && !line_.empty())) {
    take_earlier(due, recovery_.grace_until_ns());
  }
  return due;
}

}  // namespace meterbank::arbiter
