// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/parts/reservations.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace meterbank::arbiter {

using nlohmann::json;

void Reservations::adopt(const Policy& policy) {
  reserve_rules_ = policy.reserves;
  guard_rules_ = policy.guards;
  reserves_.clear();
  book();
}

void Reservations::reserve(const Plan& plan, std::uint32_t counters) {
  for (const PmuDemand& part : plan.parts) {
    for (const std::uint32_t cpu : part.cpus.numbers()) reserves_[{part.pmu, cpu}] = counters;
  }
  book();
}

void Reservations::forget_bookings() {
  for (const std::uint64_t holder : std::exchange(holders_, {})) book_->forget_unleased(holder);
}

void Reservations::book() {
  const Topology& topology = book_->machine().topology;
  for (const ReserveRule& rule : reserve_rules_) {
    const std::optional<PmuIndex> pmu = topology.find_pmu(rule.pmu);
    if (!pmu) continue;
    for (const std::uint32_t cpu : rule.cpus.common_with(topology.pmus[*pmu].cpus).numbers()) {
      reserves_.emplace(Place{*pmu, cpu}, rule.counters);
    }
  }
  forget_bookings();
  for (const auto& [place, counters] : reserves_) {
    if (counters == 0) continue;
    holders_.push_back(next_holder_);
    (void)book_->book_unleased(next_holder_++, {.kind = UnleasedKind::kReserve,
                                                .name = "the reserve for processes without a lease",
                                                .pmu = place.first,
                                                .cpus = CpuSet::range(place.second, place.second),
                                                .among = topology.pmus[place.first].counters(),
                                                .counters = counters});
  }
}

bool Reservations::is_guarded(PmuIndex pmu, std::uint32_t cpu) const {
  const std::string& name = book_->machine().topology.pmus[pmu].name;
  return std::any_of(guard_rules_.begin(), guard_rules_.end(), [&](const GuardRule& rule) {
    return rule.pmu == name && rule.cpus.contains(cpu);
  });
}

std::uint32_t Reservations::guarded_at(PmuIndex pmu, std::uint32_t cpu) const {
  const auto found = guards_.find({pmu, cpu});
  return found == guards_.end() ? 0 : found->second;
}

bool Reservations::settle_guards(bool has_ended) {
  const Topology& topology = book_->machine().topology;
  Counts wanted;
  for (const GuardRule& rule : guard_rules_) {
    const std::optional<PmuIndex> pmu = topology.find_pmu(rule.pmu);
    if (!pmu || has_ended) continue;
    for (const std::uint32_t cpu : rule.cpus.common_with(topology.pmus[*pmu].cpus).numbers()) {
      const auto& owners = book_->owners(*pmu, cpu).counters;
      wanted[{*pmu, cpu}] = static_cast<std::uint32_t>(
          std::count_if(owners.begin(), owners.end(),
                        [](const CounterOwner& owner) { return owner.kind == OwnerKind::kFree; }));
    }
  }
  for (const auto& [place, count] : guards_) wanted.emplace(place, 0);
  bool has_changed = false;
  for (const auto& [place, count] : wanted) {
    if (guarded_at(place.first, place.second) == count) continue;
    outbox_->ask(Guard{place.first, place.second, count});
    guards_[place] = count;
    has_changed = true;
  }
  if (has_changed) book_->touch_all();
  return has_changed;
}

void Reservations::save(json& saved) const {
  const auto write = [&saved](const char* name, const Counts& counts) {
    json& all = saved[name] = json::array();
    for (const auto& [place, count] : counts) all.push_back({place.first, place.second, count});
  };
  write("reserves", reserves_);
  write("guards", guards_);
}

void Reservations::load(const json& from) {
  const auto read = [&from](const char* name, Counts& counts) {
    counts.clear();
    for (const json& one : from.at(name)) counts[{one.at(0), one.at(1)}] = one.at(2);
  };
  read("reserves", reserves_);
  read("guards", guards_);
}

}  // namespace meterbank::arbiter
