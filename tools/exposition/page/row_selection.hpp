// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "exposition/page/page_layout.hpp"
#include "exposition/page/page_options.hpp"

namespace meterbank::exposition {

// The rows of a layout that a page asks for. Made once a page, because matching patterns against
// every row may take longer than all of the rest.
class RowSelection {
 public:
  // Cost: the patterns times the rows; see glob.hpp for one of each. Throws std::bad_alloc.
  RowSelection(const PageLayout& layout, const PageOptions& options);

  // One bit a row of the block; empty if the page has none of its rows.
  [[nodiscard]] const std::vector<bool>& rows_of(std::size_t block) const noexcept {
    return blocks_[block];
  }

 private:
  std::vector<std::vector<bool>> blocks_;
};

}  // namespace meterbank::exposition
