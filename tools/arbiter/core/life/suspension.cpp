// SPDX-License-Identifier: Apache-2.0
//
// Counters that are away for now: their CPU is offline, an outsider took one, or it is not their
// turn.
#include <algorithm>
#include <utility>

#include "arbiter/core/life/state.hpp"

namespace meterbank::arbiter {
namespace {

[[nodiscard]] bool is_online(const Plan& plan, const Machine& machine) {
  // A task runs where it can.
  if (plan.task != 0) return true;
  return std::all_of(plan.parts.begin(), plan.parts.end(),
                     [&](const PmuDemand& part) { return part.cpus.is_within(machine.online); });
}

}  // namespace

void Arbiter::State::sampled(CarrierNumber number, const std::vector<Reading>& readings) {
  const KernelCounters::Sampled sampled = carriers.sampled(number, readings, now);
  for (const LeaseNumber joiner : sampled.joined) {
    if (Lease* lease = leases.find_present(joiner)) answered(*lease);
  }
  const Carrier* carrier = carriers.find(number);
  if (carrier == nullptr) return;
  if (carrier->state() == CarrierState::kWatched) return look_for_violation(number);
  if (!sampled.has_lost || carrier->state() != CarrierState::kOpen) return;
  carriers.pause(number);
  carriers.look_again_at(number, now + kRetry);
  for (const LeaseNumber holder : std::vector<LeaseNumber>(carrier->leases)) {
    suspend(leases.at(holder), pmu::Cause::kTakenByOutsider);
  }
  survey();
}

void Arbiter::State::suspend(Lease& lease, pmu::Cause cause) {
  if (lease.state() != pmu::LeaseState::kActive) return;
  lease.cause = cause;
  lease.away_ns = now;
  ++statistics.suspensions;
  become(lease, pmu::LeaseState::kSuspended);
  outbox.record(JournalRecord::Kind::kSuspended, lease, 0, static_cast<std::uint32_t>(cause));
  outbox.notice(lease, pmu::NoticeKind::kSuspended, 0);
}

// Suspended until all that it counts on is there.
void Arbiter::State::back(Lease& lease) {
  const bool has_all =
      is_online(lease.plan, book.machine()) &&
      std::all_of(lease.carriers.begin(), lease.carriers.end(), [&](CarrierNumber number) {
        return carriers.at(number).state() == CarrierState::kOpen ||
               (lease.is_sliced() && !turns.has_turn(lease.number));
      });
  if (!has_all) return;
  lease.cause = pmu::Cause::kNone;
  lease.away_ns = 0;
  lease.heartbeat_ns = now;  // there was nothing to use meanwhile
  become(lease, pmu::LeaseState::kActive);
  outbox.record(JournalRecord::Kind::kResumed, lease);
  outbox.notice(lease, pmu::NoticeKind::kResumed, 0);
}

void Arbiter::State::resume(CarrierNumber number) {
  if (carriers.resume(number)) resumed(number);
}

void Arbiter::State::resumed(CarrierNumber number) {
  for (const LeaseNumber holder : std::vector<LeaseNumber>(carriers.at(number).leases)) {
    Lease& lease = leases.at(holder);
    if (lease.state() == pmu::LeaseState::kPreparing) answered(lease);
    if (lease.state() == pmu::LeaseState::kSuspended) back(lease);
  }
}

void Arbiter::State::not_resumed(CarrierNumber number, const OpenOutcome& outcome) {
  carriers.look_again_at(number, now + kRetry);
  const Carrier& carrier = carriers.at(number);
  for (const LeaseNumber holder : std::vector<LeaseNumber>(carrier.leases)) {
    Lease& lease = leases.at(holder);
    if (lease.state() == pmu::LeaseState::kPreparing) {
      carriers.look_again_at(number, 0);
      if (!lease.fault) lease.fault = kernel_fault(outcome, carrier.openings);
      answered(lease);
    } else if (lease.state() == pmu::LeaseState::kSuspended &&
               lease.cause == pmu::Cause::kCpuOffline && is_online(lease.plan, book.machine())) {
      // The CPU is back and the counter is not: from here on an outsider is the cause.
      lease.cause = pmu::Cause::kTakenByOutsider;
      lease.away_ns = now;
    } else {
      suspend(lease, pmu::Cause::kTakenByOutsider);
    }
  }
  survey();
}

void Arbiter::State::set_online(const CpuSet& cpus) {
  if (cpus == book.machine().online) return;
  book.set_online(cpus);
  ++changes;
  has_news = true;
  for (auto& [number, lease] : leases) {
    if (!lease.is_held()) continue;
    if (!is_online(lease.plan, book.machine())) {
      for (const CarrierNumber of : lease.carriers) {
        if (carriers.at(of).state() == CarrierState::kOpen) carriers.pause(of);
        carriers.look_again_at(of, 0);
      }
      suspend(lease, pmu::Cause::kCpuOffline);
      continue;
    }
    const bool was_away =
        lease.state() == pmu::LeaseState::kSuspended && lease.cause == pmu::Cause::kCpuOffline;
    if (!was_away) continue;
    bool has_paused = false;
    for (const CarrierNumber of : lease.carriers) {
      const Carrier& carrier = carriers.at(of);
      if (carrier.state() != CarrierState::kPaused || !has_turn(carrier)) continue;
      has_paused = options.has_backend;
      resume(of);
    }
    if (!has_paused && lease.state() == pmu::LeaseState::kSuspended) back(lease);
  }
}

bool Arbiter::State::has_turn(const Carrier& carrier) const {
  return !carrier.is_sliced || (!carrier.leases.empty() && turns.has_turn(carrier.leases.front()));
}

void Arbiter::State::retry_carriers() {
  for (const CarrierNumber number : carriers.due(now)) {
    const Carrier* carrier = carriers.find(number);
    if (carrier == nullptr) continue;
    carriers.look_again(number);
    if (carrier->state() == CarrierState::kPaused && has_turn(*carrier)) resume(number);
  }
}

std::optional<Decision> Arbiter::State::turn_refusal(const Lease& lease) const {
  if (!lease.is_sliced()) return std::nullopt;
  const std::size_t members = turns.members().size() + 1;
  bool is_content = lease.asked.head.duty_permille * members <= 1000;
  Decision decision = scarce(Reason::kTaken, "those who take turns would have less than they need");
  for (const LeaseNumber number : turns.members()) {
    is_content = is_content && leases.at(number).asked.head.duty_permille * members <= 1000;
    decision.leases.push_back(number);
  }
  if (is_content) return std::nullopt;
  return decision;
}

void Arbiter::State::join_turns(Lease& lease) {
  stop_turn();
  turns.join(lease.number, now);
  book.touch_all();
  ++changes;
}

void Arbiter::State::leave_turns(LeaseNumber number) {
  if (turns.leave(number, now)) book.touch_all();
}

void Arbiter::State::stop_turn() {
  for (const auto& [number, carrier] : carriers) {
    if (!carrier.is_sliced || !has_turn(carrier) || carrier.state() != CarrierState::kOpen)
      continue;
    carriers.sample(number);
    carriers.pause(number);
  }
}

void Arbiter::State::turn_over() {
  if (!turns.is_over(now)) return;
  // The counters of the one before are not free before the kernel says so.
  for (const auto& [number, carrier] : carriers) {
    if (carrier.is_sliced &&
        (carrier.state() == CarrierState::kClosed || carrier.state() == CarrierState::kOpening ||
         carrier.state() == CarrierState::kWatched)) {
      turns.put_off(now + options.confirm_ns);
      return;
    }
  }
  const LeaseNumber next = turns.next();
  stop_turn();
  turns.begin(next, now);
  book.touch_all();
  ++changes;
  const Lease& lease = leases.at(next);
  if (!is_online(lease.plan, book.machine())) return;
  for (const CarrierNumber number : lease.carriers) {
    if (carriers.at(number).state() == CarrierState::kPaused) resume(number);
  }
}

}  // namespace meterbank::arbiter
