// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/draw/graph/plot_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "cli/format/quantity.hpp"
#include "cli/format/table.hpp"

namespace meterbank::cli {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr double kLargest = std::numeric_limits<double>::max();

// The next number of 1, 2, 5, 10, 20, ..., or of the powers of 2, that is no smaller.
double round_step(double step, bool is_binary) {
  if (!(step > 0) || !std::isfinite(step)) return 1;
  if (is_binary) return std::exp2(std::ceil(std::log2(step)));
  const double power = std::pow(10, std::floor(std::log10(step)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= step * (1 - 1e-9)) return factor * power;
  }
  return 10 * power;
}

struct Band {
  double low = kNone, high = kNone;
  [[nodiscard]] bool is_there() const noexcept { return !std::isnan(high); }
};

// All values of some moments of a curve.
Band band_of(const view::Plot::Curve& curve, TimeColumns::Moments moments) {
  Band band;
  for (std::size_t i = moments.begin; i < std::min(moments.end, curve.high.size()); ++i) {
    const double high = curve.high[i];
    const double low = i < curve.low.size() ? curve.low[i] : high;
    if (std::isnan(high) || std::isnan(low)) continue;
    band.low = std::isnan(band.low) ? low : std::min(band.low, low);
    band.high = std::isnan(band.high) ? high : std::max(band.high, high);
  }
  return band;
}

// The newest value; NaN: none.
double newest(const view::Plot::Curve& curve) {
  for (std::size_t i = curve.high.size(); i-- > 0;) {
    if (!std::isnan(curve.high[i])) return curve.high[i];
  }
  return kNone;
}

std::int16_t color_of_curve(std::size_t number) {
  static constexpr std::array kColors{kCyan, kYellow, kMagenta, kGreen, kBlue, kRed};
  return kColors[number % kColors.size()];
}

char letter_of_curve(std::size_t number) { return static_cast<char>('a' + number % 26); }

// The dots of all curves; a cell shows the colour of the last curve in it.
class Dots {
 public:
  Dots(std::size_t cells, std::size_t lines)
      : cells_(cells), lines_(lines), bits_(cells * lines, 0), curves_(cells * lines, 0) {}

  [[nodiscard]] std::size_t rows() const noexcept { return 4 * lines_; }
  // Rows are counted from the top.
  void fill(std::size_t dot, std::size_t top, std::size_t bottom, std::size_t curve) {
    static constexpr std::array<std::array<unsigned, 4>, 2> kBits{
        {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}};
    for (std::size_t row = top; row <= bottom; ++row) {
      const auto cell = row / 4 * cells_ + dot / 2;
      bits_[cell] |= kBits[dot % 2][row % 4];
      curves_[cell] = curve;
    }
  }
  void draw(Grid& grid, std::size_t x, std::size_t y, const DrawingStyle& style) const {
    constexpr char32_t kNoDots = 0x2800;
    for (std::size_t i = 0; i < bits_.size(); ++i) {
      if (bits_[i] == 0) continue;
      std::string text;
      append_utf8(kNoDots + bits_[i], text);
      grid.draw(x + i % cells_, y + i / cells_, text, colored(color_of_curve(curves_[i]), style));
    }
  }

 private:
  std::size_t cells_, lines_;
  std::vector<unsigned> bits_;
  std::vector<std::size_t> curves_;
};

// Row of `rows`, from the top, of a position from 0 to 1.
std::size_t row_of(double position, std::size_t rows) {
  const double from_top = (1 - std::clamp(position, 0.0, 1.0)) * static_cast<double>(rows - 1);
  return static_cast<std::size_t>(std::lround(from_top));
}

void draw_braille(Grid& grid, const Rect& body, const view::Plot& plot, const ValueScale& scale,
                  const DrawingStyle& style) {
  const TimeColumns columns(plot.times_ns.size(), body.width);
  Dots dots(body.width, body.height);
  for (std::size_t number = 0; number < plot.curves.size(); ++number) {
    constexpr std::size_t kNowhere = SIZE_MAX;
    std::size_t before = kNowhere;  // row of the moment before, to join the two
    for (std::size_t dot = 0; dot < 2 * body.width; ++dot) {
      const auto band = band_of(plot.curves[number], columns.of_dot(dot));
      if (!band.is_there()) {
        before = kNowhere;
        continue;
      }
      const auto high = row_of(scale.position(band.high), dots.rows());
      const auto low = row_of(scale.position(band.low), dots.rows());
      auto top = high;
      auto bottom = low;
      if (before != kNowhere) {
        top = std::min(top, before < top ? before + 1 : top);
        bottom = std::max(bottom, before > bottom ? before - 1 : bottom);
      }
      dots.fill(dot, top, bottom, number);
      before = (high + low) / 2;
    }
  }
  dots.draw(grid, body.x, body.y, style);
}

// A letter at the largest value of a cell, and ':' down to the lowest.
void draw_letters(Grid& grid, const Rect& body, const view::Plot& plot, const ValueScale& scale,
                  const DrawingStyle& style) {
  const TimeColumns columns(plot.times_ns.size(), body.width);
  for (std::size_t number = 0; number < plot.curves.size(); ++number) {
    const auto look = colored(color_of_curve(number), style);
    const std::string letter(1, plot.curves.size() == 1 ? '*' : letter_of_curve(number));
    for (std::size_t cell = 0; cell < body.width; ++cell) {
      const auto band = band_of(plot.curves[number], columns.of_cell(cell));
      if (!band.is_there()) continue;
      const auto top = row_of(scale.position(band.high), body.height);
      const auto bottom = row_of(scale.position(band.low), body.height);
      for (std::size_t row = top + 1; row <= bottom; ++row) {
        grid.draw(body.x + cell, body.y + row, ":", look);
      }
      grid.draw(body.x + cell, body.y + top, letter, look);
    }
  }
}

// Labels at the top, in the middle and at the bottom, and the axis.
void draw_value_axis(Grid& grid, const Rect& body, const view::Plot& plot, const ValueScale& scale,
                     const DrawingStyle& style) {
  for (std::size_t line = 0; line < body.height; ++line) {
    const bool is_middle = body.height >= 5 && line == body.height / 2;
    const bool has_label = line == 0 || line + 1 == body.height || is_middle;
    const auto y = body.y + line;
    grid.draw(body.x - 1, y, has_label ? style.pick("┤", "+") : style.pick("│", "|"), kFaintLook);
    if (!has_label) continue;
    const double position = 1 - static_cast<double>(line) /
                                    static_cast<double>(std::max<std::size_t>(body.height - 1, 1));
    const double value = scale.value_at(position);
    const auto text = label_text(grid, value, plot.unit, style.units);
    const auto used = std::min(display_width(text), kLabelCells - 1);
    grid.put(body.x - 1 - used, y, fit(text, used), kFaintLook, used);
  }
}

// Curves of dots differ in nothing but colour.
bool has_letters(const view::Plot& plot, const DrawingStyle& style) {
  return style.is_ascii() || !style.has_braille || (style.colors == 0 && plot.curves.size() > 1);
}

// What stands behind the title: "1.27 ms, at most 3.4 ms"; of several curves only "at most 3.4 ms".
std::string words_of(const Grid& grid, const view::Plot& plot, const DrawingStyle& style) {
  std::string words;
  const auto add = [&words](const std::string& text) {
    words += (words.empty() ? "" : ", ") + text;
  };
  double largest = kNone;
  for (const auto& curve : plot.curves) {
    const auto band = band_of(curve, {0, plot.times_ns.size()});
    if (band.is_there()) largest = std::isnan(largest) ? band.high : std::max(largest, band.high);
  }
  if (plot.curves.size() == 1 && !std::isnan(newest(plot.curves[0]))) {
    add(grid.shown(print_quantity(newest(plot.curves[0]), plot.unit, style.units)));
  }
  if (!std::isnan(largest))
    add("at most " + grid.shown(print_quantity(largest, plot.unit, style.units)));
  if (plot.is_logarithmic) add("logarithmic");
  return words;
}

// " a=p50 38.7 us ", for each of several curves. The title has what their names begin with.
std::vector<std::string> names_of(const Grid& grid, const view::Plot& plot,
                                  const DrawingStyle& style, bool with_values) {
  std::vector<std::string> names;
  if (plot.curves.size() < 2) return names;
  for (std::size_t number = 0; number < plot.curves.size(); ++number) {
    const auto& curve = plot.curves[number];
    const auto value = newest(curve);
    const bool has_title = curve.name.starts_with(plot.title + ".");
    auto text = grid.shown(has_title ? curve.name.substr(plot.title.size() + 1) : curve.name);
    if (has_letters(plot, style)) text = fmt::format("{}={}", letter_of_curve(number), text);
    if (with_values && !std::isnan(value)) {
      text += " " + grid.shown(print_quantity(value, plot.unit, style.units));
    }
    names.push_back(" " + text + " ");
  }
  return names;
}

// The title, words behind it, and the name of each curve. Where not all has room, the words are
// left out first, then the values of the curves, then the end of the title.
void draw_legend(Grid& grid, const Rect& rect, const view::Plot& plot, const DrawingStyle& style) {
  auto words = words_of(grid, plot, style);
  auto names = names_of(grid, plot, style, true);
  const auto title = grid.shown(plot.title);
  const auto cells_of_names = [&names] {
    std::size_t cells = 0;
    for (const auto& name : names) cells += display_width(name);
    return cells;
  };
  const auto end_of_title = [&] {
    return display_width(title) + (words.empty() ? 0 : 2 + display_width(words));
  };
  const auto has_room = [&] { return end_of_title() + 2 + cells_of_names() <= rect.width; };
  if (!names.empty() && !has_room()) words = plot.is_logarithmic ? "logarithmic" : "";
  if (!names.empty() && !has_room()) words.clear();
  if (!names.empty() && !has_room()) names = names_of(grid, plot, style, false);
  const auto cells = cells_of_names();
  const auto room = rect.width - std::min(rect.width, cells + (names.empty() ? 0 : 2));
  draw_title(grid, rect, fit(title, std::min(room, display_width(title))), words, style);
  std::size_t x = rect.x + std::min(room, end_of_title()) + (names.empty() ? 0 : 2);
  for (std::size_t number = 0; number < names.size(); ++number) {
    const auto left = rect.x + rect.width - std::min(rect.x + rect.width, x);
    x += grid.put(x, rect.y, names[number], colored(color_of_curve(number), style), left);
  }
}

}  // namespace

ValueScale::ValueScale(const view::Plot& plot) : is_logarithmic_(plot.is_logarithmic) {
  double least = kNone;
  double most = kNone;
  for (const auto& curve : plot.curves) {
    for (const auto* values : {&curve.low, &curve.high}) {
      for (const double value : *values) {
        if (!std::isfinite(value) || (is_logarithmic_ && value <= 0)) continue;
        least = std::isnan(least) ? value : std::min(least, value);
        most = std::isnan(most) ? value : std::max(most, value);
      }
    }
  }
  has_values_ = !std::isnan(most);
  if (!has_values_) return;
  if (is_logarithmic_) {
    bottom_ = std::floor(std::log10(least));
    top_ = std::max(std::ceil(std::log10(most)), bottom_ + 1);
    return;
  }
  double base = least >= 0 && least < 0.6 * most ? 0 : least;
  if (least == most) {
    // The axis of a line that does not move has zero, and room beyond the line.
    constexpr double kRoom = 1.2;
    base = std::min(kRoom * least, 0.0);
    most = std::max(kRoom * most, 0.0);
  }
  const bool is_binary = plot.unit == "By" || plot.unit == "By/s";
  const double span = most > base ? most - base : 1;
  const double step = round_step(span / 4, is_binary);
  // A round number may be larger than any double.
  bottom_ = std::max(std::floor(base / step) * step, -kLargest);
  top_ = std::min(std::max(std::ceil(most / step) * step, bottom_ + step), kLargest);
}

double ValueScale::position(double value) const noexcept {
  if (is_logarithmic_) value = value > 0 ? std::log10(value) : bottom_;
  if (std::isfinite(top_ - bottom_)) return (value - bottom_) / (top_ - bottom_);
  return (value / 2 - bottom_ / 2) / (top_ / 2 - bottom_ / 2);
}

double ValueScale::value_at(double position) const noexcept {
  const double value = std::lerp(bottom_, top_, position);
  return is_logarithmic_ ? std::min(std::pow(10, value), kLargest) : value;
}

void draw_plot(Drawing& drawing, const Rect& rect, const view::Plot& plot, const TimeMarks& marks,
               const DrawingStyle& style) {
  if (rect.height < kPlotLinesMin || rect.width < kLabelCells + 4) return;
  auto& grid = drawing.grid;
  draw_legend(grid, {rect.x, rect.y, rect.width, 1}, plot, style);
  const Rect body{rect.x + kLabelCells, rect.y + 1, rect.width - kLabelCells, rect.height - 2};
  const ValueScale scale(plot);
  if (!scale.has_values()) {
    const auto words = plot.note.empty() ? "no values yet" : grid.shown(plot.note);
    grid.put(body.x, body.y, words, kFaintLook, body.width);
    return;
  }
  draw_value_axis(grid, body, plot, scale, style);
  if (has_letters(plot, style)) {
    draw_letters(grid, body, plot, scale, style);
  } else {
    draw_braille(grid, body, plot, scale, style);
  }
  draw_time_axis(drawing, {rect.x, rect.y + rect.height - 1, rect.width, 1}, body.height,
                 plot.times_ns, marks, style);
}

}  // namespace meterbank::cli
