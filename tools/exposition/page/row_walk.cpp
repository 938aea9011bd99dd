// SPDX-License-Identifier: Apache-2.0
#include "exposition/page/row_walk.hpp"

namespace meterbank::exposition {

bool RowWalk::next_part() noexcept {
  rows_ = 0;
  if (next_part_ == parts_.size()) return false;
  part_ = &parts_[next_part_++];
  block_ = &snapshot_->layout->blocks[part_->block];
  selected_ = &selection_->rows_of(part_->block);
  is_plain_ = is_number(family_->type) && part_->value.is_plain();
  next_row_ = 0;
  rows_ = selected_->size();
  return true;
}

}  // namespace meterbank::exposition
