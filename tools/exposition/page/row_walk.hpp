// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "exposition/page/row_selection.hpp"
#include "exposition/snapshot/snapshot.hpp"

namespace meterbank::exposition {

// Whether a row has values to show. Rows of providers that have ended are missing: a scraper marks
// their series as stale.
[[nodiscard]] constexpr bool is_shown(RowStatus status) noexcept {
  return holds_values(status) && status != RowStatus::kDead;
}

// The rows of one family that are on a page, and hold values.
class RowWalk {
 public:
  RowWalk(const Snapshot& snapshot, const RowSelection& selection,
          const PageFamily& family) noexcept
      : RowWalk(snapshot, selection, family, family.parts) {}
  // Only these parts of it.
  RowWalk(const Snapshot& snapshot, const RowSelection& selection, const PageFamily& family,
          std::span<const FamilyPart> parts) noexcept
      : snapshot_(&snapshot),
        selection_(&selection),
        family_(&family),
        parts_(parts),
        statuses_(snapshot.sample.statuses()) {}

  // To the first row, then to the next one. False: there is none.
  bool next() noexcept {
    while (true) {
      while (next_row_ < rows_) {
        row_ = next_row_++;
        if (has_row()) return true;
      }
      if (!next_part()) return false;
    }
  }

  [[nodiscard]] const PageFamily& family() const noexcept { return *family_; }
  [[nodiscard]] const FamilyPart& part() const noexcept { return *part_; }
  // Each value of the part is one number, which is a word of its row.
  [[nodiscard]] bool is_plain() const noexcept { return is_plain_; }
  [[nodiscard]] const RowBlock& block() const noexcept { return *block_; }
  [[nodiscard]] std::size_t row() const noexcept { return row_; }  // in the block
  [[nodiscard]] const std::string& labels() const noexcept { return block_->texts[row_]; }
  [[nodiscard]] StoredRow stored() const noexcept {
    return snapshot_->sample.stored(block_->first_row + row_);
  }
  [[nodiscard]] const Timestamp& time() const noexcept { return snapshot_->sample.time; }

 private:
  [[nodiscard]] bool has_row() const noexcept {
    return is_shown(statuses_[block_->first_row + row_]) && (*selected_)[row_];
  }
  bool next_part() noexcept;

  const Snapshot* snapshot_;
  const RowSelection* selection_;
  const PageFamily* family_;
  std::span<const FamilyPart> parts_;
  std::span<const RowStatus> statuses_;
  const FamilyPart* part_ = nullptr;
  const RowBlock* block_ = nullptr;
  const std::vector<bool>* selected_ = nullptr;  // rows of block_
  bool is_plain_ = false;
  std::size_t next_part_ = 0;
  std::size_t row_ = 0, next_row_ = 0, rows_ = 0;
};

}  // namespace meterbank::exposition
