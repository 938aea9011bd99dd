// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "exposition/page/page_layout.hpp"

namespace meterbank::exposition {

// Appends one LabelPair of a Metric, with its tag and length.
void append_label_pair(std::string& metric, std::string_view name, std::string_view value);

// The label pairs of each row of a block, as a Metric message begins with. They are the same in
// every family of the block's set.
class EncodedLabels {
 public:
  EncodedLabels() = default;
  explicit EncodedLabels(const RowBlock& block);

  [[nodiscard]] bool empty() const noexcept { return ends_.empty(); }
  [[nodiscard]] std::string_view of(std::size_t row) const noexcept {
    const std::size_t begin = row == 0 ? 0 : ends_[row - 1];
    return std::string_view(bytes_).substr(begin, ends_[row] - begin);
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;  // one a row, in bytes_
};

}  // namespace meterbank::exposition
