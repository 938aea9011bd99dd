// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "arbiter/core/request/form.hpp"
#include "meterbank/reader/suggest.hpp"

namespace meterbank::arbiter {
namespace {

using Refused = std::optional<Decision>;

[[nodiscard]] Decision unsupported(Reason reason, std::string sentence,
                                   std::optional<std::uint32_t> item = {}) {
  Decision decision;
  decision.answer = Answer::kNotSupported;
  decision.reason = reason;
  decision.item = item;
  decision.sentence = std::move(sentence);
  return decision;
}

[[nodiscard]] CpuSet cpus_of(const Request& request, const Machine& machine,
                             std::optional<PmuIndex> pmu) {
  if (!request.has_groups) {
    if (!pmu) return machine.online;
    return machine.online.common_with(machine.topology.pmus[*pmu].cpus);
  }
  CpuSet cpus;
  for (const CpuGroup& group : request.groups) {
    for (std::uint64_t rest = group.mask; rest != 0; rest &= rest - 1) {
      cpus.add(group.group * std::uint32_t{64} +
               static_cast<std::uint32_t>(std::countr_zero(rest)));
    }
  }
  return cpus;
}

// The request's CPUs, divided by PMU.
[[nodiscard]] tl::expected<std::vector<PmuDemand>, Decision> parts_of(const Request& request,
                                                                      const Machine& machine) {
  if (machine.topology.pmus.empty()) {
    return tl::make_unexpected(unsupported(Reason::kNoPmu, "this machine has no PMU"));
  }
  if (text_of(request.pmu).empty() &&
      std::all_of(machine.topology.pmus.begin(), machine.topology.pmus.end(),
                  [](const Pmu& pmu) { return pmu.is_named_only; })) {
    return tl::make_unexpected(
        unsupported(Reason::kNoPmu,
                    fmt::format("this machine has no PMU but {}, which must be asked for by name",
                                machine.topology.pmus.front().name)));
  }
  std::optional<PmuIndex> named;
  if (const std::string_view name = text_of(request.pmu); !name.empty()) {
    named = machine.topology.find_pmu(name);
    if (!named) {
      return tl::make_unexpected(
          unsupported(Reason::kNoPmu, fmt::format("this machine has no PMU {}", name)));
    }
  }
  std::vector<PmuDemand> parts;
  for (const std::uint32_t cpu : cpus_of(request, machine, named).numbers()) {
    std::optional<PmuIndex> pmu = machine.pmu_on(cpu);
    if (named) {
      pmu = machine.topology.pmus[*named].cpus.contains(cpu) ? named : std::nullopt;
    }
    if (!pmu) {
      Decision decision = unsupported(Reason::kNoPmu, fmt::format("CPU {} has no such PMU", cpu));
      decision.cpu = cpu;
      return tl::make_unexpected(std::move(decision));
    }
    auto part = std::find_if(parts.begin(), parts.end(),
                             [&](const PmuDemand& known) { return known.pmu == *pmu; });
    if (part == parts.end()) {
      parts.emplace_back().pmu = *pmu;
      part = parts.end() - 1;
    }
    part->cpus.add(cpu);
  }
  if (parts.empty()) {
    return tl::make_unexpected(unsupported(Reason::kNoPmu, "no CPU that is online has this PMU"));
  }
  std::sort(parts.begin(), parts.end(),
            [](const PmuDemand& one, const PmuDemand& other) { return one.pmu < other.pmu; });
  return parts;
}

// Position of the rule of this name and PMU.
template <typename Rule>
[[nodiscard]] std::optional<std::uint32_t> find_rule(const std::vector<Rule>& rules, PmuIndex pmu,
                                                     std::string_view name) noexcept {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].pmu == pmu && rules[i].name == name) return static_cast<std::uint32_t>(i);
  }
  return std::nullopt;
}

// Adds items to what a request means on one PMU.
class PartWriter {
 public:
  PartWriter(const Machine& machine, PmuDemand& part) noexcept
      : machine_(machine),
        topology_(machine.topology),
        pmu_(topology_.pmus[part.pmu]),
        part_(part) {}

  // `position` is the item's in its list.
  [[nodiscard]] Refused add(const Item& item, std::uint32_t position) {
    switch (kind_of(item)) {
      case ItemKind::kSingle:
      case ItemKind::kRange:
        return add_indexes(item);
      case ItemKind::kExtendedConfiguration:
        return missing("extended counter configurations");
      case ItemKind::kOverflow:
        if (!pmu_.has_overflow) return missing("overflow interrupts");
        return std::nullopt;
      case ItemKind::kIdentificationTag:
        return std::nullopt;
      case ItemKind::kEvent:
        return add_event({.event = {item.code, item.unit_mask, item.configuration},
                          .item = position,
                          .flags = item.flags},
                         item.count);
      case ItemKind::kNamedEvent:
        return add_named_event(item, position);
      case ItemKind::kClass: {
        const auto rule = find_rule(topology_.classes, part_.pmu, text_of(item.name));
        if (!rule) return missing(fmt::format("event class {}", text_of(item.name)));
        return add_any(item.count, topology_.classes[*rule].counters, std::nullopt);
      }
      case ItemKind::kBlock:
        return add_blocks(item);
      case ItemKind::kEventBuffer:
      case ItemKind::kUnit:
        return add_unit(item);
      case ItemKind::kExtra:
        return add_extra(item);
    }
    return missing("such items");
  }

 private:
  [[nodiscard]] Refused missing(std::string_view what) const {
    return unsupported(Reason::kNoSuchThing, fmt::format("{} has no {}", pmu_.name, what));
  }
  [[nodiscard]] Refused too_many(std::string_view what) const {
    return unsupported(Reason::kNeverFits, fmt::format("{} has not so many {}", pmu_.name, what));
  }

  // A range may be as long as numbers go, so it is left at the first counter that is not there.
  [[nodiscard]] Refused add_indexes(const Item& item) {
    const std::uint32_t last = last_index(item);
    for (std::uint32_t index = item.begin; index <= last; ++index) {
      if (index >= 64 || (pmu_.counters() >> index & 1) == 0) {
        return missing(fmt::format("counter {}", index));
      }
      part_.counters.exact |= CounterMask{1} << index;
    }
    return std::nullopt;
  }

  [[nodiscard]] Refused add_named_event(const Item& item, std::uint32_t position) {
    static const EventNames none;
    const EventNames& names = part_.pmu < machine_.names.size() ? machine_.names[part_.pmu] : none;
    const auto found = names.find(text_of(item.name));
    if (found != names.end()) {
      return add_event({.event = found->second, .item = position, .flags = item.flags}, 1);
    }
    NearestName nearest(text_of(item.name));
    for (const auto& [name, event] : names) nearest.consider(name);
    return missing(fmt::format(
        "event {}{}", text_of(item.name),
        nearest.best() ? fmt::format("; did you mean {}?", *nearest.best()) : std::string{}));
  }

  [[nodiscard]] Refused add_event(const EventUse& use, std::uint32_t count) {
    const Event& event = use.event;
    if (pmu_.is_closed && !topology_.class_of(part_.pmu, event.code, event.unit_mask)) {
      return missing(fmt::format("event {:#x}:{:#x}", event.code, event.unit_mask));
    }
    return add_any(count, topology_.counters_for(part_.pmu, event.code, event.unit_mask), use);
  }

  [[nodiscard]] Refused add_any(std::uint32_t count, CounterMask mask,
                                const std::optional<EventUse>& use) {
    mask &= pmu_.counters();
    if (mask == 0) return missing("counter for this event");
    if (count > static_cast<std::uint32_t>(std::popcount(mask)) ||
        part_.counters.any.size() + count > kTakenMax) {
      return too_many("counters for this event");
    }
    part_.counters.any.insert(part_.counters.any.end(), count, mask);
    part_.events.insert(part_.events.end(), count, use);
    return std::nullopt;
  }

  [[nodiscard]] Refused add_blocks(const Item& item) {
    const auto rule = find_rule(topology_.blocks, part_.pmu, text_of(item.name));
    if (!rule) return missing(fmt::format("block {}", text_of(item.name)));
    if (item.count > kTakenMax || part_.counters.blocks.size() + item.count > kTakenMax) {
      return too_many("counters for these blocks");
    }
    const BlockRule& block = topology_.blocks[*rule];
    part_.counters.blocks.insert(part_.counters.blocks.end(), item.count,
                                 Block{.length = block.length, .alignment = block.alignment});
    return std::nullopt;
  }

  [[nodiscard]] Refused add_unit(const Item& item) {
    const auto rule = find_rule(topology_.units, part_.pmu, unit_name(item));
    if (!rule) return missing(fmt::format("unit {}", unit_name(item)));
    const std::uint32_t count = kind_of(item) == ItemKind::kUnit ? item.count : 1;
    if (count > topology_.units[*rule].count) return too_many("units of this sort");
    for (const UnitDemand& earlier : part_.units) {
      if (conflict(topology_.units[*rule], topology_.units[earlier.rule])) {
        return unsupported(Reason::kNeverFits,
                           fmt::format("{} and {} exclude each other", unit_name(item),
                                       topology_.units[earlier.rule].name));
      }
    }
    part_.units.push_back({.rule = *rule, .count = count, .threshold = item.threshold});
    return std::nullopt;
  }

  [[nodiscard]] Refused add_extra(const Item& item) {
    const auto rule = find_rule(topology_.extras, part_.pmu, text_of(item.name));
    if (!rule) return missing(fmt::format("register {}", text_of(item.name)));
    const auto same = std::count_if(part_.extras.begin(), part_.extras.end(),
                                    [&](const ExtraDemand& extra) { return extra.rule == *rule; });
    if (same >= static_cast<std::ptrdiff_t>(topology_.extras[*rule].count)) {
      return too_many("registers of this sort");
    }
    part_.extras.push_back({.rule = *rule, .configuration = item.configuration});
    return std::nullopt;
  }

  const Machine& machine_;
  const Topology& topology_;
  const Pmu& pmu_;
  PmuDemand& part_;
};

// What no wait will help: a demand that an empty PMU has no place for.
[[nodiscard]] Refused fault_of_size(const PmuDemand& part, const Pmu& pmu) {
  if (part.counters.whole) return std::nullopt;
  if (CounterBook(pmu.counters()).fits(part.counters) != Fit::kNever) return std::nullopt;
  return unsupported(Reason::kNeverFits,
                     fmt::format("{} has no place for all of this at once", pmu.name));
}

}  // namespace

Item single(std::uint32_t counter) noexcept {
  return {.kind = static_cast<std::uint32_t>(ItemKind::kSingle), .begin = counter};
}

Item range(std::uint32_t begin, std::uint32_t end) noexcept {
  return {.kind = static_cast<std::uint32_t>(ItemKind::kRange), .begin = begin, .end = end};
}

Item overflow() noexcept { return {.kind = static_cast<std::uint32_t>(ItemKind::kOverflow)}; }

Item event_buffer(std::uint32_t threshold) noexcept {
  return {.kind = static_cast<std::uint32_t>(ItemKind::kEventBuffer), .threshold = threshold};
}

Item identification_tag(std::uint32_t tag) noexcept {
  return {.kind = static_cast<std::uint32_t>(ItemKind::kIdentificationTag), .tag = tag};
}

Item counters_for_event(std::uint32_t count, std::uint32_t code, std::uint32_t unit_mask) noexcept {
  return {.kind = static_cast<std::uint32_t>(ItemKind::kEvent),
          .count = count,
          .code = code,
          .unit_mask = unit_mask};
}

Item named(ItemKind kind, std::string_view name, std::uint32_t count) noexcept {
  return {.kind = static_cast<std::uint32_t>(kind), .count = count, .name = wire_name(name)};
}

Item extra_register(std::string_view name, std::uint64_t configuration) noexcept {
  return {.kind = static_cast<std::uint32_t>(ItemKind::kExtra),
          .configuration = configuration,
          .name = wire_name(name)};
}

Request request_of(const pmu::Allocate& allocate) {
  const pmu::AllocateHead& head = allocate.head;
  return {.has_handle = true,
          .has_groups = (head.flags & pmu::kAllocateHasGroups) != 0,
          .group_count = head.group_count,
          .groups = allocate.groups,
          .has_items = (head.flags & pmu::kAllocateHasItems) != 0,
          .item_count = head.item_count,
          .items = allocate.items,
          .pmu = head.pmu,
          .task = head.task};
}

std::optional<PmuIndex> Machine::pmu_on(std::uint32_t cpu) const noexcept {
  for (std::size_t i = 0; i < topology.pmus.size(); ++i) {
    const Pmu& pmu = topology.pmus[i];
    if (!pmu.is_named_only && pmu.cpus.contains(cpu)) return static_cast<PmuIndex>(i);
  }
  return std::nullopt;
}

bool conflict(const UnitRule& one, const UnitRule& other) noexcept {
  const auto names = [](const UnitRule& rule, const std::string& name) {
    return std::find(rule.conflicts.begin(), rule.conflicts.end(), name) != rule.conflicts.end();
  };
  return one.pmu == other.pmu && (names(one, other.name) || names(other, one.name));
}

std::optional<Decision> offline_refusal(const Plan& plan, const Machine& machine) {
  for (const PmuDemand& part : plan.parts) {
    for (const std::uint32_t cpu : part.cpus.numbers()) {
      if (machine.online.contains(cpu)) continue;
      Decision decision;
      decision.answer = Answer::kInsufficientResources;
      decision.reason = Reason::kCpuOffline;
      decision.cpu = cpu;
      decision.sentence = fmt::format("CPU {} is offline", cpu);
      return decision;
    }
  }
  return std::nullopt;
}

tl::expected<Plan, Decision> plan_for(const Request& request, const Machine& machine) {
  if (Refused fault = fault_of_form(request, machine)) {
    return tl::make_unexpected(std::move(*fault));
  }

  auto parts = parts_of(request, machine);
  if (!parts) return tl::make_unexpected(std::move(parts.error()));
  Plan plan{.parts = std::move(*parts), .tag = {}, .task = request.task};
  for (PmuDemand& part : plan.parts) {
    PartWriter writer(machine, part);
    for (std::uint32_t i = 0; i < request.items.size(); ++i) {
      Refused fault = writer.add(request.items[i], i);
      if (!fault) continue;
      fault->item = i;
      fault->cpu = part.cpus.numbers().front();
      return tl::make_unexpected(std::move(*fault));
    }
    part.counters.whole = !request.has_items;
    if (Refused fault = fault_of_size(part, machine.topology.pmus[part.pmu])) {
      fault->cpu = part.cpus.numbers().front();
      return tl::make_unexpected(std::move(*fault));
    }
  }
  for (const Item& item : request.items) {
    if (kind_of(item) == ItemKind::kIdentificationTag) plan.tag = item.tag;
  }
  // Only what is right and possible is told that it has to wait for a CPU.
  if (Refused offline = offline_refusal(plan, machine)) {
    return tl::make_unexpected(std::move(*offline));
  }
  return plan;
}

}  // namespace meterbank::arbiter
