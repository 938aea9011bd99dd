// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/draw/graph/time_columns.hpp"

#include <fmt/format.h>

#include <ctime>

#include "cli/format/quantity.hpp"
#include "cli/format/table.hpp"
#include "cli/format/time_text.hpp"

namespace meterbank::cli {
namespace {

constexpr std::uint64_t kDayNs = 86'400'000'000'000;

// The cell of the last moment that is not behind `time_ns`; the number of cells: there is none.
std::size_t cell_of(std::span<const std::uint64_t> times_of_cells, std::uint64_t time_ns) {
  std::size_t found = times_of_cells.size();
  for (std::size_t cell = 0; cell < times_of_cells.size(); ++cell) {
    if (times_of_cells[cell] == 0) continue;
    // Before the first: outside.
    if (times_of_cells[cell] > time_ns) return found;
    if (found < times_of_cells.size() && times_of_cells[found] == times_of_cells[cell]) continue;
    found = cell;
  }
  return found;
}

}  // namespace

std::string label_text(const Grid& grid, double value, const std::string& unit, UnitStyle units) {
  auto text = grid.shown(print_quantity(value, unit, units));
  if (display_width(text) < kLabelCells) return text;
  return fmt::format("{:.5g}", units == UnitStyle::kBase ? in_base_unit(value, unit).value : value);
}

std::string moment_text(std::uint64_t realtime_ns, bool with_day) {
  if (!with_day) return print_local(realtime_ns);
  const auto seconds = static_cast<std::time_t>(realtime_ns / 1'000'000'000);
  std::tm fields{};
  ::localtime_r(&seconds, &fields);
  return fmt::format("{:02}-{:02} {:02}:{:02}", fields.tm_mon + 1, fields.tm_mday, fields.tm_hour,
                     fields.tm_min);
}

void draw_time_axis(Drawing& drawing, const Rect& line, std::size_t height,
                    std::span<const std::uint64_t> times_ns, const TimeMarks& marks,
                    const DrawingStyle& style) {
  if (times_ns.empty() || line.width <= kLabelCells) return;
  const std::size_t cells = line.width - kLabelCells;
  const std::size_t left = line.x + kLabelCells;
  const TimeColumns columns(times_ns.size(), cells);
  std::vector<std::uint64_t> times_of_cells(cells, 0);
  for (std::size_t cell = 0; cell < cells; ++cell) {
    const auto moments = columns.of_cell(cell);
    if (moments.begin < moments.end) times_of_cells[cell] = times_ns[moments.end - 1];
  }
  struct Mark {
    std::size_t cell;
    std::string_view text;
    Look look;
  };
  std::vector<Mark> shown;
  for (const auto time : marks.marked_ns) {
    shown.push_back({cell_of(times_of_cells, time), "m", colored(kYellow, style)});
  }
  if (marks.at_ns) {
    shown.push_back({cell_of(times_of_cells, *marks.at_ns), style.pick("▲", "^"), kBoldLook});
  }
  std::erase_if(shown, [cells](const Mark& mark) { return mark.cell >= cells; });
  auto& grid = drawing.grid;
  const bool with_day = times_ns.back() - times_ns.front() > kDayNs;
  // The last cell is left to a mark, and other labels give way to one.
  std::size_t free_from = columns.first_cell();
  const auto put_label = [&](std::size_t cell, std::uint64_t time_ns) {
    const auto text = moment_text(time_ns, with_day);
    if (cell < free_from || time_ns == 0 || cell + text.size() >= cells) return;
    const bool is_taken = std::any_of(shown.begin(), shown.end(), [&](const Mark& mark) {
      return mark.cell + 1 >= cell && mark.cell <= cell + text.size() && mark.cell + 1 < cells;
    });
    if (is_taken) return;
    grid.put(left + cell, line.y, text, kFaintLook);
    free_from = cell + text.size() + 4;
  };
  const auto length = moment_text(times_ns.back(), with_day).size();
  const auto last_cell = cells - std::min(cells, length + 1);
  const auto middle_cell = (columns.first_cell() + cells) / 2;
  put_label(columns.first_cell(), times_ns.front());
  if (middle_cell + length + 4 <= last_cell) {
    const auto begin = middle_cell - std::min(middle_cell, length / 2);
    put_label(begin, times_of_cells[middle_cell]);
  }
  put_label(last_cell, times_ns.back());
  for (const auto& mark : shown) grid.draw(left + mark.cell, line.y, mark.text, mark.look);
  drawing.targets.push_back({Target::Kind::kTime,
                             {left, line.y - std::min(line.y, height), cells, height + 1},
                             0,
                             0,
                             std::move(times_of_cells)});
}

}  // namespace meterbank::cli
