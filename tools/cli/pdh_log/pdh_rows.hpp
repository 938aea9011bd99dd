// SPDX-License-Identifier: Apache-2.0
//
// Cooked rows as a PDH text log: a record a sample, a column a row of the first sample.
#pragma once

#include <memory>

#include "cli/format/row_writer.hpp"

namespace meterbank::cli {

// The columns are those of the first sample and stay so: what comes later is left out, what goes
// is blank until it is back. Values are in the units that the counters' names speak of.
[[nodiscard]] std::unique_ptr<RowWriter> make_pdh_writer(const RowStyle& style);

}  // namespace meterbank::cli
