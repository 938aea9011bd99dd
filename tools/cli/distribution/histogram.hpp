// SPDX-License-Identifier: Apache-2.0
//
// A distribution as a picture for people.
#pragma once

#include <string>

#include "cli/format/row_writer.hpp"

namespace meterbank::cli {

// A line of numbers, then a bar for each range of values: at most 20 of them, each two, four ...
// neighbouring buckets where those are more, and one each for what lies below and above all
// buckets. Empty if the row is not of a distribution.
[[nodiscard]] std::string histogram_text(const Value& row, double interval_s,
                                         const RowStyle& style);

}  // namespace meterbank::cli
