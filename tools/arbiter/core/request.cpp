// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace meterbank::arbiter {
namespace {

using Refused = std::optional<Decision>;

[[nodiscard]] Decision malformed(std::string sentence, std::optional<std::uint32_t> item = {}) {
  Decision decision;
  decision.answer = Answer::kInvalidParameter;
  decision.reason = Reason::kMalformed;
  decision.item = item;
  decision.sentence = std::move(sentence);
  return decision;
}

[[nodiscard]] Decision unsupported(Reason reason, std::string sentence,
                                   std::optional<std::uint32_t> item = {}) {
  Decision decision;
  decision.answer = Answer::kNotSupported;
  decision.reason = reason;
  decision.item = item;
  decision.sentence = std::move(sentence);
  return decision;
}

[[nodiscard]] bool is_terminated(const WireName& name) noexcept {
  return std::find(name.begin(), name.end(), '\0') != name.end();
}

// Precondition: is_terminated(name).
[[nodiscard]] std::string_view text_of(const WireName& name) noexcept { return {name.data()}; }

[[nodiscard]] ItemKind kind_of(const Item& item) noexcept {
  return static_cast<ItemKind>(item.kind);
}

[[nodiscard]] bool names_indexes(const Item& item) noexcept {
  return kind_of(item) == ItemKind::kSingle || kind_of(item) == ItemKind::kRange;
}

[[nodiscard]] bool takes_counters(const Item& item) noexcept {
  const ItemKind kind = kind_of(item);
  return names_indexes(item) || kind == ItemKind::kEvent || kind == ItemKind::kClass ||
         kind == ItemKind::kBlock;
}

[[nodiscard]] bool has_name(const Item& item) noexcept {
  const ItemKind kind = kind_of(item);
  return kind == ItemKind::kClass || kind == ItemKind::kBlock || kind == ItemKind::kUnit ||
         kind == ItemKind::kExtra;
}

[[nodiscard]] bool has_count(const Item& item) noexcept {
  return kind_of(item) == ItemKind::kEvent || (has_name(item) && kind_of(item) != ItemKind::kExtra);
}

[[nodiscard]] bool is_known(const Item& item) noexcept {
  return item.kind <= static_cast<std::uint32_t>(ItemKind::kIdentificationTag) ||
         (item.kind >= static_cast<std::uint32_t>(ItemKind::kEvent) &&
          item.kind <= static_cast<std::uint32_t>(ItemKind::kExtra));
}

[[nodiscard]] std::uint32_t last_index(const Item& item) noexcept {
  return kind_of(item) == ItemKind::kRange ? item.end : item.begin;
}

[[nodiscard]] std::string_view unit_name(const Item& item) noexcept {
  return kind_of(item) == ItemKind::kEventBuffer ? kEventBufferUnit : text_of(item.name);
}

[[nodiscard]] bool is_unit(const Item& item) noexcept {
  return kind_of(item) == ItemKind::kEventBuffer || kind_of(item) == ItemKind::kUnit;
}

// Whether one list cannot have both, because it would ask twice for one thing.
[[nodiscard]] bool repeats(const Item& one, const Item& other) noexcept {
  if (names_indexes(one) && names_indexes(other)) {
    return one.begin <= last_index(other) && other.begin <= last_index(one);
  }
  if (is_unit(one) && is_unit(other)) return unit_name(one) == unit_name(other);
  if (kind_of(one) != kind_of(other)) return false;
  if (kind_of(one) == ItemKind::kExtra) {
    return text_of(one.name) == text_of(other.name) && one.configuration == other.configuration;
  }
  return kind_of(one) == ItemKind::kOverflow || kind_of(one) == ItemKind::kIdentificationTag;
}

// Everything that can be said of one item alone.
[[nodiscard]] std::optional<std::string> fault_of(const Item& item) {
  if (!is_known(item)) return fmt::format("there are no items of kind {}", item.kind);
  if (item.flags != 0) return fmt::format("flags are {:#x}, not zero", item.flags);
  if (kind_of(item) == ItemKind::kRange && item.begin > item.end) {
    return fmt::format("the range begins at {} and ends before, at {}", item.begin, item.end);
  }
  if (kind_of(item) == ItemKind::kEventBuffer && item.entry_size != 0) {
    return fmt::format("the size of an event buffer's entry is {}, not zero", item.entry_size);
  }
  if (has_name(item) && (!is_terminated(item.name) || text_of(item.name).empty())) {
    return "the name is empty or has no end";
  }
  if (has_count(item) && item.count == 0) return "the count is zero";
  return std::nullopt;
}

[[nodiscard]] Refused fault_of_items(const Request& request) {
  const std::vector<Item>& items = request.items;
  if (!request.has_items) {
    if (request.item_count == 0 && items.empty()) return std::nullopt;
    return malformed("there is no list, and a count of items that is not zero");
  }
  if (request.item_count == 0) return malformed("the list is empty");
  if (request.item_count != items.size()) {
    return malformed(
        fmt::format("the list says {} items and has {}", request.item_count, items.size()));
  }
  if (request.item_count > kItemsMax) {
    return malformed(fmt::format("the list has more than {} items", kItemsMax));
  }
  for (std::uint32_t i = 0; i < request.item_count; ++i) {
    if (std::optional<std::string> fault = fault_of(items[i])) {
      return malformed(fmt::format("item {}: {}", i, *fault), i);
    }
  }
  for (std::uint32_t i = 0; i < request.item_count; ++i) {
    for (std::uint32_t earlier = 0; earlier < i; ++earlier) {
      if (repeats(items[earlier], items[i])) {
        return malformed(fmt::format("item {} asks again for what item {} has", i, earlier), i);
      }
    }
    if (kind_of(items[i]) == ItemKind::kOverflow &&
        std::none_of(items.begin(), items.end(), takes_counters)) {
      return malformed(fmt::format("item {}: overflow of no counter of this list", i), i);
    }
  }
  if (std::all_of(items.begin(), items.end(),
                  [](const Item& item) { return kind_of(item) == ItemKind::kIdentificationTag; })) {
    return malformed("the list has a tag and nothing that it would mark");
  }
  return std::nullopt;
}

[[nodiscard]] Refused fault_of_groups(const Request& request, const Machine& machine) {
  if (!request.has_groups) {
    if (request.group_count == 0 && request.groups.empty()) return std::nullopt;
    return malformed("there are no CPU groups, and a count of them that is not zero");
  }
  if (request.group_count == 0) return malformed("there are CPU groups, and their count is zero");
  if (request.group_count != request.groups.size() || request.group_count > kGroupsMax) {
    return malformed(fmt::format("{} CPU groups are announced, {} came, {} are allowed",
                                 request.group_count, request.groups.size(), kGroupsMax));
  }
  for (const CpuGroup& group : request.groups) {
    if (group.mask == 0)
      return malformed(fmt::format("the mask of group {} is empty", group.group));
    if (group.reserved != std::array<std::uint16_t, 3>{}) {
      return malformed(fmt::format("reserved words of group {} are not zero", group.group));
    }
    for (std::uint64_t rest = group.mask; rest != 0; rest &= rest - 1) {
      const std::uint32_t cpu =
          group.group * std::uint32_t{64} + static_cast<std::uint32_t>(std::countr_zero(rest));
      if (machine.possible.contains(cpu)) continue;
      Decision decision = malformed(fmt::format("CPU {} is not possible on this machine", cpu));
      decision.cpu = cpu;
      return decision;
    }
  }
  return std::nullopt;
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
  PartWriter(const Topology& topology, PmuDemand& part) noexcept
      : topology_(topology), pmu_(topology.pmus[part.pmu]), part_(part) {}

  [[nodiscard]] Refused add(const Item& item) {
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
        return add_any(item, topology_.counters_for(part_.pmu, item.code, item.unit_mask),
                       Event{item.code, item.unit_mask});
      case ItemKind::kClass: {
        const auto rule = find_rule(topology_.classes, part_.pmu, text_of(item.name));
        if (!rule) return missing(fmt::format("event class {}", text_of(item.name)));
        return add_any(item, topology_.classes[*rule].counters, std::nullopt);
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

  [[nodiscard]] Refused add_any(const Item& item, CounterMask mask, std::optional<Event> event) {
    mask &= pmu_.counters();
    if (mask == 0) return missing("counter for this event");
    if (item.count > static_cast<std::uint32_t>(std::popcount(mask)) ||
        part_.counters.any.size() + item.count > kTakenMax) {
      return too_many("counters for this event");
    }
    part_.counters.any.insert(part_.counters.any.end(), item.count, mask);
    part_.events.insert(part_.events.end(), item.count, event);
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

WireName wire_name(std::string_view name) noexcept {
  WireName result = {};
  std::copy_n(name.begin(), std::min(name.size(), kWireNameBytes - 1), result.begin());
  return result;
}

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

std::string_view name_of(Answer answer) noexcept {
  constexpr std::array<std::string_view, 4> kNames = {"granted", "invalid parameter",
                                                      "not supported", "insufficient resources"};
  return kNames.at(static_cast<std::size_t>(answer));
}

std::string_view name_of(Reason reason) noexcept {
  constexpr std::array<std::string_view, 11> kNames = {
      "none",      "malformed", "no-pmu",      "no-such-thing", "never-fits", "taken",
      "whole-pmu", "foreign",   "cpu-offline", "quota",         "too-hard"};
  return kNames.at(static_cast<std::size_t>(reason));
}

std::optional<PmuIndex> Machine::pmu_on(std::uint32_t cpu) const noexcept {
  for (std::size_t i = 0; i < topology.pmus.size(); ++i) {
    if (topology.pmus[i].cpus.contains(cpu)) return static_cast<PmuIndex>(i);
  }
  return std::nullopt;
}

bool conflict(const UnitRule& one, const UnitRule& other) noexcept {
  const auto names = [](const UnitRule& rule, const std::string& name) {
    return std::find(rule.conflicts.begin(), rule.conflicts.end(), name) != rule.conflicts.end();
  };
  return one.pmu == other.pmu && (names(one, other.name) || names(other, one.name));
}

tl::expected<Plan, Decision> plan_for(const Request& request, const Machine& machine) {
  if (!request.has_handle) return tl::make_unexpected(malformed("no place for the handle"));
  if (!is_terminated(request.pmu)) {
    return tl::make_unexpected(malformed("the name of the PMU has no end"));
  }
  if (Refused fault = fault_of_groups(request, machine)) {
    return tl::make_unexpected(std::move(*fault));
  }
  if (Refused fault = fault_of_items(request)) return tl::make_unexpected(std::move(*fault));

  auto parts = parts_of(request, machine);
  if (!parts) return tl::make_unexpected(std::move(parts.error()));
  Plan plan{.parts = std::move(*parts), .tag = {}};
  for (PmuDemand& part : plan.parts) {
    PartWriter writer(machine.topology, part);
    for (std::uint32_t i = 0; i < request.items.size(); ++i) {
      Refused fault = writer.add(request.items[i]);
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
  for (const PmuDemand& part : plan.parts) {
    for (const std::uint32_t cpu : part.cpus.numbers()) {
      if (machine.online.contains(cpu)) continue;
      Decision decision;
      decision.answer = Answer::kInsufficientResources;
      decision.reason = Reason::kCpuOffline;
      decision.cpu = cpu;
      decision.sentence = fmt::format("CPU {} is offline", cpu);
      return tl::make_unexpected(std::move(decision));
    }
  }
  return plan;
}

}  // namespace meterbank::arbiter
