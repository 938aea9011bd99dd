// SPDX-License-Identifier: Apache-2.0
//
// A distribution as a member of a JSON object.
#pragma once

#include "cli/format/json.hpp"
#include "cli/format/row_writer.hpp"

namespace meterbank::cli {

// "distribution":{"unit":"s","count":18402,...} with the style's percentiles and, where it asks for
// histograms, the buckets that hold something. Precondition: the row has one.
void write_distribution(const Value& row, const RowStyle& style, JsonWriter& json);

}  // namespace meterbank::cli
