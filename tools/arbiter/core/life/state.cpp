// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/life/state.hpp"

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

Arbiter::State::State(MachineBook machine_book, Policy rules, ArbiterOptions chosen)
    : book(std::move(machine_book)),
      policy(std::move(rules)),
      options(with_limits(chosen)),
      outbox(options.epoch),
      leases(options.epoch, options.leases_max, policy),
      carriers(outbox, options.has_backend, options.confirm_ns),
      line(options.ageing_ns),
      turns(options.slice_ns) {
  book_reserves();
  outbox.record({.kind = JournalRecord::Kind::kStarted});
}

void Arbiter::State::at(Nanoseconds time) {
  if (!has_begun) {
    has_begun = true;
    now = time;
    outbox.set_time(now);
    line.set_time(now);
    if (options.grace_ns != 0) recovery.begin_grace(now + options.grace_ns);
    settle_guards();
    return;
  }
  if (time <= now) return;
  const Nanoseconds gap = time - now;
  now = time;
  outbox.set_time(now);
  line.set_time(now);
  if (gap <= kTickLate) return;
  for (auto& [number, lease] : leases) {
    lease.heartbeat_ns += gap;
    // A wait and a hold are promises about the clock, and run on.
    if (lease.is_held() && lease.deadline_ns != 0) lease.deadline_ns += gap;
  }
}

void Arbiter::State::settle() {
  while (has_news && !has_ended) {
    has_news = false;
    serve_queue();
  }
  turn_over();
  settle_guards();
  leases.forget_ended();
}

void Arbiter::State::become(Lease& lease, pmu::LeaseState state) {
  if (!leases.become(lease, state)) return;
  book.touch(lease.plan);
  ++changes;
}

bool Arbiter::State::is_tallied() const {
  const auto waiting = std::count_if(leases.begin(), leases.end(),
                                     [](const auto& entry) { return entry.second.is_waiting; });
  return leases.is_tallied() && line.is_in_order() &&
         line.size() == static_cast<std::size_t>(waiting);
}

std::vector<LeaseNumber> Arbiter::State::leases_of(LeaseId booking) const {
  if (booking < kCarrierFirst) return {static_cast<LeaseNumber>(booking)};
  const Carrier* carrier = carriers.find(booking - kCarrierFirst);
  return carrier == nullptr ? std::vector<LeaseNumber>{} : carrier->leases;
}

std::optional<Nanoseconds> Arbiter::State::deadline() const {
  std::optional<Nanoseconds> due;
  for (const auto& [number, lease] : leases) {
    take_earlier(due, lease.deadline_ns);
    take_earlier(due, term_end(lease));
    if (lease.retry_ns > now) take_earlier(due, lease.retry_ns);
    if (lease.state() == pmu::LeaseState::kActive || lease.state() == pmu::LeaseState::kSuspended) {
      take_earlier(due, lease.ends_ns);
    }
    if (lease.state() == pmu::LeaseState::kSuspended &&
        lease.cause == pmu::Cause::kTakenByOutsider) {
      take_earlier(due, lease.away_ns + kAwayMax);
    }
    if (has_to_act(lease)) take_earlier(due, now + kTick);
    if (lease.state() == pmu::LeaseState::kQueued && line.size() > 1) {
      take_earlier(due, line.promotion_ns(lease));
    }
  }
  for (const auto& [number, carrier] : carriers) take_earlier(due, carrier.next_ns);
  for (const auto& [place, unknown] : unknowns) take_earlier(due, unknown.until_ns);
  take_earlier(due, turns.ends_ns());
  if (recovery.has_leases() || (is_grace() && !line.empty())) {
    take_earlier(due, recovery.grace_until_ns());
  }
  if (!line.empty() && !outsiders.empty() && !is_surveying) {
    take_earlier(due, surveyed_ns + kRetry);
  }
  return due;
}

}  // namespace meterbank::arbiter
