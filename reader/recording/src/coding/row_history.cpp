// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "meterbank/recording/row_coder.hpp"

namespace meterbank::recording {

RowHistory::RowHistory(std::size_t words)
    : last_(words), words_(words), groups_((words + kGroup - 1) / kGroup) {}

void RowHistory::reset() noexcept {
  std::ranges::fill(last_, 0);
  std::ranges::fill(words_, Word());
  std::ranges::fill(groups_, std::uint8_t{0});
  changes_ = 0;
}

}  // namespace meterbank::recording
