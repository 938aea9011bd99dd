// SPDX-License-Identifier: Apache-2.0
//
// Which of a picture's plots, heat map, histogram and percentiles are shown, and where.
#pragma once

#include "cli/watch/draw/drawing.hpp"
#include "cli/watch/draw/graph/time_columns.hpp"

namespace meterbank::cli {

[[nodiscard]] bool has_graphs_of(const view::Picture& picture) noexcept;

void draw_graphs(Drawing& drawing, const Rect& rect, const view::Picture& picture,
                 const TimeMarks& marks, const DrawingStyle& style);

}  // namespace meterbank::cli
