// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "exposition/page/page_layout.hpp"
#include "push/otlp/otlp_fields.hpp"

namespace meterbank::push::otlp {

// Appends one KeyValue as field `tag` of a message.
void append_attribute(std::string& message, Tag tag, std::string_view key, std::string_view value);
void append_attribute(std::string& message, Tag tag, std::string_view key, std::int64_t value);

// The attributes that tell the rows of a block apart, as field `tag` of a point. What all rows of a
// provider have in common is in its resource.
class RowAttributes {
 public:
  RowAttributes() = default;
  RowAttributes(const exposition::RowBlock& block, Tag tag);

  [[nodiscard]] bool empty() const noexcept { return ends_.empty(); }
  [[nodiscard]] std::string_view of(std::size_t row) const noexcept {
    const std::size_t begin = row == 0 ? 0 : ends_[row - 1];
    return std::string_view(bytes_).substr(begin, ends_[row] - begin);
  }

 private:
  std::string bytes_;
  std::vector<std::size_t> ends_;  // one a row, in bytes_
};

}  // namespace meterbank::push::otlp
