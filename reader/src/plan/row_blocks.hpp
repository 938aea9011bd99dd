// SPDX-License-Identifier: Apache-2.0
//
// The addresses of the blocks of consecutive rows. They are computed and not stored: a row of a
// plan has 2 bytes, its addresses would have 56.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "../catalog/memory/recorded_rows.hpp"
#include "query_plan.hpp"

namespace meterbank {

// Which group has the place of a row.
[[nodiscard]] inline std::size_t group_with(std::span<const QueryPlan::Group> groups,
                                            std::uint32_t place) noexcept {
  // A plan has rows only for slots that are in a group.
  const auto next = std::upper_bound(
      groups.begin() + 1, groups.end(), place,
      [](std::uint32_t slot, const QueryPlan::Group& group) { return slot < group.first_slot; });
  return static_cast<std::size_t>(next - groups.begin() - 1);
}

// Where the block of a row is, counted through the groups.
[[nodiscard]] inline std::uint32_t place_of(const RegisteredSet& set,
                                            const QueryPlan::PieceRows& rows,
                                            std::size_t row) noexcept {
  return set.recorded == nullptr ? rows.instance(row).slot : set.recorded->places[rows.index(row)];
}

// The blocks of consecutive rows of one part of a selection.
class RowBlocks {
 public:
  RowBlocks(std::span<const QueryPlan::Group> groups, const RegisteredSet& set,
            const QueryPlan::PieceRows& rows, std::size_t first_row) noexcept
      : groups_(groups), set_(&set), rows_(&rows), first_row_(first_row) {}
  RowBlocks(const QueryPlan::Selection& selection, const QueryPlan::PieceRows& rows,
            std::size_t first_row) noexcept
      : RowBlocks(*selection.groups, *selection.set, rows, first_row) {}

  [[nodiscard]] std::size_t words() const noexcept { return set_->set->form.words; }
  [[nodiscard]] const InstanceView& instance(std::size_t row) const noexcept {
    return rows_->instance(first_row_ + row);
  }
  [[nodiscard]] BlockParts<const SharedWord> operator[](std::size_t row) const noexcept {
    const std::uint32_t place = place_of(*set_, *rows_, first_row_ + row);
    const std::size_t index = group_with(groups_, place);
    return block_parts(groups_[index].memory, form_of(*set_), set_->layouts[index],
                       place - groups_[index].first_slot);
  }
  // What a recording says of the row. Precondition: the set is of one.
  [[nodiscard]] const SharedWord& recorded(std::size_t row) const noexcept {
    const std::uint32_t place = place_of(*set_, *rows_, first_row_ + row);
    const std::size_t index = group_with(groups_, place);
    const std::byte* const own = groups_[index].memory + set_->layouts[index].descriptors;
    return reinterpret_cast<const SharedWord*>(own)[place - groups_[index].first_slot];
  }
  [[nodiscard]] RowBlocks from(std::size_t row) const noexcept {
    return {groups_, *set_, *rows_, first_row_ + row};
  }

 private:
  std::span<const QueryPlan::Group> groups_;
  const RegisteredSet* set_;
  const QueryPlan::PieceRows* rows_;
  std::size_t first_row_;
};

// The blocks of the rows of a run. Where its slots are consecutive, addresses follow from the first
// block, and what is known of the row is not read: with many rows that costs more than the block.
// block_parts() for each of them would make a row of a cut take 17 ns, not 5.
class RunBlocks {
 public:
  // Precondition: the selection is not sharded.
  RunBlocks(const QueryPlan::Selection& selection, const QueryPlan::PieceRows& rows,
            const QueryPlan::Run& run) noexcept
      : rows_(selection, rows, run.first_row),
        first_(rows_[0]),
        kind_(run.kind),
        head_words_(run.head_words),
        checkpoint_words_(form_of(*selection.set).checkpoint_stride() / sizeof(SharedWord)) {
    const std::uint64_t second = form_of(*selection.set).second_stride();
    second_words_ = second != 0 ? second / sizeof(SharedWord) : head_words_;
  }

  [[nodiscard]] BlockParts<const SharedWord> operator[](std::size_t row) const noexcept {
    if (kind_ == QueryPlan::Run::Kind::kScattered) return rows_[row];
    const bool is_tile = kind_ == QueryPlan::Run::Kind::kTiles;
    const std::size_t head = is_tile ? row / kTileLanes : row;
    const std::size_t lane = is_tile ? row % kTileLanes : 0;
    BlockParts<const SharedWord> block = first_;
    block.seq += head * head_words_ + lane;
    block.slot += head * head_words_ + lane;
    block.copy0 += head * head_words_ + lane * block.words;
    block.copy1 += head * second_words_ + lane * block.words;
    if (block.checkpoint != nullptr) block.checkpoint += row * checkpoint_words_;
    if (block.cut != nullptr) block.cut += row * checkpoint_words_;
    return block;
  }

 private:
  static constexpr std::size_t kTileLanes = 8;

  RowBlocks rows_;
  BlockParts<const SharedWord> first_;
  QueryPlan::Run::Kind kind_;
  std::size_t head_words_, second_words_ = 0, checkpoint_words_;  // from one to the next
};

}  // namespace meterbank
