// SPDX-License-Identifier: Apache-2.0
//
// Counters that are away for now: their CPU is offline, an outsider took one, or it is not their
// turn.
#include <algorithm>
#include <utility>

#include "arbiter/core/life/lease_path.hpp"

namespace meterbank::arbiter {
namespace {

[[nodiscard]] bool is_online(const Plan& plan, const Machine& machine) {
  // A task runs where it can.
  if (plan.task != 0) return true;
  return std::all_of(plan.parts.begin(), plan.parts.end(),
                     [&](const PmuDemand& part) { return part.cpus.is_within(machine.online); });
}

}  // namespace

void Arbiter::LeasePath::sampled(CarrierNumber number, const std::vector<Reading>& readings) {
  const KernelCounters::Sampled sampled = carriers_.sampled(number, readings, now_);
  for (const LeaseNumber joiner : sampled.joined) {
    if (Lease* lease = leases_.find_present(joiner)) answered(*lease);
  }
  const Carrier* carrier = carriers_.find(number);
  if (carrier == nullptr) return;
  if (carrier->state() == CarrierState::kWatched) return look_for_violation(number);
  if (!sampled.has_lost || carrier->state() != CarrierState::kOpen) return;
  carriers_.pause(number);
  carriers_.look_again_at(number, now_ + Outsiders::kRetry);
  for (const LeaseNumber holder : std::vector<LeaseNumber>(carrier->leases)) {
    suspend(leases_.at(holder), pmu::Cause::kTakenByOutsider);
  }
  outsiders_.survey();
}

void Arbiter::LeasePath::suspend(Lease& lease, pmu::Cause cause) {
  if (lease.state() != pmu::LeaseState::kActive) return;
  lease.cause = cause;
  lease.away_ns = now_;
  ++statistics_.suspensions;
  become(lease, pmu::LeaseState::kSuspended);
  outbox_.record(JournalRecord::Kind::kSuspended, lease, 0, static_cast<std::uint32_t>(cause));
  outbox_.notice(lease, pmu::NoticeKind::kSuspended, 0);
}

// Suspended until all that it counts on is there.
void Arbiter::LeasePath::back(Lease& lease) {
  const bool has_all =
      is_online(lease.plan, book_.machine()) &&
      std::all_of(lease.carriers.begin(), lease.carriers.end(), [&](CarrierNumber number) {
        return carriers_.at(number).state() == CarrierState::kOpen ||
               (lease.is_sliced() && !turns_.has_turn(lease.number));
      });
  if (!has_all) return;
  lease.cause = pmu::Cause::kNone;
  lease.away_ns = 0;
  lease.heartbeat_ns = now_;  // there was nothing to use meanwhile
  become(lease, pmu::LeaseState::kActive);
  outbox_.record(JournalRecord::Kind::kResumed, lease);
  outbox_.notice(lease, pmu::NoticeKind::kResumed, 0);
}

void Arbiter::LeasePath::resume(CarrierNumber number) {
  if (carriers_.resume(number)) resumed(number);
}

void Arbiter::LeasePath::resumed(CarrierNumber number) {
  for (const LeaseNumber holder : std::vector<LeaseNumber>(carriers_.at(number).leases)) {
    Lease& lease = leases_.at(holder);
    if (lease.state() == pmu::LeaseState::kPreparing) answered(lease);
    if (lease.state() == pmu::LeaseState::kSuspended) back(lease);
  }
}

void Arbiter::LeasePath::not_resumed(CarrierNumber number, const OpenOutcome& outcome) {
  carriers_.look_again_at(number, now_ + Outsiders::kRetry);
  const Carrier& carrier = carriers_.at(number);
  for (const LeaseNumber holder : std::vector<LeaseNumber>(carrier.leases)) {
    Lease& lease = leases_.at(holder);
    if (lease.state() == pmu::LeaseState::kPreparing) {
      carriers_.look_again_at(number, 0);
      if (!lease.fault) lease.fault = kernel_fault(outcome, carrier.openings);
      answered(lease);
    } else if (lease.state() == pmu::LeaseState::kSuspended &&
               lease.cause == pmu::Cause::kCpuOffline && is_online(lease.plan, book_.machine())) {
      // The CPU is back and the counter is not: from here on an outsider is the cause.
      lease.cause = pmu::Cause::kTakenByOutsider;
      lease.away_ns = now_;
    } else {
      suspend(lease, pmu::Cause::kTakenByOutsider);
    }
  }
  outsiders_.survey();
}

void Arbiter::LeasePath::set_online(const CpuSet& cpus) {
  if (cpus == book_.machine().online) return;
  book_.set_online(cpus);
  ++changes_;
  has_news_ = true;
  for (const auto& [number, known] : leases_) {
    if (!known.is_held()) continue;
    Lease& lease = leases_.at(number);
    if (!is_online(lease.plan, book_.machine())) {
      for (const CarrierNumber of : lease.carriers) {
        if (carriers_.at(of).state() == CarrierState::kOpen) carriers_.pause(of);
        carriers_.look_again_at(of, 0);
      }
      suspend(lease, pmu::Cause::kCpuOffline);
      continue;
    }
    const bool was_away =
        lease.state() == pmu::LeaseState::kSuspended && lease.cause == pmu::Cause::kCpuOffline;
    if (!was_away) continue;
    bool has_paused = false;
    for (const CarrierNumber of : lease.carriers) {
      const Carrier& carrier = carriers_.at(of);
      if (carrier.state() != CarrierState::kPaused || !has_turn(carrier)) continue;
      has_paused = options_.has_backend;
      resume(of);
    }
    if (!has_paused && lease.state() == pmu::LeaseState::kSuspended) back(lease);
  }
}

bool Arbiter::LeasePath::has_turn(const Carrier& carrier) const {
  return !carrier.is_sliced || (!carrier.leases.empty() && turns_.has_turn(carrier.leases.front()));
}

void Arbiter::LeasePath::retry_carriers() {
  for (const CarrierNumber number : carriers_.due(now_)) {
    const Carrier* carrier = carriers_.find(number);
    if (carrier == nullptr) continue;
    carriers_.look_again(number);
    if (carrier->state() == CarrierState::kPaused && has_turn(*carrier)) resume(number);
  }
}

std::optional<Decision> Arbiter::LeasePath::turn_refusal(const Lease& lease) const {
  if (!lease.is_sliced()) return std::nullopt;
  const std::size_t members = turns_.members().size() + 1;
  bool is_content = lease.asked.head.duty_permille * members <= 1000;
  Decision decision =
      scarce(Reason::kTaken, "leases that take turns would have less than they need");
  for (const LeaseNumber number : turns_.members()) {
    is_content = is_content && leases_.at(number).asked.head.duty_permille * members <= 1000;
    decision.leases.push_back(number);
  }
  if (is_content) return std::nullopt;
  return decision;
}

void Arbiter::LeasePath::join_turns(Lease& lease) {
  stop_turn();
  turns_.join(lease.number, now_);
  book_.touch_all();
  ++changes_;
}

void Arbiter::LeasePath::leave_turns(LeaseNumber number) {
  if (turns_.leave(number, now_)) book_.touch_all();
}

void Arbiter::LeasePath::stop_turn() {
  for (const auto& [number, carrier] : carriers_) {
    if (!carrier.is_sliced || !has_turn(carrier) || carrier.state() != CarrierState::kOpen)
      continue;
    carriers_.sample(number);
    carriers_.pause(number);
  }
}

void Arbiter::LeasePath::turn_over() {
  if (!turns_.is_over(now_)) return;
  // The counters of the one before are not free before the kernel says so.
  for (const auto& [number, carrier] : carriers_) {
    if (carrier.is_sliced &&
        (carrier.state() == CarrierState::kClosed || carrier.state() == CarrierState::kOpening ||
         carrier.state() == CarrierState::kWatched)) {
      turns_.put_off(now_ + options_.confirm_ns);
      return;
    }
  }
  const LeaseNumber next = turns_.next();
  stop_turn();
  turns_.begin(next, now_);
  book_.touch_all();
  ++changes_;
  const Lease& lease = leases_.at(next);
  if (!is_online(lease.plan, book_.machine())) return;
  for (const CarrierNumber number : lease.carriers) {
    if (carriers_.at(number).state() == CarrierState::kPaused) resume(number);
  }
}

}  // namespace meterbank::arbiter
