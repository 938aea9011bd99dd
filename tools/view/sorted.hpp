// SPDX-License-Identifier: Apache-2.0
//
// The order of a list that is a whole in memory, by the heading that a place names.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "view/board_state.hpp"

namespace meterbank::view {

using SortValue = std::variant<std::string, double>;

// Names from A to Z, numbers with the largest first; those that have none last.
[[nodiscard]] inline bool is_before(const SortValue& a, const SortValue& b, bool is_reversed) {
  if (const auto* const name = std::get_if<std::string>(&a)) {
    const int order = compare_names(*name, std::get<std::string>(b));
    return is_reversed ? order > 0 : order < 0;
  }
  const double one = std::get<double>(a), other = std::get<double>(b);
  if (std::isnan(one) || std::isnan(other)) return !std::isnan(one) && std::isnan(other);
  return is_reversed ? one < other : one > other;
}

// Leaves the order as it is where no column has the heading. `value_of(item, column)` is a name or
// a number for all items of a column.
template <typename Item, typename ValueOf>
void sort_by_heading(std::vector<Item>& items, const std::vector<Column>& columns,
                     const Place& place, ValueOf value_of) {
  const auto found = std::find_if(columns.begin(), columns.end(), [&](const Column& column) {
    return column.heading == place.sort;
  });
  if (place.sort.empty() || found == columns.end()) return;
  const auto column = static_cast<std::size_t>(found - columns.begin());
  std::vector<std::pair<SortValue, Item>> keyed;
  keyed.reserve(items.size());
  for (Item& item : items) {
    SortValue value = value_of(std::as_const(item), column);
    keyed.emplace_back(std::move(value), std::move(item));
  }
  std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
    return is_before(a.first, b.first, place.ascending);
  });
  std::transform(keyed.begin(), keyed.end(), items.begin(),
                 [](auto& one) { return std::move(one.second); });
}

}  // namespace meterbank::view
