// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/draw/picture_cells.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/format/table.hpp"
#include "cli/format/time_text.hpp"
#include "cli/watch/draw/graph/graph_cells.hpp"
#include "cli/watch/draw/graph/time_columns.hpp"
#include "cli/watch/draw/help_cells.hpp"
#include "cli/watch/draw/table_cells.hpp"
#include "meterbank/reader/sample.hpp"

namespace meterbank::cli {
namespace {

constexpr std::size_t kLinesForDetails = 16;  // of a screen, from which on they are shown
constexpr std::size_t kLinesForGraphs = 20;

// Lines of each section; 0: it is left out.
std::vector<std::size_t> shared_lines(const view::Picture& picture, std::size_t chosen,
                                      std::size_t room) {
  constexpr std::size_t kLeast = kLinesAboveTable + 1;
  constexpr std::size_t kChosenLeast = kLinesAboveTable + 3;
  std::vector<std::size_t> lines(picture.sections.size(), 0);
  if (lines.empty()) return lines;
  chosen = std::min(chosen, lines.size() - 1);
  const auto wanted = [&](std::size_t i) {
    const auto& section = picture.sections[i];
    // All that there are, where there is room: the picture holds as many as were asked for.
    const auto headings =
        static_cast<std::size_t>(std::count_if(section.lines.begin(), section.lines.end(),
                                               [](const auto& line) { return line.is_group; }));
    const auto all = i == chosen ? section.total + headings : section.lines.size();
    return kLinesAboveTable + std::max<std::size_t>(all, 1);
  };
  lines[chosen] = std::min({wanted(chosen), room, kChosenLeast});
  std::size_t left = room - lines[chosen];
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i == chosen || left < kLeast + 1) continue;
    lines[i] = kLeast;
    left -= kLeast + 1;  // with an empty line between the two
  }
  const auto grow = [&](std::size_t i, std::size_t most) {
    if (lines[i] == 0 || lines[i] >= most) return;
    const auto more = std::min(most - lines[i], left);
    lines[i] += more;
    left -= more;
  };
  // Others come to a part of what they want before the chosen one takes all.
  constexpr std::size_t kGlance = kLinesAboveTable + 4;
  for (std::size_t i = 0; i < lines.size(); ++i) grow(i, std::min(wanted(i), kGlance));
  grow(chosen, wanted(chosen));
  for (std::size_t i = 0; i < lines.size(); ++i) grow(i, wanted(i));
  return lines;
}

class PictureDrawing {
 public:
  PictureDrawing(const view::Picture& picture, const ScreenState& state, const DrawingStyle& style,
                 std::size_t width, std::size_t height)
      : picture_(picture),
        state_(state),
        style_(style),
        drawing_{Grid(width, height, style.charset), 0, {}} {}

  Drawing draw() && {
    if (width() == 0 || height() == 0) return std::move(drawing_);
    draw_header();
    if (height() == 1) return std::move(drawing_);
    bottom_ = height() - 1;
    if (state_.shows_help) {
      const auto part = draw_help(grid(), {0, 1, width(), bottom_ - 1}, state_.help_first);
      std::string words = " any key: back   q: quit";
      if (part.left > 0) {
        drawing_.help_next = part.next;
        words = fmt::format(" ?: {} more   any key: back   q: quit", part.left);
      }
      grid().put(0, bottom_, words, kFaintLook);
      return std::move(drawing_);
    }
    draw_footer();
    draw_problems();
    draw_details();
    draw_body();
    return std::move(drawing_);
  }

 private:
  [[nodiscard]] Grid& grid() noexcept { return drawing_.grid; }
  [[nodiscard]] std::size_t width() const noexcept { return drawing_.grid.width(); }
  [[nodiscard]] std::size_t height() const noexcept { return drawing_.grid.height(); }

  // With the date where a recording is not of today, as far as there is room.
  [[nodiscard]] LocalForm time_form() const {
    LocalForm form;
    if (!picture_.is_live && width() >= 60) {
      form = form_of_range(picture_.first_ns, picture_.last_ns, Timestamp::now().realtime_ns);
    }
    form.milliseconds = picture_.place.at_ns.has_value();
    return form;
  }

  // "live 09:04:40, every 1s"
  [[nodiscard]] std::string moment_words() const {
    const auto clock = picture_.time_ns == 0 ? std::string("no values yet")
                                             : print_local(picture_.time_ns, time_form());
    std::string words;
    if (picture_.is_frozen) {
      words = "FROZEN " + clock;
    } else if (picture_.place.at_ns) {
      words = "AT " + clock;
    } else {
      words = (picture_.is_live ? "live " : "recording ") + clock;
    }
    if (picture_.is_live && state_.interval.count() > 0 && width() >= 60) {
      words += ", every " + print_interval(state_.interval);
    }
    if (state_.missed > 0 && !picture_.is_frozen && width() >= 80)
      words += fmt::format(", missed {}", state_.missed);
    return words;
  }

  void draw_header() {
    const auto words = moment_words();
    const auto words_x = width() - std::min(width(), words.size());
    std::size_t x = 0;
    const auto separator = style_.pick(" › ", " > ");
    // Of a long way, the beginning gives way.
    std::size_t first = 0;
    const auto needed = [&] {
      std::size_t cells = 0;
      for (auto i = first; i < picture_.crumbs.size(); ++i) {
        cells += display_width(grid().shown(picture_.crumbs[i].text)) + 3;
      }
      return cells;
    };
    while (first + 1 < picture_.crumbs.size() && needed() > words_x) ++first;
    for (auto i = first; i < picture_.crumbs.size() && x < words_x; ++i) {
      const bool is_here = i + 1 == picture_.crumbs.size();
      if (i > first) x += grid().put(x, 0, separator, kFaintLook, words_x - std::min(words_x, x));
      const auto text = grid().shown(picture_.crumbs[i].text);
      const auto room = words_x > x + 1 ? words_x - x - 1 : 0;
      const auto used =
          grid().put(x, 0, fit(text, std::min(room, display_width(text))), kBoldLook, room);
      if (!is_here) {
        drawing_.targets.push_back(
            {i == 0 ? Target::Kind::kOverview : Target::Kind::kBack, {x, 0, used, 1}, 0, i, {}});
      }
      x += used;
    }
    const bool is_unusual = picture_.is_frozen || picture_.place.at_ns.has_value();
    auto look = is_unusual ? colored(kYellow, style_) : colored(kGreen, style_);
    look.bold = is_unusual;
    grid().put(words_x, 0, words, look);
  }

  void draw_problems() {
    const std::size_t most = height() >= kLinesForGraphs ? 3 : height() >= 6 ? 1 : 0;
    const auto count = picture_.problems.size();
    for (std::size_t i = 0; i < std::min(count, most); ++i) {
      const bool is_last_of_more = i + 1 == most && count > most;
      const auto number = is_last_of_more ? fmt::format("{} of {}: ", i + 1, count) : "";
      const auto text = "! " + number + grid().shown(picture_.problems[i]);
      grid().put(0, top_++, fit(text, width()), look_of(view::Mood::kBad, style_));
    }
  }

  [[nodiscard]] const view::Line* chosen_line() const {
    if (state_.section >= picture_.sections.size()) return nullptr;
    const auto& section = picture_.sections[state_.section];
    auto number = section.first;
    for (const auto& line : section.lines) {
      if (line.is_group) continue;
      if (number++ == state_.line) return &line;
    }
    return nullptr;
  }

  // A rule and some lines about the chosen one, above the keys.
  void draw_details() {
    if (!state_.shows_details || height() < kLinesForDetails) return;
    std::size_t most = 0;  // the room does not change from line to line
    for (const auto& section : picture_.sections) {
      for (const auto& line : section.lines) most = std::max(most, line.details.size());
    }
    const auto lines = std::min<std::size_t>(most, height() >= 30 ? 4 : 2);
    if (lines == 0) return;
    bottom_ -= lines + 1;
    for (std::size_t x = 0; x < width(); ++x)
      grid().draw(x, bottom_, style_.pick("─", "-"), kFaintLook);
    const auto* const line = chosen_line();
    if (line == nullptr) return;
    for (std::size_t i = 0; i < std::min(lines, line->details.size()); ++i) {
      grid().put(1, bottom_ + 1 + i, fit(grid().shown(line->details[i]), width() - 1),
                 i == 0 ? Look{} : kFaintLook);
    }
  }

  // " filter: eu  stored": what makes the screen another one than it was at first.
  [[nodiscard]] std::string mode_words() const {
    const auto& place = picture_.place;
    const bool is_overview = place.screen == view::Screen::kOverview;
    const bool is_instance = place.screen == view::Screen::kInstance;
    std::string words;
    const auto add = [&](bool is_on, const std::string& word) {
      if (is_on) words += (words.empty() ? " " : "  ") + word;
    };
    add(!place.filter.empty(), "filter: " + place.filter);
    add(place.stored && !is_overview, "stored");
    add(place.base_units, "base units");
    add(place.hide_zeros && !is_overview, "no zeros");
    add(place.grouping == view::Grouping::kProvider && !is_overview && !is_instance, "by provider");
    add(place.grouping == view::Grouping::kLabel && !is_overview && !is_instance, "by label");
    add(place.logarithmic && is_instance, "log");
    add(place.span != view::Place().span && is_instance, "span " + print_interval(place.span));
    return words;
  }

  void draw_footer() {
    const auto y = height() - 1;
    if (state_.typing != view::Navigator::Typing::kNothing) {
      const bool is_time = state_.typing == view::Navigator::Typing::kTime;
      std::size_t x = grid().put(0, y, is_time ? " time: " : " filter: ", kBoldLook);
      const auto typed = grid().shown(state_.typed);
      x += grid().put(
          x, y, fit(typed, std::min(display_width(typed), width() - std::min(width(), x + 1))), {});
      grid().draw(x, y, style_.pick("▏", "_"), {});
      const auto words = !state_.complaint.empty() ? grid().shown(state_.complaint)
                         : is_time
                             ? std::string("09:04, 09:04:40.5, -5m; Enter goes, Esc does not")
                             : std::string("* and ? stand for any; Enter keeps, Esc drops it");
      const auto room = width() > x + 4 ? width() - x - 3 : 0;
      const auto look = state_.complaint.empty() ? kFaintLook : look_of(view::Mood::kBad, style_);
      if (room > 0) grid().put(x + 3, y, fit(words, std::min(room, display_width(words))), look);
      return;
    }
    const auto& said = !state_.complaint.empty() ? state_.complaint : state_.notice;
    if (!said.empty()) {
      const auto look = state_.complaint.empty() ? kBoldLook : look_of(view::Mood::kBad, style_);
      grid().put(1, y, fit(grid().shown(said), width() - 1), look);
      return;
    }
    std::size_t x = 0;
    if (const auto modes = grid().shown(mode_words()); !modes.empty()) {
      x += grid().put(x, y, fit(modes, std::min(display_width(modes), width() / 2)), kBoldLook) + 1;
    }
    draw_keys(grid(), {x, y, width() - std::min(width(), x), 1}, picture_.place.screen);
  }

  void draw_body() {
    if (bottom_ <= top_) return;
    std::size_t room = bottom_ - top_;
    const bool has_graphs = has_graphs_of(picture_) && height() >= kLinesForGraphs;
    std::size_t graph_lines = 0;
    if (has_graphs) {
      // The lower half, and what the tables do not need.
      std::size_t needed = 0;
      for (const auto& section : picture_.sections) {
        needed += kLinesAboveTable + std::max<std::size_t>(section.total, 1) + 1;
      }
      const auto upper = std::min(needed, room - room / 2);
      graph_lines = room - upper;
      room = upper;
    }
    draw_sections(room);
    if (graph_lines > 0) {
      auto style = style_;
      if (picture_.place.base_units) style.units = UnitStyle::kBase;
      draw_graphs(drawing_, {0, bottom_ - graph_lines, width(), graph_lines}, picture_,
                  {picture_.place.at_ns, state_.marks}, style);
    }
  }

  void draw_sections(std::size_t room) {
    const auto lines = shared_lines(picture_, state_.section, room);
    std::size_t y = top_;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (lines[i] == 0) continue;
      const bool is_chosen = i == std::min(state_.section, lines.size() - 1);
      if (is_chosen) drawing_.lines = lines[i] - std::min(lines[i], kLinesAboveTable);
      draw_section(drawing_, {0, y, width(), lines[i]}, picture_.sections[i],
                   {.number = i,
                    .is_chosen = is_chosen,
                    .line = state_.line,
                    .sort = picture_.place.sort,
                    .ascending = picture_.place.ascending},
                   style_);
      y += lines[i] + 1;
    }
  }

  const view::Picture& picture_;
  const ScreenState& state_;
  const DrawingStyle& style_;
  Drawing drawing_;
  std::size_t top_ = 1;     // first line that is free
  std::size_t bottom_ = 0;  // first one that is not
};

}  // namespace

ScreenState state_of(const view::Navigator& navigator) {
  ScreenState state;
  state.section = navigator.section();
  state.line = navigator.line();
  state.typing = navigator.typing();
  state.typed = navigator.typed();
  state.complaint = navigator.complaint();
  state.shows_help = navigator.shows_help();
  state.help_first = navigator.help_first();
  state.shows_details = navigator.shows_details();
  state.marks = navigator.marks();
  return state;
}

view::Window window_for(view::Window window, std::size_t width, std::size_t height) {
  window.lines = std::max<std::size_t>(height, 1);
  window.other_lines = std::max<std::size_t>(height / 2, 4);
  // A moment for each dot.
  window.plot_columns = 2 * std::max<std::size_t>(width, kLabelCells + 10) - 2 * kLabelCells;
  // A lower screen has no room for more plots.
  constexpr std::size_t kLinesOfPlot = 10;
  window.counters = std::max<std::size_t>(height / kLinesOfPlot, 1);
  return window;
}

Drawing draw_picture(const view::Picture& picture, const ScreenState& state,
                     const DrawingStyle& style, std::size_t width, std::size_t height) {
  return PictureDrawing(picture, state, style, width, height).draw();
}

}  // namespace meterbank::cli
