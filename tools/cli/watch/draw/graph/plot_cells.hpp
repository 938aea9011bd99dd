// SPDX-License-Identifier: Apache-2.0
//
// A plot of a picture: dots of braille, two by four a cell, or ASCII. Where a moment has a lowest
// and a largest value, all between them is filled, so that no spike is lost.
#pragma once

#include "cli/watch/draw/drawing.hpp"
#include "cli/watch/draw/graph/time_columns.hpp"

namespace meterbank::cli {

// A title, two rows of dots, and the axis of time.
inline constexpr std::size_t kPlotLinesMin = 4;

void draw_plot(Drawing& drawing, const Rect& rect, const view::Plot& plot, const TimeMarks& marks,
               const DrawingStyle& style);

// The axis of values of a plot: where a value lies, from 0 at the bottom to 1 at the top.
class ValueScale {
 public:
  ValueScale(const view::Plot& plot);
  [[nodiscard]] double position(double value) const noexcept;
  [[nodiscard]] double value_at(double position) const noexcept;
  [[nodiscard]] bool has_values() const noexcept { return has_values_; }
  [[nodiscard]] double bottom() const noexcept { return bottom_; }
  [[nodiscard]] double top() const noexcept { return top_; }

 private:
  double bottom_ = 0;
  double top_ = 1;
  bool is_logarithmic_ = false;
  bool has_values_ = false;
};

}  // namespace meterbank::cli
