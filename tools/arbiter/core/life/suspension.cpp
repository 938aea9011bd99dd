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

void Arbiter::State::sampled(CarrierNumber number, std::vector<Reading> readings) {
  const auto found = carriers.find(number);
  if (found == carriers.end()) return;
  Carrier& carrier = found->second;
  bool has_lost = false;
  for (std::size_t i = 0; i < readings.size() && i < carrier.readings.size(); ++i) {
    // What a lost counter had counted last is the best that is known of it.
    if (readings[i].has_counter) {
      carrier.readings[i] = readings[i];
    } else {
      carrier.readings[i].has_counter = false;
      has_lost = true;
    }
  }
  carrier.sampled_ns = now;
  for (const LeaseNumber joiner : std::exchange(carrier.joining, {})) {
    if (Lease* lease = leases.find_present(joiner)) answered(*lease);
  }
  if (carrier.state == CarrierState::kWatched) return look_for_violation(carrier);
  if (!has_lost || carrier.state != CarrierState::kOpen) return;
  pause(carrier);
  carrier.next_ns = now + kRetry;
  for (const LeaseNumber holder : std::vector<LeaseNumber>(carrier.leases)) {
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
        return carriers.at(number).state == CarrierState::kOpen ||
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

void Arbiter::State::pause(Carrier& carrier) {
  if (carrier.state == CarrierState::kPaused || carrier.state == CarrierState::kClosed) return;
  carrier.state = CarrierState::kPaused;
  if (options.has_backend) outbox.ask(Pause{carrier.number});
}

void Arbiter::State::resume(Carrier& carrier) {
  carrier.next_ns = 0;
  carrier.state = CarrierState::kResuming;
  if (options.has_backend) {
    outbox.ask(Resume{carrier.number});
  } else {
    resumed(carrier, {});
  }
}

void Arbiter::State::resumed(Carrier& carrier, const OpenOutcome& outcome) {
  carrier.state = CarrierState::kOpen;
  for (std::size_t i = 0; i < outcome.kernel_ids.size() && i < carrier.kernel_ids.size(); ++i) {
    carrier.kernel_ids[i] = outcome.kernel_ids[i];
  }
  for (const LeaseNumber holder : std::vector<LeaseNumber>(carrier.leases)) {
    Lease& lease = leases.at(holder);
    if (lease.state() == pmu::LeaseState::kPreparing) answered(lease);
    if (lease.state() == pmu::LeaseState::kSuspended) back(lease);
  }
}

void Arbiter::State::not_resumed(Carrier& carrier, const OpenOutcome& outcome) {
  carrier.state = CarrierState::kPaused;
  carrier.next_ns = now + kRetry;
  for (const LeaseNumber holder : std::vector<LeaseNumber>(carrier.leases)) {
    Lease& lease = leases.at(holder);
    if (lease.state() == pmu::LeaseState::kPreparing) {
      carrier.next_ns = 0;
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
        Carrier& carrier = carriers.at(of);
        if (carrier.state == CarrierState::kOpen) pause(carrier);
        carrier.next_ns = 0;
      }
      suspend(lease, pmu::Cause::kCpuOffline);
      continue;
    }
    const bool was_away =
        lease.state() == pmu::LeaseState::kSuspended && lease.cause == pmu::Cause::kCpuOffline;
    if (!was_away) continue;
    bool has_paused = false;
    for (const CarrierNumber of : lease.carriers) {
      Carrier& carrier = carriers.at(of);
      if (carrier.state != CarrierState::kPaused || !has_turn(carrier)) continue;
      has_paused = options.has_backend;
      resume(carrier);
    }
    if (!has_paused && lease.state() == pmu::LeaseState::kSuspended) back(lease);
  }
}

bool Arbiter::State::has_turn(const Carrier& carrier) const {
  return !carrier.is_sliced || (!carrier.leases.empty() && turns.has_turn(carrier.leases.front()));
}

void Arbiter::State::retry_carriers() {
  std::vector<CarrierNumber> due;
  for (const auto& [number, carrier] : carriers) {
    if (carrier.next_ns != 0 && carrier.next_ns <= now) due.push_back(number);
  }
  for (const CarrierNumber number : due) {
    const auto found = carriers.find(number);
    if (found == carriers.end()) continue;
    Carrier& carrier = found->second;
    carrier.next_ns = 0;
    if (carrier.state == CarrierState::kClosed) {
      outbox.ask(Confirm{number});
    } else if (carrier.state == CarrierState::kWatched) {
      outbox.ask(Sample{number});
    } else if (carrier.state == CarrierState::kPaused && has_turn(carrier)) {
      resume(carrier);
    }
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
  for (auto& [number, carrier] : carriers) {
    if (!carrier.is_sliced || !has_turn(carrier) || carrier.state != CarrierState::kOpen) continue;
    if (options.has_backend) outbox.ask(Sample{number});
    pause(carrier);
  }
}

void Arbiter::State::turn_over() {
  if (!turns.is_over(now)) return;
  // The counters of the one before are not free before the kernel says so.
  for (const auto& [number, carrier] : carriers) {
    if (carrier.is_sliced &&
        (carrier.state == CarrierState::kClosed || carrier.state == CarrierState::kOpening ||
         carrier.state == CarrierState::kWatched)) {
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
    Carrier& carrier = carriers.at(number);
    if (carrier.state == CarrierState::kPaused) resume(carrier);
  }
}

}  // namespace meterbank::arbiter
