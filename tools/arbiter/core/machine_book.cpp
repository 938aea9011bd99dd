// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/machine_book.hpp"

#include <fmt/format.h>

#include <algorithm>
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
  for (std::size_t i = 0; i < placement.any.size(); ++i) {
    if (part.events[i]) held[placement.any[i]] = part.events[i]->event;
  }
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
    case Reason::kLimbo:
      return fmt::format("{} is used by {}, whose lease has ended; the kernel has not let go yet",
                         where, decision.foreign);
    case Reason::kWholePmu:
      return fmt::format("{} can be had alone only, in the way are leases {}", where,
                         text_of(decision.leases));
    default:
      return fmt::format("{} has not enough counters left, in the way are leases {}", where,
                         text_of(decision.leases));
  }
}

}  // namespace

MachineBook::MachineBook(Machine machine)
    : machine_(std::move(machine)), units_(machine_.topology) {
  for (std::size_t i = 0; i < machine_.topology.pmus.size(); ++i) {
    const Pmu& pmu = machine_.topology.pmus[i];
    for (const std::uint32_t cpu : pmu.cpus.numbers()) {
      books_.emplace(Place{static_cast<PmuIndex>(i), cpu}, PlaceBook(pmu.counters()));
    }
  }
}

Result<MachineBook> MachineBook::open(Machine machine) {
  MachineBook book(std::move(machine));
  const Topology& topology = book.machine_.topology;
  for (std::size_t i = 0; i < topology.foreign.size(); ++i) {
    const ForeignHolder& holder = topology.foreign[i];
    const bool is_kernel = holder.name.starts_with("watchdog");
    const Unleased use{.kind = is_kernel ? UnleasedKind::kKernel : UnleasedKind::kOutsider,
                       .name = holder.name,
                       .pmu = holder.pmu,
                       .cpus = holder.cpus,
                       .among = topology.classes[holder.event_class].counters,
                       .counters = 1};
    if (book.book(kForeignFirst + kHoldersMax + i, use) == 0) continue;
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{} has no counter left for {}", topology.pmus[holder.pmu].name, holder.name),
        "correct the foreign lines of the topology");
  }
  return book;
}

Decision MachineBook::test(const Request& request) const {
  const auto plan = plan_for(request, machine_);
  if (!plan) return plan.error();
  return test(*plan, {.task = plan->task, .slice = 0});
}

Decision MachineBook::test(const Plan& plan, const Alternative& alternative) const {
  return refusal(plan, alternative).value_or(Decision{});
}

Decision MachineBook::try_grant(LeaseId lease, const Request& request) {
  auto plan = plan_for(request, machine_);
  if (!plan) return std::move(plan.error());
  return try_take(lease, *plan, {.task = plan->task, .slice = 0});
}

Decision MachineBook::try_take(LeaseId lease, const Plan& plan, const Alternative& alternative) {
  if (auto refused = refusal(plan, alternative)) return std::move(*refused);
  for (const PmuDemand& part : plan.parts) {
    for (const std::uint32_t cpu : part.cpus.numbers()) {
      const Fit fit = books_.at({part.pmu, cpu}).take(lease, part.counters, alternative);
      if (fit == Fit::kFits) continue;
      // A book that takes back what it just said must not leave half a lease behind.
      for (auto& [place, book] : books_) book.release(lease);
      units_.release(lease);
      return refused_on(part, cpu, fit, alternative);
    }
    units_.take(lease, part);
  }
  leases_.emplace(lease, Held{plan, alternative});
  Decision granted;
  granted.threshold = units_.threshold(lease);
  return granted;
}

std::uint32_t MachineBook::book_unleased(std::uint64_t holder, const Unleased& use) {
  forget_unleased(holder);
  return book(kForeignFirst + holder, use);
}

std::uint32_t MachineBook::book(LeaseId id, const Unleased& use) {
  std::uint32_t worst = 0;
  for (const std::uint32_t cpu : use.cpus.numbers()) {
    const auto place = books_.find({use.pmu, cpu});
    if (place == books_.end()) continue;
    const auto wanted = std::min(use.counters, static_cast<std::uint32_t>(64));
    CounterDemand demand;
    demand.any.assign(std::min(wanted, place->second.room_for(use.among, {})), use.among);
    if (!demand.any.empty()) (void)place->second.take(id, demand, {});
    worst = std::max(worst, use.counters - static_cast<std::uint32_t>(demand.any.size()));
  }
  unleased_.emplace(id, use);
  return worst;
}

void MachineBook::forget_unleased(std::uint64_t holder) {
  const auto found = unleased_.find(kForeignFirst + holder);
  if (found == unleased_.end()) return;
  for (auto& [place, book] : books_) book.release(found->first);
  unleased_.erase(found);
}

std::optional<Decision> MachineBook::refusal(const Plan& plan,
                                             const Alternative& alternative) const {
  // A plan may have waited, and a CPU have gone meanwhile.
  if (auto offline = offline_refusal(plan, machine_)) return offline;
  for (const PmuDemand& part : plan.parts) {
    // Counters go first, because who has a PMU for itself is a better answer than what it has.
    for (const std::uint32_t cpu : part.cpus.numbers()) {
      const Fit fit = books_.at({part.pmu, cpu}).fits(part.counters, alternative);
      if (fit != Fit::kFits) return refused_on(part, cpu, fit, alternative);
    }
    if (auto refused = units_.refusal(part)) return refused;
  }
  return std::nullopt;
}

Decision MachineBook::refused_on(const PmuDemand& part, std::uint32_t cpu, Fit fit,
                                 const Alternative& alternative) const {
  Decision decision;
  decision.answer = Answer::kInsufficientResources;
  decision.reason = fit == Fit::kTooHard ? Reason::kTooHard : Reason::kTaken;
  decision.cpu = cpu;
  bool has_whole = part.counters.whole;
  bool has_limbo_only = true;
  for (const LeaseId blocker : books_.at({part.pmu, cpu}).blockers(part.counters, alternative)) {
    if (blocker >= kForeignFirst) {
      const Unleased& use = unleased_.at(blocker);
      decision.foreign = use.name;
      has_limbo_only = has_limbo_only && use.kind == UnleasedKind::kLimbo;
      continue;
    }
    decision.leases.push_back(blocker);
    has_whole = has_whole || is_whole(blocker, part.pmu, cpu);
  }
  if (decision.reason == Reason::kTaken) {
    if (decision.leases.empty() && !decision.foreign.empty()) {
      decision.reason = has_limbo_only ? Reason::kLimbo : Reason::kForeign;
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
  const PmuDemand* part = part_for(found->second.plan, pmu, cpu);
  return part != nullptr && part->counters.whole;
}

bool MachineBook::release(LeaseId lease) {
  const auto found = leases_.find(lease);
  if (found == leases_.end()) return false;
  for (const PmuDemand& part : found->second.plan.parts) {
    for (const std::uint32_t cpu : part.cpus.numbers()) {
      books_.at({part.pmu, cpu}).release(lease);
    }
  }
  units_.release(lease);
  leases_.erase(found);
  return true;
}

std::uint32_t MachineBook::probe(const CpuSet& cpus, const Event& event) const {
  std::optional<std::uint32_t> least;
  for (const std::uint32_t cpu : cpus.numbers()) {
    const std::optional<PmuIndex> pmu = machine_.pmu_on(cpu);
    if (!pmu) return 0;
    const std::uint32_t room = probe(*pmu, CpuSet::range(cpu, cpu), event);
    least = least ? std::min(*least, room) : room;
  }
  return least.value_or(0);
}

std::uint32_t MachineBook::probe(PmuIndex pmu, const CpuSet& cpus, const Event& event,
                                 const Alternative& alternative) const {
  const Topology& topology = machine_.topology;
  if (pmu >= topology.pmus.size()) return 0;
  if (topology.pmus[pmu].is_closed && !topology.class_of(pmu, event.code, event.unit_mask)) {
    return 0;
  }
  return room(pmu, cpus, topology.counters_for(pmu, event.code, event.unit_mask), alternative);
}

std::uint32_t MachineBook::room(PmuIndex pmu, const CpuSet& cpus, CounterMask among,
                                const Alternative& alternative) const {
  std::optional<std::uint32_t> least;
  for (const std::uint32_t cpu : cpus.numbers()) {
    const auto place = books_.find({pmu, cpu});
    if (place == books_.end() || !machine_.online.contains(cpu)) return 0;
    const std::uint32_t room = place->second.room_for(among, alternative);
    least = least ? std::min(*least, room) : room;
  }
  return least.value_or(0);
}

std::optional<Placement> MachineBook::placement(LeaseId lease, PmuIndex pmu,
                                                std::uint32_t cpu) const {
  const auto place = books_.find({pmu, cpu});
  if (place == books_.end()) return std::nullopt;
  const Placement* placement = place->second.placement(lease);
  if (placement == nullptr) return std::nullopt;
  return *placement;
}

Ownership MachineBook::ownership() const {
  Ownership ownership;
  for (const auto& [place, book] : books_) {
    ownership.cpus.push_back(owners(place.first, place.second));
  }
  ownership.units = units_.units();
  ownership.extras = units_.extras();
  return ownership;
}

CpuOwners MachineBook::owners(PmuIndex pmu, std::uint32_t cpu) const {
  const PlaceBook& book = books_.at({pmu, cpu});
  const CounterMask all = machine_.topology.pmus[pmu].counters();
  std::map<std::uint32_t, CounterOwner> owners;
  for (std::uint32_t counter = 0; counter < 64; ++counter) {
    if ((all >> counter & 1) != 0) owners[counter].counter = counter;
  }
  const auto show = [&](LeaseId id) {
    const Placement& placement = *book.placement(id);
    if (const auto unleased = unleased_.find(id); unleased != unleased_.end()) {
      const UnleasedKind kind = unleased->second.kind;
      for (const std::uint32_t counter : placement.any) {
        CounterOwner& owner = owners[counter];
        owner.kind = kind == UnleasedKind::kLimbo ? OwnerKind::kLimbo : OwnerKind::kForeign;
        owner.foreign = unleased->second.name;
        owner.unleased = kind;
      }
      return;
    }
    const auto& [plan, alternative] = leases_.at(id);
    for (const auto& [counter, source] : held_by(*part_for(plan, pmu, cpu), placement, all)) {
      CounterOwner& owner = owners[counter];
      if (owner.kind != OwnerKind::kFree) continue;
      owner.kind = kind_of(plan.tag.has_value(), source.has_value());
      owner.lease = id;
      owner.tag = plan.tag.value_or(0);
      owner.source = source;
    }
  };
  for (const bool is_always : {true, false}) {
    for (const auto& [id, alternative] : book.holders()) {
      if ((alternative == Alternative{}) == is_always) show(id);
    }
  }
  CpuOwners result{.pmu = pmu, .cpu = cpu, .counters = {}};
  for (auto& [counter, owner] : owners) {
    if (!machine_.online.contains(cpu)) owner.kind = OwnerKind::kOffline;
    result.counters.push_back(std::move(owner));
  }
  return result;
}

}  // namespace meterbank::arbiter
