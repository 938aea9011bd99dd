// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/draw/graph/plot_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
    const std::string letter(1,
                             plot.curves.size() == 1 ? '*' : static_cast<char>('a' + number % 26));
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
    auto text = grid.shown(print_quantity(value, plot.unit));
    // A number without a unit has all its digits.
    if (display_width(text) >= kLabelCells) text = fmt::format("{:.5g}", value);
    const auto used = std::min(display_width(text), kLabelCells - 1);
    grid.put(body.x - 1 - used, y, fit(text, used), kFaintLook, used);
  }
}

// Curves of dots differ in nothing but colour.
bool has_letters(const view::Plot& plot, const DrawingStyle& style) {
  return style.is_ascii() || !style.has_braille || (style.colors == 0 && plot.curves.size() > 1);
}

// " a=latency.p99 1.27 ms ", or " a=p99 1.27 ms ", or " a=p99 ", so that all fit into `cells`.
std::vector<std::string> curve_names(const Grid& grid, const view::Plot& plot,
                                     const DrawingStyle& style, std::size_t cells) {
  std::vector<std::string> names;
  for (const auto& [has_title, has_value] :
       {std::pair(true, true), std::pair(false, true), std::pair(false, false)}) {
    names.clear();
    std::size_t width = 0;
    for (std::size_t number = 0; number < plot.curves.size(); ++number) {
      const auto& curve = plot.curves[number];
      std::string_view name = curve.name;
      if (!has_title && name.starts_with(plot.title + ".")) {
        name.remove_prefix(plot.title.size() + 1);
      }
      auto text = " " + grid.shown(name) + " ";
      if (has_letters(plot, style)) {
        text = fmt::format(" {}={}", static_cast<char>('a' + number % 26), text.substr(1));
      }
      const auto value = newest(curve);
      if (has_value && !std::isnan(value)) {
        text += grid.shown(print_quantity(value, plot.unit)) + " ";
      }
      width += display_width(text);
      names.push_back(std::move(text));
    }
    if (width <= cells) return names;
  }
  return names;
}

// "latency.p99  1.27 ms, at most 3.4 ms"; of several curves, each has its name.
void draw_legend(Grid& grid, const Rect& rect, const view::Plot& plot, const DrawingStyle& style) {
  std::string words;
  double largest = kNone;
  for (const auto& curve : plot.curves) {
    const auto band = band_of(curve, {0, plot.times_ns.size()});
    if (band.is_there()) largest = std::isnan(largest) ? band.high : std::max(largest, band.high);
  }
  if (plot.curves.size() == 1 && !std::isnan(newest(plot.curves[0]))) {
    words = grid.shown(print_quantity(newest(plot.curves[0]), plot.unit));
  }
  const auto add = [&words](const std::string& text) {
    words += (words.empty() ? "" : ", ") + text;
  };
  if (!std::isnan(largest)) add("at most " + grid.shown(print_quantity(largest, plot.unit)));
  if (plot.is_logarithmic) add("logarithmic");
  draw_title(grid, rect, plot.title, words, style);
  if (plot.curves.size() < 2) return;
  // Behind the title, as much of each curve as leaves room for all.
  std::size_t x = rect.x + display_width(grid.shown(plot.title)) + words.size() + 4;
  const auto names = curve_names(grid, plot, style, rect.x + rect.width - std::min(x, rect.width));
  for (std::size_t number = 0; number < names.size(); ++number) {
    if (x + display_width(names[number]) > rect.x + rect.width) break;
    x += grid.put(x, rect.y, names[number], colored(color_of_curve(number), style));
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
  const double base = least >= 0 && least < 0.6 * most ? 0 : least;
  const bool is_binary = plot.unit == "By" || plot.unit == "By/s";
  // A line that does not move stands in the middle.
  const double size = most == 0 ? 1 : std::fabs(most);
  const double step = round_step(most > base ? most / 4 - base / 4 : size / 4, is_binary);
  // The next round number may lie beyond all doubles.
  bottom_ = std::max(std::floor(base / step) * step, -kLargest);
  top_ = std::min(std::max(std::ceil(most / step) * step, bottom_ + step), kLargest);
}

// By halves: the whole range may be greater than any double.
double ValueScale::position(double value) const noexcept {
  if (is_logarithmic_) value = value > 0 ? std::log10(value) : bottom_;
  return (value / 2 - bottom_ / 2) / (top_ / 2 - bottom_ / 2);
}

double ValueScale::value_at(double position) const noexcept {
  const double value = bottom_ * (1 - position) + top_ * position;
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
