// SPDX-License-Identifier: Apache-2.0
//
// Distributions of a picture: how they lay over time, and the newest one.
#pragma once

#include "cli/watch/draw/drawing.hpp"
#include "cli/watch/draw/graph/time_columns.hpp"

namespace meterbank::cli {

// A title, two rows of cells, and the axis of time.
inline constexpr std::size_t kHeatLinesMin = 4;

// Time from left to right, values upwards; the brighter, the more values. With 256 colours half a
// cell is a point, otherwise a cell, in shades or letters.
void draw_heat_map(Drawing& drawing, const Rect& rect, const view::HeatMap& heat,
                   const TimeMarks& marks, const DrawingStyle& style);

// A bar a bucket; neighbours share one where there is no room for each.
void draw_histogram(Grid& grid, const Rect& rect, const view::Histogram& histogram,
                    const DrawingStyle& style);

// One line: "p50 112 µs  p99 1.27 ms".
void draw_percentiles(Grid& grid, const Rect& rect, const view::Histogram& histogram);

}  // namespace meterbank::cli
