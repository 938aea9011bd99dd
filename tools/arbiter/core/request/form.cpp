// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/request/form.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>

namespace meterbank::arbiter {
namespace {

using Refused = std::optional<Decision>;

constexpr std::uint32_t kExcludesBoth = pmu::kItemExcludesUser | pmu::kItemExcludesKernel;
constexpr std::uint32_t kEventFlags = kExcludesBoth | pmu::kItemInherits;

[[nodiscard]] Decision malformed(std::string sentence, std::optional<std::uint32_t> item = {}) {
  Decision decision;
  decision.answer = Answer::kInvalidParameter;
  decision.reason = Reason::kMalformed;
  decision.item = item;
  decision.sentence = std::move(sentence);
  return decision;
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
  if (!is_event(item) && item.flags != 0) {
    return fmt::format("flags are {:#x}, not zero", item.flags);
  }
  if ((item.flags & ~kEventFlags) != 0) {
    return fmt::format("there are no flags {:#x} of an event", item.flags & ~kEventFlags);
  }
  if ((item.flags & kExcludesBoth) == kExcludesBoth) {
    return "the event excludes both user and kernel";
  }
  if (kind_of(item) == ItemKind::kRange && item.begin > item.end) {
    return fmt::format("the range begins at {} and ends before, at {}", item.begin, item.end);
  }
  if (kind_of(item) == ItemKind::kEventBuffer && item.entry_size != 0) {
    return fmt::format("the size of an event buffer's entry is {}, not zero", item.entry_size);
  }
  if (has_name(item) && (!is_terminated(item.name) || text_of(item.name).empty())) {
    return "the name is empty or not NUL-terminated";
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

[[nodiscard]] Refused fault_of_task(const Request& request) {
  if (request.task == 0) {
    for (std::uint32_t i = 0; i < request.items.size(); ++i) {
      if ((request.items[i].flags & pmu::kItemInherits) == 0) continue;
      return malformed(fmt::format("item {}: CPUs start nothing that could inherit it", i), i);
    }
    return std::nullopt;
  }
  if (request.has_groups) return malformed("counters of a task are not of CPUs");
  if (!request.has_items) return malformed("a task cannot have a whole PMU");
  for (std::uint32_t i = 0; i < request.items.size(); ++i) {
    const Item& item = request.items[i];
    if (!takes_counters(item) || is_event(item) || kind_of(item) == ItemKind::kClass) continue;
    return malformed(
        fmt::format("item {}: counters of a task are asked for by events or classes", i), i);
  }
  return std::nullopt;
}

}  // namespace

std::optional<Decision> fault_of_form(const Request& request, const Machine& machine) {
  if (!request.has_handle) return malformed("no place for the handle");
  if (!is_terminated(request.pmu)) return malformed("the name of the PMU is not NUL-terminated");
  if (Refused fault = fault_of_groups(request, machine)) return fault;
  if (Refused fault = fault_of_items(request)) return fault;
  return fault_of_task(request);
}

}  // namespace meterbank::arbiter
