// SPDX-License-Identifier: Apache-2.0
//
// Rows as lines of fields: plain, tsv and csv.
#pragma once

#include <memory>

#include "cli/format/row_writer.hpp"

namespace meterbank::cli {

[[nodiscard]] std::unique_ptr<RowWriter> make_line_writer(const RowStyle& style);

}  // namespace meterbank::cli
