// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/machine_book.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace meterbank::arbiter {
namespace {

[[nodiscard]] const PmuDemand* part_for(const Plan& plan, PmuIndex pmu, std::uint32_t cpu) {
  for (const PmuDemand& part : plan.parts) {
    if (part.pmu == pmu && part.cpus.contains(cpu)) return &part;
  }
  return nullptr;
}

// Each counter that a lease has on one CPU, with the event that is on it, if one was named.
using Held = std::map<std::uint32_t, std::optional<Event>>;

[[nodiscard]] Held held_by(const PmuDemand& part, const Placement& placement, CounterMask all) {
  Held held;
  const CounterMask mask = part.counters.whole ? all : placement.mask(part.counters);
  for (std::uint32_t counter = 0; counter < 64; ++counter) {
    if ((mask >> counter & 1) != 0) held.emplace(counter, std::nullopt);
  }
  for (std::size_t i = 0; i < placement.any.size(); ++i) held[placement.any[i]] = part.events[i];
  return held;
}

[[nodiscard]] OwnerKind kind_of(bool is_tagged, bool has_source) noexcept {
  if (!is_tagged) return OwnerKind::kUntagged;
  return has_source ? OwnerKind::kTaggedWithSource : OwnerKind::kTagged;
}

[[nodiscard]] std::string text_of(const std::vector<LeaseId>& leases) {
  std::string text;
  for (const LeaseId lease : leases) text += fmt::format("{}{}", text.empty() ? "" : ", ", lease);
  return text;
}

[[nodiscard]] std::string sentence_for(const Decision& decision, const std::string& pmu) {
  const std::string where = fmt::format("CPU {}: {}", decision.cpu.value_or(0), pmu);
  switch (decision.reason) {
    case Reason::kTooHard:
      return fmt::format("{} is too full to find places within the steps allowed", where);
    case Reason::kForeign:
      return fmt::format("{} is used by {}, which did not ask", where, decision.foreign);
    case Reason::kWholePmu:
      return fmt::format("{} can be had alone only, in the way are leases {}", where,
                         text_of(decision.leases));
    default:
      return fmt::format("{} has not enough counters left, in the way are leases {}", where,
                         text_of(decision.leases));
  }
}

}  // namespace

std::string_view name_of(OwnerKind kind) noexcept {
  constexpr std::array<std::string_view, 6> kNames = {
      "free", "untagged", "tagged", "tagged-with-source", "foreign", "offline"};
  return kNames.at(static_cast<std::size_t>(kind));
}

MachineBook::MachineBook(Machine machine)
    : machine_(std::move(machine)), units_(machine_.topology) {
  for (std::size_t i = 0; i < machine_.topology.pmus.size(); ++i) {
    const Pmu& pmu = machine_.topology.pmus[i];
    for (const std::uint32_t cpu : pmu.cpus.numbers()) {
      books_.emplace(Place{static_cast<PmuIndex>(i), cpu}, CounterBook(pmu.counters()));
    }
  }
}

Result<MachineBook> MachineBook::open(Machine machine) {
  MachineBook book(std::move(machine));
  const Topology& topology = book.machine_.topology;
  for (std::size_t i = 0; i < topology.foreign.size(); ++i) {
    const ForeignHolder& holder = topology.foreign[i];
    CounterDemand demand;
    demand.any.push_back(topology.classes[holder.event_class].counters);
    for (const std::uint32_t cpu : holder.cpus.numbers()) {
      const auto place = book.books_.find({holder.pmu, cpu});
      if (place != book.books_.end() &&
          place->second.take(kForeignFirst + i, demand) == Fit::kFits) {
        continue;
      }
      return fail(ErrorCode::kInvalidArgument,
                  fmt::format("{} on CPU {} has no counter left for {}",
                              topology.pmus[holder.pmu].name, cpu, holder.name),
                  "correct the foreign lines of the topology");
    }
  }
  return book;
}

Decision MachineBook::test(const Request& request) const {
  const auto plan = plan_for(request, machine_);
  if (!plan) return plan.error();
  return refusal(*plan).value_or(Decision{});
}

Decision MachineBook::try_grant(LeaseId lease, const Request& request) {
  auto plan = plan_for(request, machine_);
  if (!plan) return std::move(plan.error());
  if (auto refused = refusal(*plan)) return std::move(*refused);
  for (const PmuDemand& part : plan->parts) {
    for (const std::uint32_t cpu : part.cpus.numbers()) {
      const Fit fit = books_.at({part.pmu, cpu}).take(lease, part.counters);
      if (fit == Fit::kFits) continue;
      // A book that takes back what it just said must not leave half a lease behind.
      for (auto& [place, book] : books_) book.release(lease);
      units_.release(lease);
      return refused_on(part, cpu, fit);
    }
    units_.take(lease, part);
  }
  leases_.emplace(lease, std::move(*plan));
  Decision granted;
  granted.threshold = units_.threshold(lease);
  return granted;
}

std::optional<Decision> MachineBook::refusal(const Plan& plan) const {
  for (const PmuDemand& part : plan.parts) {
    // Counters go first, because who has a PMU for itself is a better answer than what it has.
    for (const std::uint32_t cpu : part.cpus.numbers()) {
      const Fit fit = books_.at({part.pmu, cpu}).fits(part.counters);
      if (fit != Fit::kFits) return refused_on(part, cpu, fit);
    }
    if (auto refused = units_.refusal(part)) return refused;
  }
  return std::nullopt;
}

Decision MachineBook::refused_on(const PmuDemand& part, std::uint32_t cpu, Fit fit) const {
  Decision decision;
  decision.answer = Answer::kInsufficientResources;
  decision.reason = fit == Fit::kTooHard ? Reason::kTooHard : Reason::kTaken;
  decision.cpu = cpu;
  bool has_whole = part.counters.whole;
  for (const LeaseId blocker : books_.at({part.pmu, cpu}).blockers(part.counters)) {
    if (blocker >= kForeignFirst) {
      decision.foreign = machine_.topology.foreign[blocker - kForeignFirst].name;
      continue;
    }
    decision.leases.push_back(blocker);
    has_whole = has_whole || is_whole(blocker, part.pmu, cpu);
  }
  if (decision.reason == Reason::kTaken) {
    if (decision.leases.empty() && !decision.foreign.empty()) {
      decision.reason = Reason::kForeign;
    } else if (has_whole) {
      decision.reason = Reason::kWholePmu;
    }
  }
  decision.sentence = sentence_for(decision, machine_.topology.pmus[part.pmu].name);
  return decision;
}

bool MachineBook::is_whole(LeaseId lease, PmuIndex pmu, std::uint32_t cpu) const {
  const auto found = leases_.find(lease);
  if (found == leases_.end()) return false;
  const PmuDemand* part = part_for(found->second, pmu, cpu);
  return part != nullptr && part->counters.whole;
}

bool MachineBook::release(LeaseId lease) {
  const auto found = leases_.find(lease);
  if (found == leases_.end()) return false;
  for (const PmuDemand& part : found->second.parts) {
    for (const std::uint32_t cpu : part.cpus.numbers()) {
      books_.at({part.pmu, cpu}).release(lease);
    }
  }
  units_.release(lease);
  leases_.erase(found);
  return true;
}

std::uint32_t MachineBook::probe(const CpuSet& cpus, Event event) const {
  std::optional<std::uint32_t> least;
  for (const std::uint32_t cpu : cpus.numbers()) {
    const std::optional<PmuIndex> pmu = machine_.pmu_on(cpu);
    if (!pmu || !machine_.online.contains(cpu)) return 0;
    const CounterMask mask = machine_.topology.counters_for(*pmu, event.code, event.unit_mask);
    const std::uint32_t room = books_.at({*pmu, cpu}).room_for(mask);
    least = least ? std::min(*least, room) : room;
  }
  return least.value_or(0);
}

Ownership MachineBook::ownership() const {
  Ownership ownership;
  for (const auto& [place, book] : books_) ownership.cpus.push_back(owners_on(place, book));
  ownership.units = units_.units();
  ownership.extras = units_.extras();
  return ownership;
}

CpuOwners MachineBook::owners_on(const Place& place, const CounterBook& book) const {
  const auto [pmu, cpu] = place;
  const CounterMask all = machine_.topology.pmus[pmu].counters();
  std::map<std::uint32_t, CounterOwner> owners;
  for (std::uint32_t counter = 0; counter < 64; ++counter) {
    if ((all >> counter & 1) != 0) owners[counter].counter = counter;
  }
  for (const auto& [lease, plan] : leases_) {
    const PmuDemand* part = part_for(plan, pmu, cpu);
    if (part == nullptr) continue;
    for (const auto& [counter, source] : held_by(*part, *book.placement(lease), all)) {
      CounterOwner& owner = owners[counter];
      owner.kind = kind_of(plan.tag.has_value(), source.has_value());
      owner.lease = lease;
      owner.tag = plan.tag.value_or(0);
      owner.source = source;
    }
  }
  const std::vector<ForeignHolder>& foreign = machine_.topology.foreign;
  for (std::size_t i = 0; i < foreign.size(); ++i) {
    const Placement* placement = book.placement(kForeignFirst + i);
    if (placement == nullptr) continue;
    CounterOwner& owner = owners[placement->any.front()];
    owner.kind = OwnerKind::kForeign;
    owner.foreign = foreign[i].name;
  }
  CpuOwners result{.pmu = pmu, .cpu = cpu, .counters = {}};
  for (auto& [counter, owner] : owners) {
    if (!machine_.online.contains(cpu)) owner.kind = OwnerKind::kOffline;
    result.counters.push_back(std::move(owner));
  }
  return result;
}

}  // namespace meterbank::arbiter
