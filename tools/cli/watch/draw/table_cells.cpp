// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/draw/table_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "cli/format/quantity.hpp"
#include "cli/format/table.hpp"

namespace meterbank::cli {
namespace {

constexpr std::size_t kMarkCells = 2;  // of the chosen line, and of a pinned one
constexpr std::size_t kGapCells = 2;
constexpr std::size_t kTrendMin = 8;
// A trend moves by a cell with each moment, so all of it is sent: with 24 cells, ten rows take less
// than 1.5 KB.
constexpr std::size_t kTrendMax = 24;

// Which columns there is room for, and how wide they are.
class TableLayout {
 public:
  TableLayout(const Grid& grid, const Rect& rect, const view::Section& section,
              const SectionLook& look, std::size_t indent)
      : natural_(section.columns.size(), 0),
        widths_(section.columns.size(), 0),
        room_(rect.width > kMarkCells ? rect.width - kMarkCells : 0) {
    measure(grid, section, look, indent);
    const bool has_trend = !section.trend.empty() && rect.width >= 60;
    const auto reserved = has_trend ? kTrendMin + kGapCells : 0;
    const auto sorted = column_named(section, look.sort);
    for (const auto column : {std::size_t{0}, section.chosen_column, sorted}) take(column, 0, true);
    for (std::size_t column = 0; column < widths_.size(); ++column) {
      take(column, reserved, !section.columns[column].is_number);
    }
    const auto left = room_ - std::min(room_, used_);
    if (!section.trend.empty() && left >= kTrendMin + kGapCells) {
      trend_ = std::min(left - kGapCells, kTrendMax);
      used_ += trend_ + kGapCells;
    }
    grow();
  }

  [[nodiscard]] std::size_t width(std::size_t column) const { return taken_[column]; }
  [[nodiscard]] std::size_t trend() const noexcept { return trend_; }
  [[nodiscard]] std::size_t left_out() const {
    return static_cast<std::size_t>(std::count(taken_.begin(), taken_.end(), 0U));
  }
  [[nodiscard]] static std::size_t column_named(const view::Section& section,
                                                const std::string& heading) {
    const auto found =
        std::find_if(section.columns.begin(), section.columns.end(),
                     [&](const view::Column& column) { return column.heading == heading; });
    return static_cast<std::size_t>(found - section.columns.begin());
  }

 private:
  void measure(const Grid& grid, const view::Section& section, const SectionLook& look,
               std::size_t indent) {
    constexpr std::size_t kWidest = 64;
    constexpr std::size_t kWidestNumber = 24;
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      const auto& column = section.columns[i];
      std::size_t width = display_width(grid.shown(column.heading));
      if (!look.sort.empty() && column.heading == look.sort) ++width;
      for (const auto& line : section.lines) {
        if (i >= line.cells.size()) continue;
        const auto cells = display_width(grid.shown(line.cells[i].text));
        width = std::max(width, cells + (i == 0 ? indent : 0));
      }
      natural_[i] = column.is_number ? std::min(width, kWidestNumber) : width;
      widths_[i] = std::clamp<std::size_t>(width, 1, column.is_number ? kWidestNumber : kWidest);
      wanted_ += widths_[i] + (i > 0 ? kGapCells : 0);
    }
    taken_.assign(widths_.size(), 0);
    if (wanted_ <= room_) return;
    // Where not all fits, no text takes more than a third.
    const auto third = std::max<std::size_t>(room_ / 3, 12);
    for (std::size_t i = 0; i < widths_.size(); ++i) {
      if (!section.columns[i].is_number) widths_[i] = std::min(widths_[i], third);
    }
  }

  // `may_shrink`: in less room than it wants, if some of it can be read.
  void take(std::size_t column, std::size_t reserved, bool may_shrink) {
    constexpr std::size_t kLeast = 6;
    if (column >= widths_.size() || taken_[column] > 0) return;
    const auto gap = used_ > 0 ? kGapCells : 0;
    if (used_ + gap + reserved >= room_) return;
    const auto left = room_ - used_ - gap - reserved;
    if (widths_[column] > left && !(may_shrink && left >= kLeast) && used_ > 0) return;
    taken_[column] = std::min(widths_[column], left);
    used_ += gap + taken_[column];
  }

  // What is left over goes to texts that are cut.
  void grow() {
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (taken_[i] == 0 || taken_[i] >= natural_[i]) continue;
      const auto more = std::min(natural_[i] - taken_[i], room_ - std::min(room_, used_));
      taken_[i] += more;
      used_ += more;
    }
  }

  std::vector<std::size_t> natural_, widths_, taken_;
  std::size_t room_;
  std::size_t wanted_ = 0;
  std::size_t used_ = 0;
  std::size_t trend_ = 0;
};

std::string aligned(const std::string& text, std::size_t width, bool is_right) {
  const auto used = display_width(text);
  if (!is_right || used >= width) return fit(text, width);
  return std::string(width - used, ' ') + text;
}

// "1-8 of 12 (40 in all) +3 columns"
std::string words_of(const view::Section& section, std::size_t begin, std::size_t end,
                     std::size_t columns_left_out) {
  std::string words;
  if (begin < end && end - begin < section.total) {
    words = fmt::format("{}-{} of {}", begin + 1, end, section.total);
  } else {
    words = fmt::format("{}", section.total);
  }
  if (section.all > section.total) words += fmt::format(" ({} in all)", section.all);
  if (columns_left_out > 0) {
    words += " +" + counted(columns_left_out, "column");
  }
  return words;
}

// The table below its title.
class TableDrawing {
 public:
  TableDrawing(Drawing& drawing, const Rect& rect, const view::Section& section,
               const SectionLook& look, const DrawingStyle& style)
      : drawing_(drawing),
        grid_(drawing.grid),
        rect_(rect),
        section_(section),
        look_(look),
        style_(style),
        has_groups_(std::any_of(section.lines.begin(), section.lines.end(),
                                [](const view::Line& line) { return line.is_group; })),
        layout_(grid_, rect, section, look, has_groups_ ? 2 : 0) {
    numbers_.reserve(section.lines.size() + 1);
    numbers_.push_back(section.first);
    for (const auto& line : section.lines) {
      numbers_.push_back(numbers_.back() + (line.is_group ? 0 : 1));
    }
  }

  void draw() {
    const auto room = rect_.height - std::min(rect_.height, kLinesAboveTable);
    const auto begin = first_shown(room);
    const auto shown = std::min(room, section_.lines.size() - begin);
    draw_title(grid_, rect_, section_.title,
               words_of(section_, numbers_[begin], numbers_[begin + shown], layout_.left_out()),
               style_);
    if (rect_.height < kLinesAboveTable) return;
    draw_headings(rect_.y + 1);
    for (std::size_t i = 0; i < shown; ++i) {
      draw_line(begin + i, rect_.y + kLinesAboveTable + i);
    }
    if (section_.lines.empty() && room > 0) {
      const auto* const words = section_.all > 0 ? "nothing matches" : "nothing yet";
      grid_.put(rect_.x + kMarkCells, rect_.y + kLinesAboveTable, words, kFaintLook);
    }
  }

 private:
  // The picture may hold more lines than there is room for.
  [[nodiscard]] std::size_t first_shown(std::size_t room) const {
    if (!look_.is_chosen) return 0;
    for (std::size_t i = 0; i < section_.lines.size(); ++i) {
      if (is_chosen(i)) return i < room ? 0 : i + 1 - std::max<std::size_t>(room, 1);
    }
    return 0;
  }
  // Headings of groups stand between the lines and are not counted.
  [[nodiscard]] bool is_chosen(std::size_t index) const {
    return look_.is_chosen && !section_.lines[index].is_group && numbers_[index] == look_.line;
  }

  // Calls `each(column, x, width)` for the columns that are shown; returns the x of the trend.
  template <typename Each>
  std::size_t each_column(const Each& each) const {
    std::size_t x = rect_.x + kMarkCells;
    for (std::size_t column = 0; column < section_.columns.size(); ++column) {
      const auto width = layout_.width(column);
      if (width == 0) continue;
      each(column, x, width);
      x += width + kGapCells;
    }
    return x;
  }

  void draw_headings(std::size_t y) {
    const auto trend_x = each_column([&](std::size_t column, std::size_t x, std::size_t width) {
      const auto& shown = section_.columns[column];
      const bool is_sorted = !look_.sort.empty() && shown.heading == look_.sort;
      const auto mark = is_sorted ? 1U : 0U;
      const auto heading = aligned(grid_.shown(shown.heading), width - mark, shown.is_number);
      grid_.put(x, y, heading, kBoldLook, width);
      if (is_sorted) {
        // Upwards: from A to Z, or the smallest first.
        const bool is_upwards = look_.ascending == shown.is_number;
        const auto arrow = is_upwards ? style_.pick("▲", "^") : style_.pick("▼", "v");
        const auto used = shown.is_number
                              ? width - 1
                              : std::min(width - 1, display_width(grid_.shown(shown.heading)));
        grid_.draw(x + used, y, arrow, kBoldLook);
      }
      drawing_.targets.push_back(
          {Target::Kind::kHeading, {x, y, width, 1}, look_.number, column, {}});
    });
    if (layout_.trend() > 0) {
      const auto heading = grid_.shown(section_.trend);
      grid_.put(trend_x, y, fit(heading, std::min(layout_.trend(), display_width(heading))),
                kBoldLook, layout_.trend());
    }
  }

  void draw_line(std::size_t index, std::size_t y) {
    const auto& line = section_.lines[index];
    if (!line.is_group) {
      drawing_.targets.push_back(
          {Target::Kind::kLine, {rect_.x, y, rect_.width, 1}, look_.number, numbers_[index], {}});
    }
    if (line.is_pinned) grid_.draw(rect_.x + 1, y, style_.pick("•", "*"), {});
    const auto trend_x = each_column([&](std::size_t column, std::size_t x, std::size_t width) {
      if (column >= line.cells.size()) return;
      const auto& cell = line.cells[column];
      auto text = grid_.shown(cell.text);
      if (column == 0 && line.is_group) text = std::string(style_.pick("▾ ", "v ")) + text;
      if (column == 0 && has_groups_ && !line.is_group) text = "  " + text;
      auto cell_look = look_of(cell.mood, style_);
      cell_look.bold = cell_look.bold || line.is_group;
      const auto written = aligned(text, width, section_.columns[column].is_number);
      grid_.put(x, y, written, cell_look, width);
    });
    if (layout_.trend() > 0) {
      draw_trend(grid_, trend_x, y, layout_.trend(), line.trend, {}, style_);
    }
    if (is_chosen(index)) {
      grid_.draw(rect_.x, y, ">", {});
      grid_.paint(rect_.x, y, rect_.width, Look{.reverse = true});
    }
  }

  Drawing& drawing_;
  Grid& grid_;
  const Rect& rect_;
  const view::Section& section_;
  const SectionLook& look_;
  const DrawingStyle& style_;
  bool has_groups_;
  std::vector<std::size_t> numbers_;  // of the first line at or behind each
  TableLayout layout_;
};

}  // namespace

void draw_section(Drawing& drawing, const Rect& rect, const view::Section& section,
                  const SectionLook& look, const DrawingStyle& style) {
  if (rect.height == 0 || rect.width == 0) return;
  TableDrawing(drawing, rect, section, look, style).draw();
}

void draw_trend(Grid& grid, std::size_t x, std::size_t y, std::size_t cells,
                std::span<const double> values, Look look, const DrawingStyle& style) {
  static constexpr std::array<std::string_view, 8> kBlocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  static constexpr std::array<std::string_view, 8> kLetters{"_", ".", ",", "-", "=", "+", "*", "#"};
  const auto shown = values.last(std::min(cells, values.size()));
  double largest = 0;
  for (const double value : shown) {
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  std::size_t to = x + cells - shown.size();
  for (const double value : shown) {
    if (!std::isnan(value)) {
      const double share = largest > 0 ? std::clamp(value / largest, 0.0, 1.0) : 0;
      const auto step = static_cast<std::size_t>(std::lround(share * 7));
      grid.draw(to, y, style.is_ascii() ? kLetters[step] : kBlocks[step], look);
    }
    ++to;
  }
}

}  // namespace meterbank::cli
