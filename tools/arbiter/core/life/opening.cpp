// SPDX-License-Identifier: Apache-2.0
//
// From the books to a grant. Books say yes first, the kernel afterwards: what names events is
// opened and read, of what names none it is asked whether it could be had. No grant before all have
// answered; if one says no, all of it is undone.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "arbiter/core/life/state.hpp"

namespace meterbank::arbiter {

const Carrier* Arbiter::State::shared_carrier(const Lease& lease, const Piece& piece) const {
  if (piece.openings.empty() || !may_share(lease)) return nullptr;
  return carriers.find_shared(piece.openings);
}

Alternative Arbiter::State::alternative_of(const Lease& lease) const {
  const LeaseNumber number = lease.number;
  return {.task = lease.plan.task, .slice = lease.is_sliced() ? number : std::uint64_t{0}};
}

const Plan& Arbiter::State::wanted_by(const Lease& lease, Plan& room) const {
  if (!may_share(lease)) return lease.plan;
  room = {.parts = {}, .tag = lease.plan.tag, .task = lease.plan.task};
  for (const Piece& piece : pieces_of(lease)) {
    if (shared_carrier(lease, piece) != nullptr) continue;
    for (const PmuDemand& part : piece.plan.parts) {
      const auto same = std::find_if(room.parts.begin(), room.parts.end(),
                                     [&](const PmuDemand& one) { return one.pmu == part.pmu; });
      if (same == room.parts.end()) {
        room.parts.push_back(part);
        continue;
      }
      std::vector<CounterMask>& any = same->counters.any;
      any.insert(any.end(), part.counters.any.begin(), part.counters.any.end());
      same->events.insert(same->events.end(), part.events.begin(), part.events.end());
    }
  }
  return room;
}

Decision Arbiter::State::would_take(const Lease& lease) {
  const std::vector<Piece>& pieces = pieces_of(lease);
  const Alternative alternative = alternative_of(lease);
  if (pieces.size() == 1 && !may_share(lease)) {
    return book.test(pieces.front().plan, alternative);
  }
  Plan room;
  if (book.would_fit(wanted_by(lease, room), alternative)) return {};
  // Whichever piece finds no place beside those before it is what the answer is about.
  MachineBook::Before before = book.before(lease.plan);
  Decision decision = take(lease);
  if (decision.is_granted()) {
    CarrierNumber carrier = carriers.next_number();
    book.release(lease.number);
    for (const CarrierNumber paused : lease.carriers) book.release(booking_of(paused));
    for (std::size_t i = 0; i < pieces.size(); ++i) book.release(booking_of(carrier++));
  }
  book.undo(std::move(before));
  return decision;
}

Decision Arbiter::State::take(const Lease& lease) {
  const Alternative alternative = alternative_of(lease);
  std::vector<LeaseId> taken;
  CarrierNumber carrier = carriers.next_number();
  std::size_t paused = 0;
  Decision decision;
  for (const Piece& piece : pieces_of(lease)) {
    if (shared_carrier(lease, piece) != nullptr) continue;
    LeaseId booking = lease.number;
    if (!piece.openings.empty()) {
      const bool has_carrier = paused < lease.carriers.size();
      booking = booking_of(has_carrier ? lease.carriers[paused++] : carrier++);
    }
    Decision taking = book.try_take(booking, piece.plan, alternative);
    if (!taking.is_granted()) {
      for (const LeaseId one : taken) book.release(one);
      return taking;
    }
    if (taking.threshold) decision.threshold = taking.threshold;
    taken.push_back(booking);
  }
  return decision;
}

Decision Arbiter::State::try_start(Lease& lease) {
  Decision decision = take(lease);
  if (!decision.is_granted()) return decision;
  lease.threshold = decision.threshold;
  line.leave(lease);
  ++changes;
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

void Arbiter::State::prepare(Lease& lease) {
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
      carriers.join(known->number, number);
    } else {
      std::vector<std::uint64_t> kept;
      if (delegates(lease)) kept = recovery.kept_for(lease.asked.head.reclaims);
      lease.carriers.push_back(carriers.open(lease, piece, std::move(kept)));
    }
    if (options.has_backend) ++lease.unanswered;
  }
  verify_rest(lease, rest);
  answered(lease);
}

// A lease that gave way has its turn again: its carriers are there, without counters.
void Arbiter::State::restart(Lease& lease) {
  become(lease, pmu::LeaseState::kPreparing);
  lease.unanswered = 1;
  for (const CarrierNumber number : lease.carriers) {
    if (!carriers.resume(number)) ++lease.unanswered;
  }
  for (const Piece& piece : pieces_of(lease)) {
    if (piece.openings.empty()) verify_rest(lease, piece.plan);
  }
  answered(lease);
}

// After all events are open: what is left then has to be enough.
void Arbiter::State::verify_rest(Lease& lease, const Plan& rest) {
  lease.has_rest = !rest.parts.empty();
  if (!options.has_backend) return;
  // CPU by CPU, so that it is known where there is none.
  for (const PmuDemand& part : rest.parts) {
    for (const std::uint32_t cpu : part.cpus.numbers()) {
      const std::uint32_t counters = counters_at(rest, {part.pmu, cpu});
      if (counters == 0) continue;
      ++lease.unanswered;
      lease.checking.push_back({part.pmu, cpu, counters});
      outbox.ask(Verify{lease.number, part.pmu, CpuSet::range(cpu, cpu), counters});
    }
  }
}

void Arbiter::State::opened(CarrierNumber number, const OpenOutcome& outcome) {
  switch (carriers.opened(number, outcome)) {
    case KernelCounters::Opened::kIgnored:
      return;
    case KernelCounters::Opened::kOpen: {
      // Its leases may have gone meanwhile.
      const std::vector<LeaseNumber>& holders = carriers.at(number).leases;
      return holders.empty() ? close(number) : answered(leases.at(holders.front()));
    }
    case KernelCounters::Opened::kFailed:
      return not_opened(number, outcome);
    case KernelCounters::Opened::kResumed:
      return resumed(number);
    case KernelCounters::Opened::kNotResumed:
      return not_resumed(number, outcome);
  }
}

// Nothing of it is open: it needs no limbo.
void Arbiter::State::not_opened(CarrierNumber number, const OpenOutcome& outcome) {
  const Carrier& carrier = carriers.at(number);
  Lease* lease = carrier.leases.empty() ? nullptr : leases.find_present(carrier.leases.front());
  book.release(booking_of(number));
  if (lease != nullptr) {
    if (!lease->fault) lease->fault = kernel_fault(outcome, carrier.openings);
    std::erase(lease->carriers, number);
  }
  carriers.forget(number);
  ++changes;
  has_news = true;
  if (lease != nullptr) answered(*lease);
}

void Arbiter::State::verified(LeaseNumber number, std::uint32_t counters) {
  Lease* lease = leases.find_present(number);
  if (lease == nullptr || lease->checking.empty()) return;
  const Checking asked = lease->checking.front();
  lease->checking.erase(lease->checking.begin());
  if (counters < asked.counters && !lease->fault) {
    const OpenOutcome none{.fault = OpenFault::kNoCounter, .kernel_ids = {}};
    lease->fault = kernel_fault(none, {{.pmu = asked.pmu, .cpu = asked.cpu, .event = {}}});
  }
  answered(*lease);
}

Decision Arbiter::State::kernel_fault(const OpenOutcome& outcome,
                                      const std::vector<Opening>& openings) {
  const Opening& opening = openings.at(std::min<std::size_t>(outcome.opening, openings.size() - 1));
  const std::string& pmu = book.machine().topology.pmus[opening.pmu].name;
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
      ++statistics.mismatches;
      note_unknown(opening);
      decision.sentence =
          fmt::format("counters of {} are free in the books, and the kernel has none to give", pmu);
  }
  return decision;
}

void Arbiter::State::answered(Lease& lease) {
  if (lease.state() != pmu::LeaseState::kPreparing || lease.unanswered == 0) return;
  if (--lease.unanswered != 0) return;
  if (!lease.fault) return lease.granted_ns != 0 ? back(lease) : grant(lease);
  const Decision fault = *std::exchange(lease.fault, std::nullopt);
  lease.retry_ns = now + kRetry;
  if (lease.granted_ns != 0) return put_aside(lease);
  undo(lease);
  become(lease, pmu::LeaseState::kQueued);
  line.join(lease);
  const bool is_taken = fault.reason == Reason::kUnverified && options.has_backend;
  if (!is_taken) return enqueue(lease, fault);
  lease.failed = fault;
  lease.awaits_survey = true;
  survey();
}

void Arbiter::State::undo(Lease& lease) {
  const LeaseNumber number = lease.number;
  leave_turns(number);
  if (std::exchange(lease.has_rest, false)) book.release(number);
  for (const CarrierNumber of : std::exchange(lease.carriers, {})) {
    carriers.leave(of, number);
    const Carrier& carrier = carriers.at(of);
    if (carrier.leases.empty() && carrier.state() != CarrierState::kOpening) close(of);
  }
  lease.items.clear();
  lease.began.clear();
  lease.checking.clear();
  lease.unanswered = 0;
  ++changes;
}

void Arbiter::State::settle_hold(Lease& lease) {
  Nanoseconds hold = policy.classes.at(lease.asked.head.priority).hold_ns_max;
  const auto limit = [&](Nanoseconds other) {
    if (other != 0) hold = hold == 0 ? other : std::min(hold, other);
  };
  limit(lease.asked.head.hold_ns);
  const bool is_whole = std::any_of(lease.plan.parts.begin(), lease.plan.parts.end(),
                                    [](const PmuDemand& part) { return part.counters.whole; });
  if (is_whole) limit(policy.whole_hold_ns_max);
  lease.ends_ns = hold == 0 || hold > pmu::kForever - now ? 0 : now + hold;
}

void Arbiter::State::grant(Lease& lease) {
  become(lease, pmu::LeaseState::kActive);
  lease.granted_ns = now;
  lease.heartbeat_ns = now;
  lease.deadline_ns = 0;  // of its wait, which is over only now
  settle_hold(lease);
  bool is_guarded_everywhere = true;
  for (const PmuDemand& part : lease.plan.parts) {
    for (const std::uint32_t cpu : part.cpus.numbers()) {
      is_guarded_everywhere = is_guarded_everywhere && is_guarded({part.pmu, cpu});
    }
  }
  lease.grade = pmu::Grade::kLedger;
  if (options.has_backend && !lease.has_rest) {
    lease.grade = is_guarded_everywhere ? pmu::Grade::kGuarded : pmu::Grade::kVerified;
  }
  // A fresh counter begins at nothing; one that others count on has just been sampled.
  for (const CarrierNumber number : lease.carriers) {
    const std::vector<Reading>& readings = carriers.at(number).readings;
    lease.began.insert(lease.began.end(), readings.begin(), readings.end());
  }
  lease.quality = quality_of(lease);
  ++statistics.grants;
  if (recovery.reclaim(lease.asked.head.reclaims)) {
    outbox.record(JournalRecord::Kind::kReclaimed, lease, lease.asked.head.reclaims);
    ++statistics.reclaims;
  }
  record_grant(lease);
  send_granted(lease);
}

bool Arbiter::State::delegates(const Lease& lease) const {
  return lease.has(pmu::kAllocateDelegates) && options.has_backend && options.has_descriptors;
}

void Arbiter::State::record_grant(const Lease& lease) {
  outbox.record(JournalRecord::Kind::kGranted, lease, digest_of(lease.asked),
                lease.has(pmu::kAllocateDetached) ? kJournalDetached : 0);
  if (!delegates(lease)) return;
  std::uint16_t position = 0;
  for (const CarrierNumber number : lease.carriers) {
    for (const std::uint64_t kernel_id : carriers.at(number).kernel_ids) {
      outbox.record(JournalRecord::Kind::kDelegated, lease, kernel_id, position++);
    }
  }
}

void Arbiter::State::send_granted(const Lease& lease) {
  pmu::Granted granted;
  granted.counters = counters_of(lease);
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
  outbox.send(lease.client, lease.request, std::move(granted));
  if (!has_descriptors) return;
  std::uint32_t position = 0;
  for (const CarrierNumber number : lease.carriers) {
    const auto count = static_cast<std::uint32_t>(carriers.at(number).openings.size());
    for (std::uint32_t opening = 0; opening < count; ++opening) {
      outbox.ask(Deliver{lease.client, lease.request, pmu::Counter{lease.token, position++, 0},
                         number, opening});
    }
  }
}

}  // namespace meterbank::arbiter
