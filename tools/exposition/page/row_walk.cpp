// SPDX-License-Identifier: Apache-2.0
#include "exposition/page/row_walk.hpp"

namespace meterbank::exposition {

bool RowWalk::next_part() noexcept {
  while (next_part_ < family_->parts.size()) {
    part_ = &family_->parts[next_part_++];
    block_ = &snapshot_->layout->blocks[part_->block];
    if (!options_->has(*block_)) continue;
    is_plain_ = is_number(family_->type) && part_->value.is_plain();
    next_row_ = 0;
    rows_ = block_->rows();
    return true;
  }
  rows_ = 0;
  return false;
}

}  // namespace meterbank::exposition
