// SPDX-License-Identifier: Apache-2.0
//
// What a path means among the sets of a catalog, and what there is to name.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/reader/item_query.hpp"
#include "path_elements.hpp"

namespace meterbank::pdh {

// A set by its name, as the first provider in the order of comes_before() describes it.
using FoundSet = std::shared_ptr<const Counterset>;

// Null: no readable provider has it.
[[nodiscard]] FoundSet find_set(const Catalog& catalog, std::string_view name);
// One of each name, in the order of the names.
[[nodiscard]] std::vector<FoundSet> all_sets(const Catalog& catalog);

// The name, or the symbol of what has none.
[[nodiscard]] const std::string& shown_name(const Counterset& set) noexcept;
[[nodiscard]] const std::string& shown_name(const CounterView& counter) noexcept;
// Texts are no counters for programs that know numbers only.
[[nodiscard]] bool is_counter(const CounterView& counter) noexcept;

// The rows of a set as programs see them, one after the other: not those of providers that have
// ended, nor a row that a provider calls like the total that the reader makes.
[[nodiscard]] bool is_shown(const Row& row) noexcept;
// Names of all instances of a set in the order in which they are collected. Asks providers that
// compute them, up to 1 s.
[[nodiscard]] std::vector<std::string> instance_names(const Catalog& catalog,
                                                      const Counterset& set);
// The same, each once: the second of a name is `name#1`.
[[nodiscard]] std::vector<std::string> numbered_names(const std::vector<std::string>& names);

// What a query collects for a counter.
struct FoundCounter {
  FoundSet set;
  const CounterView* counter = nullptr;  // in *set
  QueryItem item;
  bool is_wildcard = false;
  std::optional<std::uint32_t> index;  // of several rows of one name; nothing: all of them
  std::vector<std::size_t> columns;    // of a log, in place of an item
};

// ERROR_SUCCESS, or what is wrong with the path. The instance need not exist.
[[nodiscard]] PDH_STATUS find_counter(const Catalog& catalog, const PathElements& path,
                                      FoundCounter& found);
// Whether the instance exists now.
[[nodiscard]] bool has_instance(const Catalog& catalog, const FoundCounter& found);

}  // namespace meterbank::pdh
