// SPDX-License-Identifier: Apache-2.0
//
// What can be said of a request before it is known what it is about: the kinds of its items, and
// the faults that make it malformed on any machine with these CPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "arbiter/core/request.hpp"

namespace meterbank::arbiter {

[[nodiscard]] inline ItemKind kind_of(const Item& item) noexcept {
  return static_cast<ItemKind>(item.kind);
}

[[nodiscard]] inline bool names_indexes(const Item& item) noexcept {
  return kind_of(item) == ItemKind::kSingle || kind_of(item) == ItemKind::kRange;
}

[[nodiscard]] inline bool takes_counters(const Item& item) noexcept {
  const ItemKind kind = kind_of(item);
  return names_indexes(item) || kind == ItemKind::kEvent || kind == ItemKind::kClass ||
         kind == ItemKind::kBlock || kind == ItemKind::kNamedEvent;
}

[[nodiscard]] inline bool is_event(const Item& item) noexcept {
  return kind_of(item) == ItemKind::kEvent || kind_of(item) == ItemKind::kNamedEvent;
}

[[nodiscard]] inline bool has_name(const Item& item) noexcept {
  const ItemKind kind = kind_of(item);
  return kind == ItemKind::kClass || kind == ItemKind::kBlock || kind == ItemKind::kUnit ||
         kind == ItemKind::kExtra || kind == ItemKind::kNamedEvent;
}

[[nodiscard]] inline bool has_count(const Item& item) noexcept {
  const ItemKind kind = kind_of(item);
  return kind == ItemKind::kEvent || kind == ItemKind::kClass || kind == ItemKind::kBlock ||
         kind == ItemKind::kUnit;
}

[[nodiscard]] inline bool is_known(const Item& item) noexcept {
  return item.kind <= static_cast<std::uint32_t>(ItemKind::kIdentificationTag) ||
         (item.kind >= static_cast<std::uint32_t>(ItemKind::kEvent) &&
          item.kind <= static_cast<std::uint32_t>(ItemKind::kNamedEvent));
}

[[nodiscard]] inline std::uint32_t last_index(const Item& item) noexcept {
  return kind_of(item) == ItemKind::kRange ? item.end : item.begin;
}

[[nodiscard]] inline std::string_view unit_name(const Item& item) noexcept {
  return kind_of(item) == ItemKind::kEventBuffer ? kEventBufferUnit : text_of(item.name);
}

[[nodiscard]] inline bool is_unit(const Item& item) noexcept {
  return kind_of(item) == ItemKind::kEventBuffer || kind_of(item) == ItemKind::kUnit;
}

// The first fault. In this order: handle, name of the PMU, groups, items, task.
[[nodiscard]] std::optional<Decision> fault_of_form(const Request& request, const Machine& machine);

}  // namespace meterbank::arbiter
