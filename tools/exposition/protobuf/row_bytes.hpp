// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace meterbank::exposition {

// Encoded bytes for each row of a block, one row behind the other.
class RowBytes {
 public:
  void reserve(std::size_t rows) { ends_.reserve(rows); }
  // What is appended until end_row() belongs to the next row.
  [[nodiscard]] std::string& bytes() noexcept { return bytes_; }
  void end_row() { ends_.push_back(bytes_.size()); }

  [[nodiscard]] bool empty() const noexcept { return ends_.empty(); }
  [[nodiscard]] std::string_view of(std::size_t row) const noexcept {
    const std::size_t begin = row == 0 ? 0 : ends_[row - 1];
    return std::string_view(bytes_).substr(begin, ends_[row] - begin);
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;  // of each row, in bytes_
};

}  // namespace meterbank::exposition
