// SPDX-License-Identifier: Apache-2.0
//
// The walk of a lease forward, from a request to the answer:
//
//   allocate       what the request means, and whether the policy allows it
//   admit          it gets a number and a place in the line
//   consider       whether it is its turn and the books have room
//   try_start      the books have it
//   prepare        the kernel is asked: what names events is opened and read, of what names none
//                  it is asked whether it could be had
//   answered       no grant before all have answered; if one says no, all of it is undone
//   grant          the ledger, the journal and the client have it
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "arbiter/core/life/lease_path.hpp"

namespace meterbank::arbiter {
namespace {

// So many waiters ahead are kept from being passed to their harm. Beyond them it costs more to find
// out than it is worth: each waiter gets there.
constexpr std::size_t kProtectedMax = 4;

}  // namespace

void Arbiter::LeasePath::allocate(ClientNumber client, std::uint64_t id,
                                  const pmu::Allocate& asked) {
  const auto refuse_at_once = [&](const Decision& decision) {
    const ClientIdentity& who = clients_.at(client).identity;
    ++statistics_.refusals.at(static_cast<std::size_t>(decision.reason));
    outbox_.record({.start_time = who.start_time,
                    .pid = who.pid,
                    .uid = who.uid,
                    .kind = JournalRecord::Kind::kRefused,
                    .reason = static_cast<std::uint16_t>(decision.reason)});
    refuse(client, id, decision);
  };
  if (auto fault = form_fault(asked)) return refuse_at_once(*fault);
  auto plan = plan_for(request_of(asked), book_.machine());
  const bool may_wait = asked.head.wait_ns != 0;
  if (!plan && plan.error().reason == Reason::kCpuOffline && may_wait) {
    Machine machine = book_.machine();
    machine.online = machine.possible;
    plan = plan_for(request_of(asked), machine);
  }
  if (!plan) return refuse_at_once(plan.error());
  const Rights& rights = clients_.at(client).rights;
  if (auto refused = policy_refusal(rights, asked, *plan)) return refuse_at_once(*refused);

  if (take_over(client, id, asked)) return;

  const auto [own, own_waits] = leases_.counts_of(clients_.at(client).identity.uid);
  if (own >= rights.leases_max) {
    return refuse_at_once(
        scarce(Reason::kQuota, fmt::format("this user has {} leases, and may have no more", own)));
  }
  const bool is_dry = (asked.head.flags & pmu::kAllocateDryRun) != 0;
  if (may_wait && !is_dry && own_waits >= rights.waits_max) {
    return refuse_at_once(
        scarce(Reason::kQueueFull,
               fmt::format("{} requests of this user are waiting already", own_waits)));
  }
  if (!leases_.has_free_number()) {
    return refuse_at_once(scarce(Reason::kQueueFull, "there are as many leases as there may be"));
  }
  admit(client, id, asked, std::move(*plan));
}

void Arbiter::LeasePath::admit(ClientNumber client, std::uint64_t id, const pmu::Allocate& asked,
                               Plan plan) {
  Lease lease;
  lease.client = client;
  lease.request = id;
  lease.holder = clients_.at(client).identity;
  lease.asked = asked;
  if (asked.head.term_ns != 0) {
    lease.asked.head.term_ns = std::clamp<std::uint64_t>(asked.head.term_ns, kTermMin, kTermMax);
  }
  set_plan(lease, std::move(plan));
  lease.asked_ns = now_;
  Lease& placed = leases_.add(std::move(lease));
  ++changes_;

  if (asked.head.reclaims != 0) {
    if (auto refused = recovery_.refusal(placed)) return refuse_lease(placed, *refused);
  }
  line_.join(placed);
  const Decision decision = consider(placed);
  if (decision.is_granted()) {
    if (placed.has(pmu::kAllocateDryRun)) {
      line_.leave(placed);
      become(placed, pmu::LeaseState::kNone);
      send_granted(placed);
    }
    return;
  }
  enqueue(placed, decision);
}

Decision Arbiter::LeasePath::consider(Lease& lease) {
  if (is_grace() && lease.asked.head.reclaims == 0) {
    return scarce(Reason::kGrace,
                  "the arbiter was restarted, and gives out only what was held before");
  }
  if (now_ < lease.retry_ns) {
    return scarce(Reason::kUnverified, "the kernel had no counter for it a moment ago");
  }
  if (auto refused = quota_refusal(lease)) return *refused;
  if (auto refused = turn_refusal(lease)) return *refused;
  // Most waiting requests do not fit: only for the others it is worth asking which requests they
  // would delay, and only a client that has no answer yet needs to know why.
  Plan room;
  const bool has_answer = lease.was_told || lease.granted_ns != 0;
  const Plan& wanted = wanted_by(lease, room);
  if (!book_.would_fit(wanted, alternative_of(lease))) {
    if (has_answer) {
      // A lease that gives way for it from here on moves the clock.
      line_.note_refusal(lease, book_.clock());
      return scarce(Reason::kTaken, {});
    }
    Decision decision = would_take(lease);
    if (!decision.is_granted()) return decision;
  }
  for (const Lease* ahead : line_.rivals_ahead_of(lease, kProtectedMax)) {
    if (!is_delayed(*ahead, lease)) continue;
    Decision passed_over = scarce(Reason::kTaken, {});
    passed_over.leases = {ahead->number};
    return passed_over;
  }
  return lease.has(pmu::kAllocateDryRun) ? Decision{} : try_start(lease);
}

Decision Arbiter::LeasePath::try_start(Lease& lease) {
  Decision decision = take(lease);
  if (!decision.is_granted()) return decision;
  lease.threshold = decision.threshold;
  line_.leave(lease);
  ++changes_;
  // Guards give up what was just booked before anything is opened on it.
  settle_guards();
  if (lease.is_sliced()) join_turns(lease);
  if (lease.granted_ns != 0) {
    restart(lease);
  } else {
    prepare(lease);
  }
  return decision;
}

void Arbiter::LeasePath::prepare(Lease& lease) {
  const LeaseNumber number = lease.number;
  become(lease, pmu::LeaseState::kPreparing);
  lease.unanswered = 1;  // this function: it is not ready before all has been asked for
  Plan rest;
  for (const Piece& piece : pieces_of(lease)) {
    if (piece.openings.empty()) {
      rest = piece.plan;
      continue;
    }
    for (const Opening& opening : piece.openings) lease.items.push_back(opening.item);
    if (const Carrier* known = shared_carrier(lease, piece)) {
      lease.carriers.push_back(known->number);
      carriers_.join(known->number, number);
    } else {
      std::vector<std::uint64_t> kept;
      if (delegates(lease)) kept = recovery_.kept_for(lease.asked.head.reclaims);
      lease.carriers.push_back(carriers_.open(lease, piece, std::move(kept)));
    }
    if (options_.has_backend) ++lease.unanswered;
  }
  verify_rest(lease, rest);
  answered(lease);
}

// After all events are open: what is left then has to be enough.
void Arbiter::LeasePath::verify_rest(Lease& lease, const Plan& rest) {
  lease.has_rest = !rest.parts.empty();
  if (!options_.has_backend) return;
  // CPU by CPU, so that it is known where there is none.
  for (const PmuDemand& part : rest.parts) {
    for (const std::uint32_t cpu : part.cpus.numbers()) {
      const std::uint32_t counters = counters_at(rest, {part.pmu, cpu});
      if (counters == 0) continue;
      ++lease.unanswered;
      lease.checking.push_back({part.pmu, cpu, counters});
      outbox_.ask(Verify{lease.number, part.pmu, CpuSet::range(cpu, cpu), counters});
    }
  }
}

void Arbiter::LeasePath::opened(CarrierNumber number, const OpenOutcome& outcome) {
  switch (carriers_.opened(number, outcome)) {
    case KernelCounters::Opened::kIgnored:
      return;
    case KernelCounters::Opened::kOpen: {
      // Its leases may have gone meanwhile.
      const std::vector<LeaseNumber>& holders = carriers_.at(number).leases;
      return holders.empty() ? close(number) : answered(leases_.at(holders.front()));
    }
    case KernelCounters::Opened::kFailed:
      return not_opened(number, outcome);
    case KernelCounters::Opened::kResumed:
      return resumed(number);
    case KernelCounters::Opened::kNotResumed:
      return not_resumed(number, outcome);
  }
}

void Arbiter::LeasePath::verified(LeaseNumber number, std::uint32_t counters) {
  Lease* lease = leases_.find_present(number);
  if (lease == nullptr || lease->checking.empty()) return;
  const Checking asked = lease->checking.front();
  lease->checking.erase(lease->checking.begin());
  if (counters < asked.counters && !lease->fault) {
    const OpenOutcome none{.fault = OpenFault::kNoCounter, .kernel_ids = {}};
    lease->fault = kernel_fault(none, {{.pmu = asked.pmu, .cpu = asked.cpu, .event = {}}});
  }
  answered(*lease);
}

void Arbiter::LeasePath::answered(Lease& lease) {
  if (lease.state() != pmu::LeaseState::kPreparing || lease.unanswered == 0) return;
  if (--lease.unanswered != 0) return;
  if (!lease.fault) return lease.granted_ns != 0 ? back(lease) : grant(lease);
  const Decision fault = *std::exchange(lease.fault, std::nullopt);
  lease.retry_ns = now_ + Outsiders::kRetry;
  if (lease.granted_ns != 0) return put_aside(lease);
  undo(lease);
  become(lease, pmu::LeaseState::kQueued);
  line_.join(lease);
  const bool is_taken = fault.reason == Reason::kUnverified && options_.has_backend;
  if (!is_taken) return enqueue(lease, fault);
  lease.failed = fault;
  lease.awaits_survey = true;
  outsiders_.survey();
}

void Arbiter::LeasePath::grant(Lease& lease) {
  become(lease, pmu::LeaseState::kActive);
  lease.granted_ns = now_;
  lease.heartbeat_ns = now_;
  lease.deadline_ns = 0;  // of its wait, which is over only now
  settle_hold(lease);
  bool is_guarded_everywhere = true;
  for (const PmuDemand& part : lease.plan.parts) {
    for (const std::uint32_t cpu : part.cpus.numbers()) {
      is_guarded_everywhere = is_guarded_everywhere && reservations_.is_guarded(part.pmu, cpu);
    }
  }
  lease.grade = pmu::Grade::kLedger;
  if (options_.has_backend && !lease.has_rest) {
    lease.grade = is_guarded_everywhere ? pmu::Grade::kGuarded : pmu::Grade::kVerified;
  }
  // A fresh counter begins at nothing; one that others count on has just been sampled.
  for (const CarrierNumber number : lease.carriers) {
    const std::vector<Reading>& readings = carriers_.at(number).readings;
    lease.began.insert(lease.began.end(), readings.begin(), readings.end());
  }
  lease.quality = words_.quality_of(lease);
  ++statistics_.grants;
  if (recovery_.reclaim(lease.asked.head.reclaims)) {
    outbox_.record(JournalRecord::Kind::kReclaimed, lease, lease.asked.head.reclaims);
    ++statistics_.reclaims;
  }
  record_grant(lease);
  send_granted(lease);
}

void Arbiter::LeasePath::settle_hold(Lease& lease) {
  Nanoseconds hold = policy_.classes.at(lease.asked.head.priority).hold_ns_max;
  const auto limit = [&](Nanoseconds other) {
    if (other != 0) hold = hold == 0 ? other : std::min(hold, other);
  };
  limit(lease.asked.head.hold_ns);
  const bool is_whole = std::any_of(lease.plan.parts.begin(), lease.plan.parts.end(),
                                    [](const PmuDemand& part) { return part.counters.whole; });
  if (is_whole) limit(policy_.whole_hold_ns_max);
  lease.ends_ns = hold == 0 || hold > pmu::kForever - now_ ? 0 : now_ + hold;
}

bool Arbiter::LeasePath::delegates(const Lease& lease) const {
  return lease.has(pmu::kAllocateDelegates) && options_.has_backend && options_.has_descriptors;
}

void Arbiter::LeasePath::record_grant(const Lease& lease) {
  outbox_.record(JournalRecord::Kind::kGranted, lease, digest_of(lease.asked),
                 lease.has(pmu::kAllocateDetached) ? kJournalDetached : 0);
  if (!delegates(lease)) return;
  std::uint16_t position = 0;
  for (const CarrierNumber number : lease.carriers) {
    for (const std::uint64_t kernel_id : carriers_.at(number).kernel_ids) {
      outbox_.record(JournalRecord::Kind::kDelegated, lease, kernel_id, position++);
    }
  }
}

void Arbiter::LeasePath::send_granted(const Lease& lease) {
  pmu::Granted granted;
  granted.counters = words_.counters_of(lease);
  granted.head = {.token = lease.token,
                  .ends_ns = lease.ends_ns,
                  .term_ns = lease.asked.head.term_ns,
                  .grade = lease.grade,
                  .quality = lease.quality,
                  .threshold = lease.threshold.value_or(0),
                  .counter_count = static_cast<std::uint32_t>(granted.counters.size()),
                  .descriptor_count = 0,
                  .duty_permille = lease.asked.head.duty_permille};
  const bool has_descriptors = delegates(lease);
  if (has_descriptors) {
    granted.head.descriptor_count = static_cast<std::uint32_t>(lease.items.size());
  }
  outbox_.send(lease.client, lease.request, std::move(granted));
  if (!has_descriptors) return;
  std::uint32_t position = 0;
  for (const CarrierNumber number : lease.carriers) {
    const auto count = static_cast<std::uint32_t>(carriers_.at(number).openings.size());
    for (std::uint32_t opening = 0; opening < count; ++opening) {
      outbox_.ask(Deliver{lease.client, lease.request, pmu::Counter{lease.token, position++, 0},
                          number, opening});
    }
  }
}

}  // namespace meterbank::arbiter
