// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/leases/wait_line.hpp"

#include <algorithm>
#include <utility>

#include "arbiter/core/leases/pieces.hpp"

namespace meterbank::arbiter {

bool overlap(const Plan& one, const Plan& other) {
  for (const PmuDemand& left : one.parts) {
    for (const PmuDemand& right : other.parts) {
      if (left.pmu != right.pmu) continue;
      // Units may reach beyond the CPUs that are named.
      const bool has_units = left.has_units() && right.has_units();
      if (has_units || left.cpus.meets(right.cpus)) return true;
    }
  }
  return false;
}

WaitLine::Reach WaitLine::Reach::of(const Plan& plan) {
  Reach reach{.cpu_first = kCpusMax, .has_units = plan.has_units()};
  if (!plan.parts.empty()) reach.pmu = plan.parts.front().pmu;
  for (const PmuDemand& part : plan.parts) {
    reach.pmus |= std::uint64_t{1} << std::min(part.pmu, PmuIndex{63});
    part.cpus.all_of([&](std::uint32_t cpu) {
      reach.cpu_first = std::min(reach.cpu_first, cpu);
      reach.cpu_last = std::max(reach.cpu_last, cpu);
      return true;
    });
  }
  reach.is_one_place = plan.parts.size() == 1 && reach.cpu_first == reach.cpu_last;
  return reach;
}

bool WaitLine::Reach::may_meet(const Reach& other) const noexcept {
  const bool is_beside = cpu_first <= other.cpu_last && other.cpu_first <= cpu_last;
  return (pmus & other.pmus) != 0 && (is_beside || (has_units && other.has_units));
}

bool WaitLine::goes_before(const Waiting& one, const Waiting& other) noexcept {
  return one.priority_class != other.priority_class ? one.priority_class > other.priority_class
                                                    : one.arrival < other.arrival;
}

void WaitLine::set_time(Nanoseconds now) {
  now_ = now;
  if (now_ < sorted_until_ns_) return;
  sorted_until_ns_ = pmu::kForever;
  for (Waiting& one : line_) {
    one.priority_class = class_of(*one.lease);
    note_promotion(*one.lease);
  }
  std::sort(line_.begin(), line_.end(), goes_before);
}

void WaitLine::join(Lease& lease) {
  if (std::exchange(lease.is_waiting, true)) return;
  const Waiting self{.priority_class = class_of(lease),
                     .number = lease.number,
                     .arrival = lease.arrival,
                     .lease = &lease,
                     .reach = Reach::of(lease.plan)};
  line_.insert(std::upper_bound(line_.begin(), line_.end(), self, goes_before), self);
  note_promotion(lease);
}

void WaitLine::leave(Lease& lease) {
  if (!std::exchange(lease.is_waiting, false)) return;
  const auto place = find(lease);
  if (place != line_.end()) line_.erase(place);
}

std::vector<LeaseNumber> WaitLine::in_order() const {
  std::vector<LeaseNumber> order;
  order.reserve(line_.size());
  for (const Waiting& one : line_) order.push_back(one.lease->number);
  return order;
}

bool WaitLine::Waiting::is_hopeless(const MachineBook& book) const {
  if (refused_at == 0) return false;
  if (reach.is_one_place) return !book.has_changed_at(reach.pmu, reach.cpu_first, refused_at);
  return !book.has_changed(lease->plan, refused_at);
}

std::vector<WaitLine::Waiting>::iterator WaitLine::find(const Lease& lease) {
  const Waiting self{.priority_class = class_of(lease), .arrival = lease.arrival, .reach = {}};
  const auto place = std::lower_bound(line_.begin(), line_.end(), self, goes_before);
  return place != line_.end() && place->lease == &lease ? place : line_.end();
}

void WaitLine::note_refusal(const Lease& lease, std::uint64_t clock) {
  // Shared counters, units and turns may come free elsewhere.
  const bool may_come_elsewhere = may_share(lease) || lease.is_sliced() || lease.plan.has_units();
  const auto place = find(lease);
  if (place != line_.end()) place->refused_at = may_come_elsewhere ? 0 : clock;
}

std::uint32_t WaitLine::count_ahead_of(const Lease& lease) const {
  if (!lease.is_waiting) return static_cast<std::uint32_t>(line_.size());
  const Waiting self{.priority_class = class_of(lease), .arrival = lease.arrival, .reach = {}};
  const auto place = std::lower_bound(line_.begin(), line_.end(), self, goes_before);
  return static_cast<std::uint32_t>(place - line_.begin());
}

std::vector<const Lease*> WaitLine::rivals_ahead_of(const Lease& lease, std::size_t count) const {
  std::vector<const Lease*> ahead;
  const Reach reach = Reach::of(lease.plan);
  for (const Waiting& one : line_) {
    if (one.lease == &lease || ahead.size() == count) break;
    if (one.reach.may_meet(reach) && overlap(one.lease->plan, lease.plan)) {
      ahead.push_back(one.lease);
    }
  }
  return ahead;
}

std::uint32_t WaitLine::class_of(const Lease& lease) const {
  constexpr auto kHighest = static_cast<std::uint64_t>(pmu::Priority::kCritical);
  const std::uint64_t steps = ageing_ns_ == 0 ? 0 : (now_ - lease.asked_ns) / ageing_ns_;
  return static_cast<std::uint32_t>(std::min(kHighest, lease.asked.head.priority + steps));
}

Nanoseconds WaitLine::promotion_ns(const Lease& lease) const {
  const bool is_highest = class_of(lease) >= static_cast<std::uint32_t>(pmu::Priority::kCritical);
  if (ageing_ns_ == 0 || is_highest) return 0;
  const Nanoseconds steps = (now_ - lease.asked_ns) / ageing_ns_ + 1;
  return lease.asked_ns + steps * ageing_ns_;
}

void WaitLine::note_promotion(const Lease& lease) {
  const Nanoseconds promotion = promotion_ns(lease);
  if (promotion != 0) sorted_until_ns_ = std::min(sorted_until_ns_, promotion);
}

bool WaitLine::has_moved_since(Nanoseconds time) const {
  return std::any_of(line_.begin(), line_.end(), [&](const Waiting& one) {
    const Lease& lease = *one.lease;
    if (lease.retry_ns > time && lease.retry_ns <= now_) return true;
    if (ageing_ns_ == 0 || time < lease.asked_ns) return false;
    return (now_ - lease.asked_ns) / ageing_ns_ != (time - lease.asked_ns) / ageing_ns_;
  });
}

bool WaitLine::is_in_order() const {
  const auto stands_right = [this](const Waiting& one) {
    return one.lease->is_waiting && one.priority_class == class_of(*one.lease);
  };
  return std::all_of(line_.begin(), line_.end(), stands_right) &&
         std::is_sorted(line_.begin(), line_.end(), goes_before);
}

}  // namespace meterbank::arbiter
