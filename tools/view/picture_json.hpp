// SPDX-License-Identifier: Apache-2.0
//
// The parts of a picture as values of JSON, for those who write some of them only.
#pragma once

#include <cstdint>
#include <span>

#include "cli/format/json.hpp"
#include "view/picture.hpp"

namespace meterbank::view {

// Milliseconds with a fraction: what the clocks of a browser and of plots count in.
void write_moment(cli::JsonWriter& json, std::uint64_t realtime_ns);
void write_moments(cli::JsonWriter& json, std::span<const std::uint64_t> times_ns);
void write_texts(cli::JsonWriter& json, const std::vector<std::string>& texts);
void write_crumbs(cli::JsonWriter& json, const std::vector<Crumb>& crumbs);
void write_columns(cli::JsonWriter& json, const std::vector<Column>& columns);
void write_cell(cli::JsonWriter& json, const Cell& cell);
// Members of the object that is open, but for the trend of the line.
void write_line_members(cli::JsonWriter& json, const Line& line);
// The columns from `first` on.
void write_counts(cli::JsonWriter& json, const HeatColumns& columns, std::size_t first);
void write_percentiles(cli::JsonWriter& json, const Histogram& histogram);
void write_numbers(cli::JsonWriter& json, std::span<const double> values);

}  // namespace meterbank::view
