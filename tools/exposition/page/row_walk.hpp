// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "exposition/page/page_options.hpp"
#include "exposition/snapshot/snapshot.hpp"

namespace meterbank::exposition {

// The rows of one family that are on a page, and hold values.
class RowWalk {
 public:
  RowWalk(const Snapshot& snapshot, const PageOptions& options, const PageFamily& family) noexcept
      : snapshot_(&snapshot), options_(&options), family_(&family) {}

  // To the first row, then to the next one. False: there is none.
  bool next() noexcept;

  [[nodiscard]] const PageFamily& family() const noexcept { return *family_; }
  [[nodiscard]] const FamilyPart& part() const noexcept { return family_->parts[part_]; }
  [[nodiscard]] const RowBlock& block() const noexcept {
    return snapshot_->layout->blocks[part().block];
  }
  [[nodiscard]] std::size_t row() const noexcept { return row_; }  // in the block
  [[nodiscard]] StoredRow stored() const noexcept {
    return snapshot_->sample.stored(block().first_row + row_);
  }
  [[nodiscard]] const Timestamp& time() const noexcept { return snapshot_->sample.time; }

 private:
  const Snapshot* snapshot_;
  const PageOptions* options_;
  const PageFamily* family_;
  std::size_t part_ = 0;
  std::size_t row_ = 0;
  std::size_t next_row_ = 0;
};

}  // namespace meterbank::exposition
