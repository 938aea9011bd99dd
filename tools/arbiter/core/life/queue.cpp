// SPDX-License-Identifier: Apache-2.0
//
// Who is served next, and who gives way.
//
// Classes go before each other, and first come is first served inside one; who waits goes up a
// class after every ageing_ns, so that nobody waits for ever. Who is behind may pass only if nobody
// ahead has to wait longer for it: because it is over in time, or because there is room for both.
#include <algorithm>
#include <limits>
#include <utility>

#include "arbiter/core/life/state.hpp"

namespace meterbank::arbiter {
namespace {

// So many waiters ahead are kept from being passed to their harm. Beyond them it costs more to find
// out than it is worth: whoever waits gets there.
constexpr std::size_t kProtectedMax = 4;

// Pairs of leases are tried for the cheapest set that gives way, among so many.
constexpr std::size_t kPairsAmong = 16;

[[nodiscard]] bool overlap(const Plan& one, const Plan& other) {
  for (const PmuDemand& left : one.parts) {
    for (const PmuDemand& right : other.parts) {
      if (left.pmu != right.pmu) continue;
      // Units may reach beyond the CPUs that are named.
      const bool has_units = !(left.units.empty() && left.extras.empty()) &&
                             !(right.units.empty() && right.extras.empty());
      if (has_units || !left.cpus.common_with(right.cpus).empty()) return true;
    }
  }
  return false;
}

[[nodiscard]] bool is_booked(const Lease& lease) {
  switch (lease.state) {
    case pmu::LeaseState::kPreparing:
    case pmu::LeaseState::kActive:
    case pmu::LeaseState::kRevoking:
    case pmu::LeaseState::kFenced:
    case pmu::LeaseState::kLimbo:
      return true;
    case pmu::LeaseState::kSuspended:
      return lease.cause != pmu::Cause::kPreempted;
    default:
      return false;
  }
}

[[nodiscard]] bool is_going(const Lease& lease) {
  return lease.state == pmu::LeaseState::kRevoking || lease.state == pmu::LeaseState::kFenced ||
         lease.state == pmu::LeaseState::kLimbo;
}

}  // namespace

std::uint32_t Arbiter::State::class_of(const Lease& lease) const {
  constexpr auto kHighest = static_cast<std::uint64_t>(pmu::Priority::kCritical);
  const std::uint64_t steps =
      options.ageing_ns == 0 ? 0 : (now - lease.asked_ns) / options.ageing_ns;
  return static_cast<std::uint32_t>(std::min(kHighest, lease.asked.head.priority + steps));
}

std::vector<LeaseNumber> Arbiter::State::in_order() const {
  std::vector<LeaseNumber> order = waiting;
  std::stable_sort(order.begin(), order.end(), [&](LeaseNumber one, LeaseNumber other) {
    const Lease& left = leases.at(one);
    const Lease& right = leases.at(other);
    const std::uint32_t left_class = class_of(left);
    const std::uint32_t right_class = class_of(right);
    if (left_class != right_class) return left_class > right_class;
    return left.arrival < right.arrival;
  });
  return order;
}

std::uint32_t Arbiter::State::ahead_of(const Lease& lease) const {
  const std::vector<LeaseNumber> order = in_order();
  const auto found = std::find(order.begin(), order.end(), lease.number);
  return static_cast<std::uint32_t>(found - order.begin());
}

void Arbiter::State::leave_queue(LeaseNumber number) { std::erase(waiting, number); }

void Arbiter::State::serve_queue() {
  served_ns = now;
  for (const LeaseNumber number : in_order()) {
    Lease* lease = lease_at(number);
    if (lease == nullptr || lease->awaits_survey) continue;
    if (std::find(waiting.begin(), waiting.end(), number) == waiting.end()) continue;
    const Decision decision = consider(*lease);
    if (decision.is_granted()) continue;
    if (!lease->was_told && lease->granted_ns == 0) {
      enqueue(*lease, decision);
    } else {
      preempt_for(*lease);
    }
  }
}

Decision Arbiter::State::consider(Lease& lease) {
  if (is_grace() && lease.asked.head.reclaims == 0) {
    return scarce(Reason::kGrace,
                  "the arbiter was restarted, and gives out only what was held before");
  }
  if (now < lease.retry_ns) {
    return scarce(Reason::kUnverified, "the kernel had no counter for it a moment ago");
  }
  if (auto refused = quota_refusal(lease)) return *refused;
  if (auto refused = turn_refusal(lease)) return *refused;
  const bool is_dry = lease.has(pmu::kAllocateDryRun);
  const std::vector<LeaseNumber> ahead = protected_from(lease);
  if (ahead.empty() && !is_dry) return try_start(lease);
  // Most of those who wait do not fit: only for the others it is worth asking whom they would
  // delay.
  MachineBook copy = book;
  Decision decision = take(copy, lease);
  if (!decision.is_granted()) return decision;
  for (const LeaseNumber number : ahead) {
    if (!is_delayed(leases.at(number), lease)) continue;
    Decision passed_over = scarce(Reason::kTaken, {});
    passed_over.leases = {number};
    return passed_over;
  }
  return is_dry ? decision : try_start(lease);
}

std::vector<LeaseNumber> Arbiter::State::protected_from(const Lease& lease) const {
  std::vector<LeaseNumber> ahead;
  for (const LeaseNumber number : in_order()) {
    if (number == lease.number || ahead.size() == kProtectedMax) break;
    if (overlap(leases.at(number).plan, lease.plan)) ahead.push_back(number);
  }
  return ahead;
}

bool Arbiter::State::is_delayed(const Lease& ahead, const Lease& lease) const {
  // Who waits for its own share, and not for counters, is not delayed by others who take them.
  if (quota_refusal(ahead) || turn_refusal(ahead)) return false;
  const Estimate alone = earliest(ahead, nullptr);
  const bool is_known = alone.time_ns != pmu::kForever;
  const Nanoseconds hold = lease.asked.head.hold_ns;
  const bool is_over_in_time = is_known && hold != 0 && hold <= alone.time_ns - now;
  if (is_over_in_time) return false;
  const Estimate beside = earliest(ahead, &lease);
  return beside.time_ns > alone.time_ns || beside.released > alone.released;
}

std::vector<std::pair<Nanoseconds, LeaseNumber>> Arbiter::State::ends(const Lease& lease) const {
  std::vector<std::pair<Nanoseconds, LeaseNumber>> ends;
  for (const auto& [number, other] : leases) {
    if (number == lease.number || !is_booked(other) || !overlap(lease.plan, other.plan)) continue;
    Nanoseconds end = other.ends_ns == 0 ? pmu::kForever : other.ends_ns;
    if (other.state == pmu::LeaseState::kRevoking) end = std::min(end, other.deadline_ns);
    // What its own client holds is its own to give back: it never stands in its way.
    const bool is_own = lease.client != 0 && other.client == lease.client;
    if (is_own || other.state == pmu::LeaseState::kFenced ||
        other.state == pmu::LeaseState::kLimbo) {
      end = now;
    }
    ends.emplace_back(std::max(end, now), number);
  }
  std::sort(ends.begin(), ends.end());
  return ends;
}

void Arbiter::State::release_in(MachineBook& copy, const std::set<LeaseNumber>& gone) const {
  for (const LeaseNumber number : gone) copy.release(number);
  for (const auto& [number, carrier] : carriers) {
    const bool is_free = std::all_of(carrier.leases.begin(), carrier.leases.end(),
                                     [&](LeaseNumber one) { return gone.contains(one); });
    if (is_free) copy.release(booking_of(number));
  }
}

Estimate Arbiter::State::earliest(const Lease& lease, const Lease* beside) const {
  MachineBook copy = book;
  // If there is no place for both even now, it will not be started and delays nobody.
  const LeaseId stand_in = MachineBook::kForeignFirst - 1;
  if (beside != nullptr) {
    (void)copy.try_take(stand_in, beside->plan, alternative_of(*beside));
  }
  // A refusal leaves no trace in the copy, and after a grant it is not needed any more.
  const auto fits = [&] { return take(copy, lease).is_granted(); };
  if (fits()) return {.time_ns = now, .released = 0};
  std::set<LeaseNumber> gone;
  for (const auto& [end, number] : ends(lease)) {
    gone.insert(number);
    release_in(copy, gone);
    if (fits()) return {.time_ns = end, .released = gone.size()};
  }
  return {.time_ns = pmu::kForever, .released = std::numeric_limits<std::size_t>::max()};
}

bool Arbiter::State::fits_without(const Lease& lease, const std::set<LeaseNumber>& gone) const {
  MachineBook copy = book;
  release_in(copy, gone);
  return take(copy, lease).is_granted();
}

void Arbiter::State::preempt_for(const Lease& lease) {
  if (is_grace() || quota_refusal(lease) || turn_refusal(lease)) return;
  // What is going anyway is as good as gone.
  std::set<LeaseNumber> going;
  std::vector<const Lease*> candidates;
  for (const auto& [number, other] : leases) {
    if (!is_booked(other) || !overlap(lease.plan, other.plan)) continue;
    if (is_going(other)) going.insert(number);
    const bool gives_way = policy.classes.at(other.asked.head.priority).is_preemptible ||
                           other.has(pmu::kAllocateRestorable);
    const bool is_running =
        other.state == pmu::LeaseState::kActive || other.state == pmu::LeaseState::kSuspended;
    if (gives_way && is_running && other.priority() < lease.priority()) {
      candidates.push_back(&other);
    }
  }
  if (candidates.empty() || fits_without(lease, going)) return;
  std::sort(candidates.begin(), candidates.end(), [](const Lease* one, const Lease* other) {
    return std::pair(one->granted_ns, one->arrival) > std::pair(other->granted_ns, other->arrival);
  });
  for (const LeaseNumber number : cheapest(lease, going, candidates)) {
    revoke(leases.at(number), pmu::Cause::kPreempted, options.drain_ns);
  }
}

std::vector<LeaseNumber> Arbiter::State::cheapest(
    const Lease& lease, const std::set<LeaseNumber>& going,
    const std::vector<const Lease*>& youngest_first) const {
  const auto helps = [&](std::set<LeaseNumber> gone) {
    gone.insert(going.begin(), going.end());
    return fits_without(lease, gone);
  };
  std::set<LeaseNumber> all;
  for (const Lease* one : youngest_first) all.insert(one->number);
  if (!helps(all)) return {};
  for (const Lease* one : youngest_first) {
    if (helps({one->number})) return {one->number};
  }
  const std::size_t among = std::min(youngest_first.size(), kPairsAmong);
  for (std::size_t i = 0; i < among; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const LeaseNumber one = youngest_first[i]->number;
      const LeaseNumber other = youngest_first[j]->number;
      if (helps({one, other})) return {one, other};
    }
  }
  // More than two: all of them, less the oldest ones that can stay.
  for (auto one = youngest_first.rbegin(); one != youngest_first.rend(); ++one) {
    all.erase((*one)->number);
    if (!helps(all)) all.insert((*one)->number);
  }
  return {all.begin(), all.end()};
}

void Arbiter::State::enqueue(Lease& lease, const Decision& why) {
  // Outsiders come and go unseen: what was known of them a while ago is no reason to refuse.
  const bool has_outsiders = !outsiders.empty() || !unknowns.empty();
  if (has_outsiders && options.has_backend && !lease.has(pmu::kAllocateDryRun) &&
      why.answer == Answer::kInsufficientResources && why.reason == Reason::kForeign &&
      now - surveyed_ns > kSurveyStale && !lease.was_told) {
    lease.awaits_survey = true;
    return survey();
  }
  const bool may_wait = why.answer == Answer::kInsufficientResources &&
                        why.reason != Reason::kPolicy && lease.asked.head.wait_ns != 0 &&
                        !lease.has(pmu::kAllocateDryRun);
  if (!may_wait) return refuse_lease(lease, why);
  if (!std::exchange(lease.was_told, true)) {
    const Nanoseconds wait = lease.asked.head.wait_ns;
    lease.deadline_ns = wait >= pmu::kForever - now ? 0 : now + wait;
    ++statistics.queued;
    record(JournalRecord::Kind::kQueued, lease, 0, static_cast<std::uint32_t>(why.reason));
    const Nanoseconds time_ns = earliest(lease, nullptr).time_ns;
    send(lease.client, lease.request,
         pmu::Queued{ahead_of(lease), 0, time_ns == pmu::kForever ? 0 : time_ns});
  }
  preempt_for(lease);
}

// Whether time alone has changed what the queue would say: somebody went up a class, or may ask the
// kernel again.
bool Arbiter::State::has_moved_up() const {
  return std::any_of(waiting.begin(), waiting.end(), [&](LeaseNumber number) {
    const Lease& lease = leases.at(number);
    if (lease.retry_ns > served_ns && lease.retry_ns <= now) return true;
    if (options.ageing_ns == 0 || served_ns < lease.asked_ns) return false;
    return (now - lease.asked_ns) / options.ageing_ns !=
           (served_ns - lease.asked_ns) / options.ageing_ns;
  });
}

void Arbiter::State::give_up_waits() {
  for (const LeaseNumber number : in_order()) {
    Lease& lease = leases.at(number);
    const bool is_over = lease.state == pmu::LeaseState::kQueued && lease.deadline_ns != 0 &&
                         lease.deadline_ns <= now;
    if (!is_over) continue;
    MachineBook copy = book;
    Decision decision = take(copy, lease);
    decision.answer = Answer::kInsufficientResources;
    decision.reason = Reason::kTimeOut;
    refuse_lease(lease, decision);
  }
  has_news = has_news || has_moved_up();
}

}  // namespace meterbank::arbiter
