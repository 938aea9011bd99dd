// SPDX-License-Identifier: Apache-2.0
//
// Rows as JSON: one object a sample (jsonl), or one document whose rows carry their time (json).
// Both have the same members, so what reads one reads the other.
#pragma once

#include <memory>

#include "cli/format/row_writer.hpp"

namespace meterbank::cli {

[[nodiscard]] std::unique_ptr<RowWriter> make_json_writer(const RowStyle& style);

}  // namespace meterbank::cli
