// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/draw/graph/heat_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/format/quantity.hpp"
#include "cli/format/table.hpp"

namespace meterbank::cli {
namespace {

// From few to many, each brighter than the one before.
constexpr std::array<std::int16_t, 14> kHeatColors{17,  18,  54,  90,  126, 162, 197,
                                                   203, 209, 215, 221, 227, 229, 231};
constexpr std::array<std::string_view, 4> kShades{"░", "▒", "▓", "█"};
constexpr std::array<std::string_view, 9> kLetters{".", ":", "-", "=", "+", "*", "#", "%", "@"};

// The buckets that hold anything, with their empty neighbours left out.
struct Buckets {
  std::size_t begin = 0, end = 0;
};

template <typename CountOf>
Buckets used_buckets(std::size_t count, const CountOf& count_of) {
  Buckets used;
  for (std::size_t row = 0; row < count; ++row) {
    if (!(count_of(row) > 0)) continue;
    if (used.end == 0) used.begin = row;
    used.end = row + 1;
  }
  return used;
}

// Which points of a column a bucket fills, or which buckets a point stands for.
class BucketPoints {
 public:
  BucketPoints(Buckets buckets, std::size_t points) : buckets_(buckets) {
    const auto count = std::max<std::size_t>(buckets.end - buckets.begin, 1);
    constexpr std::size_t kTallest = 6;
    together_ = (count + points - 1) / points;
    tall_ = together_ > 1 ? 1 : std::clamp<std::size_t>(points / count, 1, kTallest);
    points_ = together_ > 1 ? (count + together_ - 1) / together_ : count * tall_;
  }
  [[nodiscard]] std::size_t points() const noexcept { return points_; }
  // Points are counted from the bottom.
  [[nodiscard]] Buckets of_point(std::size_t point) const noexcept {
    const auto begin = buckets_.begin + point / tall_ * together_;
    return {begin, std::min(begin + together_, buckets_.end)};
  }

 private:
  Buckets buckets_;
  std::size_t together_ = 1, tall_ = 1, points_ = 1;
};

// The levels of a heat map, from 0 (nothing) to 1, point by point.
class HeatPoints {
 public:
  HeatPoints(const view::HeatMap& heat, std::size_t cells, std::size_t points)
      : heat_(heat),
        columns_(heat.times_ns.size(), cells),
        used_(used_buckets(heat.edges.empty() ? 0 : heat.edges.size() - 1,
                           [&](std::size_t row) { return total_of(row); })),
        rows_(used_, points) {}

  [[nodiscard]] bool is_empty() const noexcept { return used_.end == 0; }
  [[nodiscard]] const BucketPoints& rows() const noexcept { return rows_; }
  [[nodiscard]] Buckets used() const noexcept { return used_; }

  // NaN: no values are known.
  [[nodiscard]] double level(std::size_t cell, std::size_t point) const {
    if (point >= rows_.points()) return 0;
    const auto moments = columns_.of_cell(cell);
    double largest = std::numeric_limits<double>::quiet_NaN();
    for (std::size_t i = moments.begin; i < std::min(moments.end, heat_.counts.size()); ++i) {
      const auto column = heat_.counts[i];
      if (column.empty()) continue;
      double sum = 0;
      const auto buckets = rows_.of_point(point);
      for (std::size_t row = buckets.begin; row < std::min(buckets.end, column.size()); ++row) {
        sum += static_cast<double>(column[row]);
      }
      largest = std::isnan(largest) ? sum : std::max(largest, sum);
    }
    if (std::isnan(largest)) return largest;
    if (!(largest > 0)) return 0;
    const double most = std::max(static_cast<double>(heat_.largest), 1.0);
    return std::clamp(std::log1p(largest) / std::log1p(most), 0.0, 1.0);
  }

 private:
  [[nodiscard]] double total_of(std::size_t row) const {
    double total = 0;
    for (std::size_t i = 0; i < heat_.counts.size(); ++i) {
      const auto column = heat_.counts[i];
      if (row < column.size()) total += static_cast<double>(column[row]);
    }
    return total;
  }

  const view::HeatMap& heat_;
  TimeColumns columns_;
  Buckets used_;
  BucketPoints rows_;
};

// Number of a colour or a letter; nothing for an empty place.
template <std::size_t kCount>
std::optional<std::size_t> step_of(double level) {
  if (!(level > 0)) return std::nullopt;
  return std::min(static_cast<std::size_t>(level * static_cast<double>(kCount)), kCount - 1);
}

void draw_halves(Grid& grid, const Rect& body, const HeatPoints& points) {
  for (std::size_t line = 0; line < body.height; ++line) {
    const std::size_t lower_point = 2 * (body.height - 1 - line);
    for (std::size_t cell = 0; cell < body.width; ++cell) {
      const auto upper = step_of<kHeatColors.size()>(points.level(cell, lower_point + 1));
      const auto lower = step_of<kHeatColors.size()>(points.level(cell, lower_point));
      if (!upper && !lower) continue;
      Look look;
      look.color = kHeatColors[upper ? *upper : *lower];
      if (upper && lower) look.behind = kHeatColors[*lower];
      if (upper == lower) look.behind = kNoColor;
      const auto* const text = upper == lower ? "█" : upper ? "▀" : "▄";
      grid.draw(body.x + cell, body.y + line, text, look);
    }
  }
}

void draw_shades(Grid& grid, const Rect& body, const HeatPoints& points,
                 const DrawingStyle& style) {
  for (std::size_t line = 0; line < body.height; ++line) {
    for (std::size_t cell = 0; cell < body.width; ++cell) {
      const double level = points.level(cell, body.height - 1 - line);
      if (style.is_ascii()) {
        const auto step = step_of<kLetters.size()>(level);
        if (step) grid.draw(body.x + cell, body.y + line, kLetters[*step], {});
      } else {
        const auto step = step_of<kShades.size()>(level);
        if (step) grid.draw(body.x + cell, body.y + line, kShades[*step], {});
      }
    }
  }
}

void put_label(Grid& grid, std::size_t right_x, std::size_t y, double value,
               const std::string& unit, UnitStyle units) {
  const auto text = label_text(grid, value, unit, units);
  const auto used = std::min(display_width(text), kLabelCells - 1);
  grid.put(right_x - used, y, fit(text, used), kFaintLook, used);
}

// The upper edge of the highest bucket, the lower one of the lowest, and one between them.
void draw_edges(Grid& grid, const Rect& body, const view::HeatMap& heat, const HeatPoints& points,
                std::size_t points_a_line, const DrawingStyle& style) {
  const auto lines = (points.rows().points() + points_a_line - 1) / points_a_line;
  for (std::size_t line = 0; line < body.height; ++line) {
    const auto from_bottom = body.height - 1 - line;
    const auto y = body.y + line;
    const bool is_top = from_bottom + 1 == lines;
    const bool is_middle = lines >= 5 && from_bottom == lines / 2;
    const bool has_label = is_top || is_middle || from_bottom == 0;
    grid.draw(body.x - 1, y, has_label ? style.pick("┤", "+") : style.pick("│", "|"), kFaintLook);
    if (!has_label) continue;
    const auto bucket =
        points.rows().of_point(std::min(from_bottom * points_a_line, points.rows().points() - 1));
    const auto edge = is_top ? points.used().end : bucket.begin;
    put_label(grid, body.x - 1, y, heat.edges[edge], heat.unit, style.units);
  }
}

std::string count_text(double count) { return print_quantity(count, "1"); }

}  // namespace

void draw_heat_map(Drawing& drawing, const Rect& rect, const view::HeatMap& heat,
                   const TimeMarks& marks, const DrawingStyle& style) {
  if (rect.height < kHeatLinesMin || rect.width < kLabelCells + 4) return;
  auto& grid = drawing.grid;
  const Rect body{rect.x + kLabelCells, rect.y + 1, rect.width - kLabelCells, rect.height - 2};
  const bool has_halves = style.colors >= 256 && !style.is_ascii();
  const std::size_t points_a_line = has_halves ? 2 : 1;
  const HeatPoints points(heat, body.width, body.height * points_a_line);
  const auto words =
      heat.largest > 0
          ? "at most " + grid.shown(count_text(static_cast<double>(heat.largest))) + " in a bucket"
          : std::string();
  draw_title(grid, {rect.x, rect.y, rect.width, 1}, heat.title, words, style);
  if (points.is_empty()) {
    grid.put(body.x, body.y, "no values yet", kFaintLook, body.width);
    return;
  }
  draw_edges(grid, body, heat, points, points_a_line, style);
  if (has_halves) {
    draw_halves(grid, body, points);
  } else {
    draw_shades(grid, body, points, style);
  }
  draw_time_axis(drawing, {rect.x, rect.y + rect.height - 1, rect.width, 1}, body.height,
                 heat.times_ns, marks, style);
}

void draw_histogram(Grid& grid, const Rect& rect, const view::Histogram& histogram,
                    const DrawingStyle& style) {
  static constexpr std::array<std::string_view, 8> kEighths{"▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"};
  constexpr std::size_t kCountCells = 8;
  if (rect.height < 3 || rect.width < kLabelCells + kCountCells + 6) return;
  const auto count_of = [&](std::size_t row) { return histogram.counts[row]; };
  const auto used = used_buckets(
      std::min(histogram.counts.size(), histogram.edges.empty() ? 0 : histogram.edges.size() - 1),
      count_of);
  const auto outside = grid.shown(histogram.outside);
  draw_title(grid, {rect.x, rect.y, rect.width, 1}, histogram.title,
             used.end == 0 ? std::string() : outside, style);
  if (used.end == 0) {
    const auto words = outside.empty() ? "no values yet" : outside;
    grid.put(rect.x, rect.y + 1, words, kFaintLook, rect.width);
    return;
  }
  const auto lines = rect.height - 1;
  const auto together = (used.end - used.begin + lines - 1) / lines;
  std::vector<double> sums;
  for (auto row = used.begin; row < used.end; ++row) {
    if ((row - used.begin) % together == 0) sums.push_back(0);
    sums.back() += count_of(row);
  }
  const double largest = *std::max_element(sums.begin(), sums.end());
  const auto room = rect.width - kLabelCells - kCountCells - 1;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    // The largest values are at the top, as in a heat map.
    const auto line = sums.size() - 1 - i;
    const auto y = rect.y + 1 + line;
    const auto edge = used.begin + i * together;
    put_label(grid, rect.x + kLabelCells - 1, y, histogram.edges[edge], histogram.unit,
              style.units);
    const auto eighths =
        static_cast<std::size_t>(std::ceil(sums[i] / largest * static_cast<double>(room) * 8));
    const auto x = rect.x + kLabelCells;
    const auto look = colored(kCyan, style);
    for (std::size_t cell = 0; cell < (eighths + 7) / 8; ++cell) {
      const auto left = eighths - 8 * cell;
      grid.draw(x + cell, y, style.is_ascii() ? "#" : kEighths[std::min<std::size_t>(left, 8) - 1],
                look);
    }
    const auto text = grid.shown(count_text(sums[i]));
    grid.put(x + room + 1 + (kCountCells - std::min(kCountCells, display_width(text))), y,
             fit(text, std::min(kCountCells, display_width(text))), kFaintLook);
  }
}

void draw_percentiles(Grid& grid, const Rect& rect, const view::Histogram& histogram) {
  std::size_t x = rect.x;
  for (const auto& percentile : histogram.percentiles) {
    const auto name = grid.shown(percentile.name);
    const auto text = grid.shown(percentile.text);
    if (x + display_width(name) + 1 + display_width(text) > rect.x + rect.width) break;
    x += grid.put(x, rect.y, name, kFaintLook) + 1;
    x += grid.put(x, rect.y, text, kBoldLook) + 3;
  }
}

}  // namespace meterbank::cli
