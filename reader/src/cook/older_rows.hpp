// SPDX-License-Identifier: Apache-2.0
//
// Finds the rows of an older sample that belong to rows of a newer one. The same slot can be in a
// plan more than once, with other counters; its values are the same then.
#pragma once

#include <cstddef>
#include <vector>

#include "../plan/query_plan.hpp"

namespace meterbank {

class OlderRows {
 public:
  // `older` may be null. Allocates if the plans differ.
  void pair(const SampleContent* older, const SampleContent& newer);

  // Finds the row that the older sample has of the same slot, whichever life the slot is in.
  // Returns false if the older sample has no values of it. `newer` is the place of the row `row`.
  [[nodiscard]] bool find(const RowPlace& newer, std::size_t row,
                          std::size_t& found) const noexcept;

 private:
  [[nodiscard]] bool find_slot(const RowPlace& newer, std::size_t& found) const noexcept;

  const SampleContent* older_ = nullptr;
  bool same_plan_ = false;
  // For each selection of the newer plan, those of the older one that have rows of the same slots.
  std::vector<std::vector<const QueryPlan::Selection*>> selections_;
};

}  // namespace meterbank
