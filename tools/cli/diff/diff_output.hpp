// SPDX-License-Identifier: Apache-2.0
//
// What a comparison found, for people and for programs.
#pragma once

#include <cstdint>
#include <string>

#include "cli/format/row_writer.hpp"
#include "compare/comparison.hpp"

namespace meterbank::cli {

// A range of a recording that was read.
struct DiffSide {
  std::string path;
  std::uint64_t from_ns = 0, to_ns = 0;  // of the first and the last sample
  compare::Observation observation;
};

[[nodiscard]] std::string diff_as_text(const DiffSide& a, const DiffSide& b,
                                       const compare::Comparison& found, bool all,
                                       const RowStyle& style);
[[nodiscard]] std::string diff_as_json(const DiffSide& a, const DiffSide& b,
                                       const compare::Comparison& found, bool all);

// "412 compared, 3 changed, 20 could not be compared: 12 too few samples, 8 only in A"
[[nodiscard]] std::string diff_counts(const compare::Comparison& found);

}  // namespace meterbank::cli
