// SPDX-License-Identifier: Apache-2.0
#include "exposition/page/row_selection.hpp"

namespace meterbank::exposition {

RowSelection::RowSelection(const PageLayout& layout, const PageOptions& options)
    : blocks_(layout.blocks.size()) {
  for (std::size_t index = 0; index < blocks_.size(); ++index) {
    const RowBlock& block = layout.blocks[index];
    const bool is_now = options.sequence == nullptr || options.sequence->has(index);
    if (!is_now || !options.has(block)) continue;
    std::vector<bool>& rows = blocks_[index];
    rows.resize(block.rows(), true);
    if (options.has_all(block)) continue;
    for (std::size_t row = 0; row < rows.size(); ++row) rows[row] = options.has(block, row);
  }
}

}  // namespace meterbank::exposition
