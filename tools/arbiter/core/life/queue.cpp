// SPDX-License-Identifier: Apache-2.0
//
// Which request is served next, and which lease gives way. A request that is behind may pass only
// if no request ahead has to wait longer for it: because it is over in time, or because there is
// room for both.
#include <algorithm>
#include <limits>
#include <utility>

#include "arbiter/core/life/lease_path.hpp"

namespace meterbank::arbiter {
namespace {

// Pairs of leases are tried for the cheapest set that gives way, among so many.
constexpr std::size_t kPairsAmong = 16;

constexpr std::size_t kNeverReleased = std::numeric_limits<std::size_t>::max();

[[nodiscard]] bool is_booked(const Lease& lease) {
  switch (lease.state()) {
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
  return lease.state() == pmu::LeaseState::kRevoking || lease.state() == pmu::LeaseState::kFenced ||
         lease.state() == pmu::LeaseState::kLimbo;
}

}  // namespace

void Arbiter::LeasePath::serve_queue() {
  served_ns_ = now_;
  line_.walk(book_, [this](LeaseNumber number) { serve(leases_.at(number)); });
}

// A request that is served leaves the line.
void Arbiter::LeasePath::serve(Lease& lease) {
  if (!lease.is_waiting || lease.awaits_survey) return;
  if (lease.state() == pmu::LeaseState::kNone) return;
  line_.note_refusal(lease, 0);
  const Decision decision = consider(lease);
  if (decision.is_granted()) return;
  if (!lease.was_told && lease.granted_ns == 0) return enqueue(lease, decision);
  preempt_for(lease);
}

bool Arbiter::LeasePath::is_delayed(const Lease& ahead, const Lease& lease) const {
  // A request that waits for its own share, and not for counters, is not delayed by others.
  if (quota_refusal(ahead) || turn_refusal(ahead)) return false;
  // If there is no place for it even now, it will not be started and delays no request.
  const Coming coming{lease.plan, alternative_of(lease)};
  if (!book_.would_fit(coming.plan, coming.alternative)) return false;
  // Elsewhere all is as if it did not come.
  Plan room;
  Plan common = wanted_by(ahead, room);
  if (!common.has_units()) {
    for (PmuDemand& part : common.parts) {
      CpuSet both;
      for (const PmuDemand& other : lease.plan.parts) {
        if (other.pmu == part.pmu) both = part.cpus.common_with(other.cpus);
      }
      part.cpus = both;
    }
  }
  const Alternative alternative = alternative_of(ahead);
  if (book_.steps_until_fit(common, alternative, {}, &coming)) return false;
  // Is the other one served later? Asked first where both want counters: most requests take nothing
  // from each other there.
  const std::optional<End> without = fits_after(ahead, common, nullptr);
  if (!without) return false;
  const std::optional<End> with = fits_after(ahead, common, &coming);
  if (with && *with <= *without) return false;
  // Then CPU by CPU elsewhere, where it may have to wait as long: one such CPU is enough.
  if (with && !common.has_units() && waits_as_long_elsewhere(ahead, common, *with)) return false;

  const Estimate alone = earliest(ahead);
  if (alone.time_ns == pmu::kForever && alone.released == kNeverReleased) return false;
  const bool is_known = alone.time_ns != pmu::kForever;
  const Nanoseconds hold = lease.asked.head.hold_ns;
  const bool is_over_in_time = is_known && hold != 0 && hold <= alone.time_ns - now_;
  if (is_over_in_time) return false;
  if (alone.released == 0) return true;
  const auto steps = book_.steps_until_fit(common, alternative, expected(ahead).leaving, &coming);
  return !steps || *steps > alone.released;
}

std::optional<End> Arbiter::LeasePath::fits_after(const Lease& lease, const Plan& plan,
                                                  const Coming* coming) const {
  const std::vector<End> ended = ends(lease, plan);
  // Counters that no lease has any more come free before all others: at the place of lease 0, which
  // does not exist.
  std::vector<LeaseNumber> order{0};
  for (const auto& [end, number] : ended) order.push_back(number);
  const auto steps =
      book_.steps_until_fit(plan, alternative_of(lease), leaving(plan, order, false), coming);
  if (!steps) return std::nullopt;
  // Before all leases: now, or once those counters have come free.
  if (*steps <= 1) return End{0, static_cast<LeaseNumber>(*steps)};
  return ended.at(*steps - 2);
}

bool Arbiter::LeasePath::waits_as_long_elsewhere(const Lease& lease, const Plan& plan,
                                                 const End& end) const {
  Plan room;
  for (const PmuDemand& part : wanted_by(lease, room).parts) {
    Plan there{.parts = {part}, .tag = plan.tag, .task = plan.task};
    for (const std::uint32_t cpu : part.cpus.numbers()) {
      if (plan.part_at(part.pmu, cpu) != nullptr) continue;
      there.parts.front().cpus = CpuSet::range(cpu, cpu);
      const std::optional<End> other = fits_after(lease, there, nullptr);
      if (!other || *other >= end) return true;
    }
  }
  return false;
}

std::vector<LeaseNumber> Arbiter::LeasePath::booked_near(const Plan& plan) const {
  std::vector<LeaseNumber> near;
  if (plan.has_units()) {
    for (const auto& [number, other] : leases_) {
      if (is_booked(other) && overlap(plan, other.plan)) near.push_back(number);
    }
    return near;
  }
  const auto add = [&](LeaseNumber number) {
    const Lease* other = leases_.find(number);
    if (other != nullptr && is_booked(*other)) near.push_back(number);
  };
  for (const LeaseId booking : book_.holders_near(plan)) {
    if (booking < kCarrierFirst) {
      add(static_cast<LeaseNumber>(booking));
      continue;
    }
    const Carrier* carrier = carriers_.find(booking - kCarrierFirst);
    if (carrier == nullptr) continue;
    for (const LeaseNumber number : carrier->leases) add(number);
  }
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  return near;
}

std::vector<End> Arbiter::LeasePath::ends(const Lease& lease, const Plan& plan) const {
  std::vector<End> ends;
  for (const LeaseNumber number : booked_near(plan)) {
    if (number == lease.number) continue;
    const Lease& other = leases_.at(number);
    Nanoseconds end = other.ends_ns == 0 ? pmu::kForever : other.ends_ns;
    if (other.state() == pmu::LeaseState::kRevoking) end = std::min(end, other.deadline_ns);
    // What its own client holds is its own to give back: it never stands in its way.
    const bool is_own = lease.client != 0 && other.client == lease.client;
    if (is_own || other.state() == pmu::LeaseState::kFenced ||
        other.state() == pmu::LeaseState::kLimbo) {
      end = now_;
    }
    ends.emplace_back(std::max(end, now_), number);
  }
  std::sort(ends.begin(), ends.end());
  return ends;
}

// A carrier is given up with the last lease that counts on it, and at once if there is none.
std::vector<Leaving> Arbiter::LeasePath::leaving(const Plan& plan,
                                                 const std::vector<LeaseNumber>& order,
                                                 bool is_at_once) const {
  constexpr std::size_t kStays = ~std::size_t{0};
  std::vector<std::pair<LeaseNumber, std::size_t>> steps;
  steps.reserve(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    steps.emplace_back(order[i], is_at_once ? 1 : i + 1);
  }
  std::sort(steps.begin(), steps.end());
  const auto step_of = [&steps](LeaseId number) {
    const auto step =
        std::lower_bound(steps.begin(), steps.end(), number,
                         [](const auto& one, LeaseId wanted) { return one.first < wanted; });
    return step != steps.end() && step->first == number ? step->second : kStays;
  };
  std::vector<Leaving> leaving;
  const auto add = [&](LeaseId booking, std::size_t step) {
    if (step != kStays) leaving.push_back({step, booking});
  };
  const auto add_carrier = [&](const Carrier& carrier) {
    std::size_t last = 1;
    for (const LeaseNumber number : carrier.leases) last = std::max(last, step_of(number));
    add(booking_of(carrier.number), last);
  };
  if (plan.has_units()) {
    for (const LeaseNumber number : order) add(number, step_of(number));
    for (const auto& [number, carrier] : carriers_) add_carrier(carrier);
  } else {
    for (const LeaseId booking : book_.holders_near(plan)) {
      if (booking < kCarrierFirst) {
        add(booking, step_of(booking));
      } else if (const Carrier* found = carriers_.find(booking - kCarrierFirst)) {
        add_carrier(*found);
      }
    }
  }
  std::sort(leaving.begin(), leaving.end(), [](const Leaving& one, const Leaving& other) {
    return std::pair(one.step, one.lease) < std::pair(other.step, other.lease);
  });
  return leaving;
}

Expected Arbiter::LeasePath::expected(const Lease& lease) const {
  Expected expected{.ends = ends(lease, lease.plan), .leaving = {}};
  std::vector<LeaseNumber> order;
  order.reserve(expected.ends.size());
  for (const auto& [end, number] : expected.ends) order.push_back(number);
  expected.leaving = leaving(lease.plan, order, false);
  return expected;
}

Estimate Arbiter::LeasePath::earliest(const Lease& lease) const {
  Plan room;
  const Plan& wanted = wanted_by(lease, room);
  const Alternative alternative = alternative_of(lease);
  if (book_.would_fit(wanted, alternative)) return {.time_ns = now_, .released = 0};
  const Expected others = expected(lease);
  const auto steps = book_.steps_until_fit(wanted, alternative, others.leaving, nullptr);
  if (!steps || *steps > others.ends.size()) {
    return {.time_ns = pmu::kForever, .released = kNeverReleased};
  }
  return {.time_ns = *steps == 0 ? now_ : others.ends[*steps - 1].first, .released = *steps};
}

bool Arbiter::LeasePath::fits_without(const Lease& lease, const std::set<LeaseNumber>& gone) const {
  Plan room;
  const std::vector<Leaving> all = leaving(lease.plan, {gone.begin(), gone.end()}, true);
  return book_.steps_until_fit(wanted_by(lease, room), alternative_of(lease), all, nullptr)
      .has_value();
}

void Arbiter::LeasePath::preempt_for(const Lease& lease) {
  if (!leases_.may_preempt(lease.priority())) return;
  if (is_grace() || quota_refusal(lease) || turn_refusal(lease)) return;
  // What is going anyway is as good as gone.
  std::set<LeaseNumber> going;
  std::vector<const Lease*> candidates;
  for (const LeaseNumber number : booked_near(lease.plan)) {
    const Lease& other = leases_.at(number);
    if (is_going(other)) going.insert(number);
    if (leases_.gives_way(other) && other.priority() < lease.priority()) {
      candidates.push_back(&other);
    }
  }
  if (candidates.empty() || fits_without(lease, going)) return;
  std::sort(candidates.begin(), candidates.end(), [](const Lease* one, const Lease* other) {
    return std::pair(one->granted_ns, one->arrival) > std::pair(other->granted_ns, other->arrival);
  });
  for (const LeaseNumber number : cheapest(lease, going, candidates)) {
    revoke(leases_.at(number), pmu::Cause::kPreempted, options_.drain_ns);
  }
}

std::vector<LeaseNumber> Arbiter::LeasePath::cheapest(
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

void Arbiter::LeasePath::enqueue(Lease& lease, const Decision& why) {
  if (outsiders_.has_any() && options_.has_backend && !lease.has(pmu::kAllocateDryRun) &&
      why.answer == Answer::kInsufficientResources && why.reason == Reason::kForeign &&
      outsiders_.is_stale(now_) && !lease.was_told) {
    lease.awaits_survey = true;
    return outsiders_.survey();
  }
  const bool may_wait = why.answer == Answer::kInsufficientResources &&
                        why.reason != Reason::kPolicy && lease.asked.head.wait_ns != 0 &&
                        !lease.has(pmu::kAllocateDryRun);
  if (!may_wait) return refuse_lease(lease, why);
  if (!std::exchange(lease.was_told, true)) {
    const Nanoseconds wait = lease.asked.head.wait_ns;
    lease.deadline_ns = wait >= pmu::kForever - now_ ? 0 : now_ + wait;
    ++statistics_.queued;
    outbox_.record(JournalRecord::Kind::kQueued, lease, 0, static_cast<std::uint32_t>(why.reason));
    const Nanoseconds time_ns = earliest(lease).time_ns;
    outbox_.send(
        lease.client, lease.request,
        pmu::Queued{line_.count_ahead_of(lease), 0, time_ns == pmu::kForever ? 0 : time_ns});
  }
  preempt_for(lease);
}

void Arbiter::LeasePath::give_up_waits() {
  for (const LeaseNumber number : line_.in_order()) {
    const Lease& known = std::as_const(leases_).at(number);
    const bool is_over = known.state() == pmu::LeaseState::kQueued && known.deadline_ns != 0 &&
                         known.deadline_ns <= now_;
    if (!is_over) continue;
    Lease& lease = leases_.at(number);
    Decision decision = would_take(lease);
    decision.answer = Answer::kInsufficientResources;
    decision.reason = Reason::kTimeOut;
    refuse_lease(lease, decision);
  }
  has_news_ = has_news_ || line_.has_moved_since(served_ns_);
}

}  // namespace meterbank::arbiter
