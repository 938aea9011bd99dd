// SPDX-License-Identifier: Apache-2.0
//
// What one registration contributes to a plan. Each part is compiled for itself, so that a change
// of one registration costs the work of one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "../query_request.hpp"
#include "unplaced_selection.hpp"

namespace meterbank {

// Immutable. The order of selections in a plan is that in which they were asked for, then that of
// the catalog.
struct PlanPart {
  struct Asked {
    std::shared_ptr<const UnplacedSelection> selection;
    std::size_t first = 0;  // the first pattern or item that selected some of it
  };
  // Rows of selections.front().
  struct ItemRows {
    std::vector<std::uint32_t> rows;
    std::vector<std::uint32_t> summed;
  };

  std::vector<Asked> selections;
  std::vector<bool> found;   // a pattern each
  bool is_left_out = false;  // rows would be in a total if the provider were trusted
  // Items that differ in the counter alone share their rows; null: not of this set.
  std::vector<std::shared_ptr<const ItemRows>> items;  // an item each; empty: the set is no item's
};

// Of patterns with a number, by their index: the instances that are meant. Which these are depends
// on all registrations.
using Numbered = std::map<std::size_t, std::vector<std::uint32_t>>;

// `before`: of the same registration, of which nothing but instances has changed since; may be
// null.
[[nodiscard]] std::shared_ptr<const PlanPart> part_of_patterns(const QueryRequest& request,
                                                               const Numbered& numbered,
                                                               const ProviderView& provider,
                                                               const RegisteredSet& set,
                                                               const PlanPart* before);

[[nodiscard]] std::shared_ptr<const PlanPart> part_of_items(const QueryRequest& request,
                                                            const ProviderView& provider,
                                                            const RegisteredSet& set);

}  // namespace meterbank
