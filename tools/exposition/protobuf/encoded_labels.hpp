// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "exposition/page/page_layout.hpp"
#include "exposition/protobuf/row_bytes.hpp"

namespace meterbank::exposition {

// Appends one LabelPair of a Metric, with its tag and length.
void append_label_pair(std::string& metric, std::string_view name, std::string_view value);

// The label pairs of each row of a block, as a Metric message begins with. They are the same in
// every family of the block's set.
[[nodiscard]] RowBytes encode_labels(const RowBlock& block);

}  // namespace meterbank::exposition
