// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/books/machine_book.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace meterbank::arbiter {
namespace {

[[nodiscard]] OwnerKind kind_of(bool is_tagged, bool has_source) noexcept {
  if (!is_tagged) return OwnerKind::kUntagged;
  return has_source ? OwnerKind::kTaggedWithSource : OwnerKind::kTagged;
}

[[nodiscard]] std::string text_of(const std::vector<LeaseId>& leases) {
  std::string text;
  for (const LeaseId lease : leases) text += fmt::format("{}{}", text.empty() ? "" : ", ", lease);
  return text;
}

[[nodiscard]] std::string state_with(const Unleased& use) {
  switch (use.kind) {
    case UnleasedKind::kKernel:
      return "used by " + use.name;
    case UnleasedKind::kReserve:
      return "kept for processes without a lease";
    case UnleasedKind::kLimbo:
      return fmt::format("used by {}, whose lease has ended; the kernel has not let go yet",
                         use.name);
    default:
      return fmt::format("used by {}, which has no lease", use.name);
  }
}

[[nodiscard]] std::string sentence_for(const Decision& decision, const std::string& pmu,
                                       const Unleased* use) {
  const std::string where = fmt::format("CPU {}: {}", decision.cpu.value_or(0), pmu);
  switch (decision.reason) {
    case Reason::kTooHard:
      return fmt::format("{} is too full to find places within the steps allowed", where);
    case Reason::kForeign:
    case Reason::kLimbo:
      return fmt::format("{} is {}", where, state_with(*use));
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
    std::vector<std::size_t>& at = place_at_.emplace_back();
    for (const std::uint32_t cpu : pmu.cpus.numbers()) {
      at.resize(cpu + 1, kNowhere);
      at[cpu] = books_.size();
      places_.emplace_back(static_cast<PmuIndex>(i), cpu);
      books_.emplace_back(pmu.counters());
    }
  }
  changed_.resize(books_.size());
}

std::size_t MachineBook::place_of(PmuIndex pmu, std::uint32_t cpu) const noexcept {
  if (pmu >= place_at_.size() || cpu >= place_at_[pmu].size()) return kNowhere;
  return place_at_[pmu][cpu];
}

PlaceBook& MachineBook::open_at(std::size_t place) {
  changed_.at(place) = ++clock_;
  return books_[place];
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
      const Fit fit = open_at(place_of(part.pmu, cpu)).take(lease, part.counters, alternative);
      if (fit == Fit::kFits) continue;
      // A book that takes back what it just said must not leave half a lease behind.
      for (PlaceBook& book : books_) book.release(lease);
      touch_all();
      units_.release(lease);
      return refused_on(part, cpu, fit, alternative);
    }
    units_.take(lease, part);
  }
  leases_.emplace(lease, Held{plan, alternative});
  Decision granted;
  if (plan.has_units()) granted.threshold = units_.threshold(lease);
  return granted;
}

std::uint32_t MachineBook::book_unleased(std::uint64_t holder, const Unleased& use) {
  forget_unleased(holder);
  return book(kForeignFirst + holder, use);
}

std::uint32_t MachineBook::book(LeaseId id, const Unleased& use) {
  std::uint32_t worst = 0;
  for (const std::uint32_t cpu : use.cpus.numbers()) {
    const std::size_t place = place_of(use.pmu, cpu);
    if (place == kNowhere) continue;
    PlaceBook& book = open_at(place);
    const auto wanted = std::min(use.counters, static_cast<std::uint32_t>(64));
    CounterDemand demand;
    demand.any.assign(std::min(wanted, book.room_for(use.among, {})), use.among);
    if (!demand.any.empty()) (void)book.take(id, demand, {});
    worst = std::max(worst, use.counters - static_cast<std::uint32_t>(demand.any.size()));
  }
  unleased_.emplace(id, use);
  return worst;
}

void MachineBook::forget_unleased(std::uint64_t holder) {
  const auto found = unleased_.find(kForeignFirst + holder);
  if (found == unleased_.end()) return;
  for (const std::uint32_t cpu : found->second.cpus.numbers()) {
    const std::size_t place = place_of(found->second.pmu, cpu);
    if (place != kNowhere) open_at(place).release(found->first);
  }
  unleased_.erase(found);
}

std::optional<Decision> MachineBook::refusal(const Plan& plan,
                                             const Alternative& alternative) const {
  // A plan may have waited, and a CPU have gone meanwhile.
  if (auto offline = offline_refusal(plan, machine_)) return offline;
  for (const PmuDemand& part : plan.parts) {
    // Counters go first, because the holder of a whole PMU is a better answer than its units.
    for (const std::uint32_t cpu : part.cpus.numbers()) {
      const Fit fit = book_at(part.pmu, cpu).fits(part.counters, alternative);
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
  const Unleased* last_use = nullptr;
  for (const LeaseId blocker : book_at(part.pmu, cpu).blockers(part.counters, alternative)) {
    if (blocker >= kForeignFirst) {
      const Unleased& use = unleased_.at(blocker);
      last_use = &use;
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
  decision.sentence = sentence_for(decision, machine_.topology.pmus[part.pmu].name, last_use);
  return decision;
}

bool MachineBook::is_whole(LeaseId lease, PmuIndex pmu, std::uint32_t cpu) const {
  const auto found = leases_.find(lease);
  if (found == leases_.end()) return false;
  const PmuDemand* part = found->second.plan.part_at(pmu, cpu);
  return part != nullptr && part->counters.whole;
}

bool MachineBook::release(LeaseId lease) {
  const auto found = leases_.find(lease);
  if (found == leases_.end()) return false;
  for (const PmuDemand& part : found->second.plan.parts) {
    for (const std::uint32_t cpu : part.cpus.numbers()) {
      open_at(place_of(part.pmu, cpu)).release(lease);
    }
  }
  if (found->second.plan.has_units()) units_.release(lease);
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
    const std::size_t place = place_of(pmu, cpu);
    if (place == kNowhere || !machine_.online.contains(cpu)) return 0;
    const std::uint32_t room = books_[place].room_for(among, alternative);
    least = least ? std::min(*least, room) : room;
  }
  return least.value_or(0);
}

std::optional<Placement> MachineBook::placement(LeaseId lease, PmuIndex pmu,
                                                std::uint32_t cpu) const {
  const std::size_t place = place_of(pmu, cpu);
  if (place == kNowhere) return std::nullopt;
  const Placement* placement = books_[place].placement(lease);
  if (placement == nullptr) return std::nullopt;
  return *placement;
}

Ownership MachineBook::ownership() const {
  Ownership ownership;
  for (const auto& [pmu, cpu] : places_) ownership.cpus.push_back(owners(pmu, cpu));
  ownership.units = units_.units();
  ownership.extras = units_.extras();
  return ownership;
}

CpuOwners MachineBook::owners(PmuIndex pmu, std::uint32_t cpu) const {
  const PlaceBook& book = book_at(pmu, cpu);
  const CounterMask all = machine_.topology.pmus[pmu].counters();
  CpuOwners result{.pmu = pmu, .cpu = cpu, .counters = {}};
  result.counters.reserve(static_cast<std::size_t>(std::popcount(all)));
  for (CounterMask left = all; left != 0; left &= left - 1) {
    result.counters.emplace_back().counter = static_cast<std::uint32_t>(std::countr_zero(left));
  }
  const auto owner_of = [&](std::uint32_t counter) -> CounterOwner& {
    const CounterMask below = all & ((CounterMask{1} << counter) - 1);
    return result.counters[static_cast<std::size_t>(std::popcount(below))];
  };
  const auto show_unleased = [&](const Unleased& use, const Placement& placement) {
    for (const std::uint32_t counter : placement.any) {
      CounterOwner& owner = owner_of(counter);
      owner.kind = use.kind == UnleasedKind::kLimbo ? OwnerKind::kLimbo : OwnerKind::kForeign;
      owner.foreign = use.name;
      owner.unleased = use.kind;
    }
  };
  const auto show = [&](LeaseId id) {
    const Placement& placement = *book.placement(id);
    if (id >= kForeignFirst) return show_unleased(unleased_.at(id), placement);
    const Plan& plan = leases_.at(id).plan;
    const PmuDemand& part = *plan.part_at(pmu, cpu);
    CounterMask mask = part.counters.whole ? all : placement.mask(part.counters);
    for (; mask != 0; mask &= mask - 1) {
      const auto counter = static_cast<std::uint32_t>(std::countr_zero(mask));
      CounterOwner& owner = owner_of(counter);
      if (owner.kind != OwnerKind::kFree) continue;
      const auto single = std::find(placement.any.begin(), placement.any.end(), counter);
      if (single != placement.any.end()) {
        const auto& use = part.events[static_cast<std::size_t>(single - placement.any.begin())];
        if (use) owner.source = use->event;
      }
      owner.kind = kind_of(plan.tag.has_value(), owner.source.has_value());
      owner.lease = id;
      owner.tag = plan.tag.value_or(0);
    }
  };
  for (const bool is_always : {true, false}) {
    for (const auto& [id, alternative] : book.holders()) {
      if ((alternative == Alternative{}) == is_always) show(id);
    }
  }
  if (!machine_.online.contains(cpu)) {
    for (CounterOwner& owner : result.counters) owner.kind = OwnerKind::kOffline;
  }
  return result;
}

}  // namespace meterbank::arbiter
