// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/draw/graph/graph_cells.hpp"

#include <algorithm>

#include "cli/watch/draw/graph/heat_cells.hpp"
#include "cli/watch/draw/graph/plot_cells.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

// Plots one below the other, as many as have room to be read.
void draw_plots(Drawing& drawing, const Rect& rect, const view::Picture& picture,
                const TimeMarks& marks, const DrawingStyle& style) {
  constexpr std::size_t kGood = 7;
  const auto count = std::clamp<std::size_t>(rect.height / kGood, 1, picture.plots.size());
  std::size_t y = rect.y;
  for (std::size_t i = 0; i < count; ++i) {
    const auto lines = (rect.y + rect.height - y) / (count - i);
    draw_plot(drawing, {rect.x, y, rect.width, lines}, picture.plots[i], marks, style);
    y += lines;
  }
}

}  // namespace

bool has_graphs_of(const view::Picture& picture) noexcept {
  return !picture.plots.empty() || picture.heat || picture.histogram;
}

void draw_graphs(Drawing& drawing, const Rect& rect, const view::Picture& picture,
                 const TimeMarks& marks, const DrawingStyle& style) {
  constexpr std::size_t kWide = 100;  // from which on a histogram stands beside
  constexpr std::size_t kTall = 14;   // from which on a plot and a heat map are both shown
  Rect room = rect;
  if (picture.histogram && !picture.histogram->percentiles.empty() && room.height > kPlotLinesMin) {
    draw_percentiles(drawing.grid, {room.x + 1, room.y, room.width - 1, 1}, *picture.histogram);
    ++room.y;
    --room.height;
  }
  const bool has_heat = picture.heat.has_value();
  const bool has_plot = !picture.plots.empty();
  if (picture.histogram && (room.width >= kWide || (!has_heat && !has_plot))) {
    const bool is_alone = !has_heat && !has_plot;
    const auto cells = is_alone ? room.width : std::clamp<std::size_t>(room.width / 3, 34, 70);
    draw_histogram(drawing.grid, {room.x + room.width - cells, room.y, cells, room.height},
                   *picture.histogram, style);
    if (is_alone) return;
    room.width -= cells + 2;
  }
  const bool are_both = has_heat && has_plot && room.height >= kTall;
  // Where one of them has room, a distribution is a heat map, and its percentiles are curves.
  const bool is_heat_chosen =
      has_heat && picture.heat->title == escape_for_terminal(picture.place.counter);
  const bool draws_heat = has_heat && (are_both || is_heat_chosen || !has_plot);
  if (has_plot && (are_both || !draws_heat)) {
    const auto lines = are_both ? room.height / 2 : room.height;
    draw_plots(drawing, {room.x, room.y, room.width, lines}, picture, marks, style);
    room.y += lines;
    room.height -= lines;
  }
  if (draws_heat) draw_heat_map(drawing, room, *picture.heat, marks, style);
}

}  // namespace meterbank::cli
