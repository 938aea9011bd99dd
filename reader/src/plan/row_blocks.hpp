// SPDX-License-Identifier: Apache-2.0
//
// The addresses of the blocks of consecutive rows of one selection. They are computed and not
// stored: a row of a plan has 8 bytes, its addresses would have 56.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "query_plan.hpp"

namespace meterbank {

// The block of the instance's slot.
[[nodiscard]] inline BlockParts<const SharedWord> block_in(std::span<const QueryPlan::Group> groups,
                                                           const RegisteredSet& set,
                                                           const InstanceView& instance) noexcept {
  // A plan has rows only for slots that are in a group.
  const auto next = std::upper_bound(
      groups.begin() + 1, groups.end(), instance.slot,
      [](std::uint32_t slot, const QueryPlan::Group& group) { return slot < group.first_slot; });
  const auto index = static_cast<std::size_t>(next - groups.begin() - 1);
  return block_parts(groups[index].memory, set.set->form, set.layouts[index],
                     instance.slot - groups[index].first_slot);
}

class RowBlocks {
 public:
  RowBlocks(std::span<const QueryPlan::Group> groups, const RegisteredSet& set,
            const QueryPlan::Row* rows) noexcept
      : groups_(groups), set_(&set), rows_(rows) {}
  // Of the rows of the plan from `first_row` on, which is one of the selection.
  RowBlocks(const QueryPlan& plan, const QueryPlan::Selection& selection,
            std::size_t first_row) noexcept
      : RowBlocks(*selection.groups, *selection.set, plan.rows.data() + first_row) {}

  [[nodiscard]] std::size_t words() const noexcept { return set_->set->form.words; }
  [[nodiscard]] const InstanceView& instance(std::size_t row) const noexcept {
    return set_->instances[rows_[row].instance];
  }
  [[nodiscard]] BlockParts<const SharedWord> operator[](std::size_t row) const noexcept {
    return block_in(groups_, *set_, instance(row));
  }
  [[nodiscard]] RowBlocks from(std::size_t row) const noexcept {
    return {groups_, *set_, rows_ + row};
  }

 private:
  std::span<const QueryPlan::Group> groups_;
  const RegisteredSet* set_;
  const QueryPlan::Row* rows_;
};

}  // namespace meterbank
