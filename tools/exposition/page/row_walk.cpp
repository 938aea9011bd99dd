// SPDX-License-Identifier: Apache-2.0
#include "exposition/page/row_walk.hpp"

namespace meterbank::exposition {

bool RowWalk::next() noexcept {
  const auto statuses = snapshot_->sample.statuses();
  for (; part_ < family_->parts.size(); ++part_, next_row_ = 0) {
    const RowBlock& shown = block();
    if (next_row_ == 0 && !options_->has(shown)) continue;
    while (next_row_ < shown.rows()) {
      row_ = next_row_++;
      const RowStatus status = statuses[shown.first_row + row_];
      // Rows of providers that have ended are missing: a scraper marks their series as stale.
      const bool is_current = holds_values(status) && status != RowStatus::kDead;
      if (is_current && options_->has(shown, row_)) return true;
    }
  }
  return false;
}

}  // namespace meterbank::exposition
