// SPDX-License-Identifier: Apache-2.0
//
// What a drawing promises apart from how it looks.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <sstream>

#include "cli/format/time_text.hpp"
#include "cli/watch/draw/graph/plot_cells.hpp"
#include "cli/watch/draw/picture_cells.hpp"
#include "cli/watch/screen_keys.hpp"
#include "made_pictures.hpp"

namespace meterbank::cli {
namespace {

constexpr DrawingStyle kPlain{Charset::kUtf8, 0, true};

Drawing drawn(const view::Picture& picture, ScreenState state, std::size_t width,
              std::size_t height, DrawingStyle style = kPlain) {
  return draw_picture(picture, state, style, width, height);
}

// Where `text` begins; the height of the grid if it is nowhere.
std::pair<std::size_t, std::size_t> place_of(const Grid& grid, const std::string& text) {
  for (std::size_t y = 0; y < grid.height(); ++y) {
    for (std::size_t x = 0; x < grid.width(); ++x) {
      std::string there;
      for (std::size_t i = x; i < grid.width() && there.size() < text.size(); ++i) {
        there += grid.at(i, y).text;
      }
      if (there == text) return {x, y};
    }
  }
  return {0, grid.height()};
}

// Dots above the lowest of the four rows of a line, of all cells.
bool has_dots_in(const Grid& grid, std::size_t y, std::size_t from_x) {
  for (std::size_t x = from_x; x < grid.width(); ++x) {
    const auto decoded = decode_utf8(grid.at(x, y).text);
    if (decoded.code_point > 0x2800 && decoded.code_point <= 0x28FF) return true;
  }
  return false;
}

view::Picture with_flat_line_and_spike(std::size_t moments, std::size_t spike) {
  view::Picture picture = instance_of_shop();
  picture.heat.reset();
  picture.histogram.reset();
  view::Plot plot;
  plot.title = "made";
  plot.unit = "1";
  view::Plot::Curve curve;
  curve.name = "made";
  for (std::size_t i = 0; i < moments; ++i) {
    plot.times_ns.push_back(kMadeTimeNs + i * 1'000'000);
    curve.low.push_back(1);
    curve.high.push_back(i == spike ? 100 : 1);
  }
  plot.curves.push_back(curve);
  picture.plots = {plot};
  return picture;
}

TEST(Plots, ShowASpikeOfOneMomentAmongMany) {
  for (const std::size_t moments : {10U, 100U, 1000U, 86'400U}) {
    for (const auto spike : {std::size_t{0}, moments / 2, moments - 1}) {
      const auto picture = with_flat_line_and_spike(moments, spike);
      const auto grid = drawn(picture, {}, 100, 40).grid;
      const auto [x, y] = place_of(grid, "made");
      ASSERT_LT(y, grid.height());
      EXPECT_TRUE(has_dots_in(grid, y + 1, kLabelCells)) << moments << " moments, " << spike;
    }
  }
}

TEST(Plots, OfNoOrOddValuesAreDrawn) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (const auto& values : {std::vector<double>{},
                             {std::nan("")},
                             {kInfinite},
                             {-kInfinite, 1},
                             {0, 0},
                             {-5, -5},
                             {1e300, -1e300},
                             {5e-324},
                             {1, std::nan(""), 3}}) {
    for (const bool is_logarithmic : {false, true}) {
      auto picture = with_flat_line_and_spike(values.size(), 0);
      picture.plots[0].curves[0].low = picture.plots[0].curves[0].high = values;
      picture.plots[0].is_logarithmic = is_logarithmic;
      const auto text = drawn(picture, {}, 80, 24).grid.text();
      EXPECT_EQ(text.find("nan"), std::string::npos) << text;
    }
  }
}

TEST(Plots, OfADistributionOutsideItsBucketsSayWhereItsValuesAre) {
  auto picture = instance_of_shop();
  picture.heat.reset();
  picture.plots[0].curves[0].low.assign(150, std::nan(""));
  picture.plots[0].curves[0].high.assign(150, std::nan(""));
  picture.plots[0].is_logarithmic = true;
  picture.plots[0].note = "now 4 values \u2264 954 ns";
  picture.histogram->counts.clear();
  picture.histogram->edges.clear();
  picture.histogram->outside = "4 values \u2264 954 ns";

  const auto text = drawn(picture, {}, 120, 40).grid.text();

  EXPECT_NE(text.find("latency.p99  logarithmic"), std::string::npos) << text;
  EXPECT_NE(text.find("now 4 values \u2264 954 ns"), std::string::npos) << text;
  EXPECT_NE(text.find("  4 values \u2264 954 ns"), std::string::npos) << text;
  EXPECT_EQ(text.find("no values"), std::string::npos) << text;
  const auto ascii = drawn(picture, {}, 120, 40, {Charset::kAscii, 0, true}).grid.text();
  EXPECT_NE(ascii.find("4 values <= 954 ns"), std::string::npos) << ascii;
}

TEST(Plots, OfTooFewNumbersReadNoFurther) {
  auto picture = instance_of_shop();
  picture.plots[0].curves[0].low.resize(3);
  picture.plots[0].curves[0].high.resize(5);
  picture.heat->counts.keep_first(7);
  picture.heat->edges.resize(4);
  picture.histogram->counts.resize(2);

  EXPECT_EQ(drawn(picture, {}, 120, 40).grid.height(), 40U);
}

view::Picture with_three_percentiles(const std::string& name) {
  auto picture = instance_of_shop();
  view::Plot plot;
  plot.title = name;
  plot.unit = "s";
  double value = 38.7e-6;
  for (const char* const percent : {".p50", ".p99", ".p99.9"}) {
    view::Plot::Curve curve{name + percent, {}, {}};
    curve.low.assign(60, value);
    curve.high = curve.low;
    value *= 2.4;
    plot.curves.push_back(std::move(curve));
  }
  for (std::size_t i = 0; i < 60; ++i) plot.times_ns.push_back(kMadeTimeNs + i * 1'000'000);
  picture.plots = {plot};
  return picture;
}

TEST(Legends, NameEveryCurveThatIsDrawn) {
  for (const std::string name : {"latency", "time_from_the_order_to_the_delivery_of_bread"}) {
    const auto picture = with_three_percentiles(name);
    for (const std::size_t width : {40U, 60U, 80U, 120U, 200U}) {
      for (const unsigned colors : {0U, 256U}) {
        const auto text = drawn(picture, {}, width, 50, {Charset::kUtf8, colors, true}).grid.text();
        // The line of percentiles of the fixture has p90.
        std::istringstream lines(text);
        std::string line;
        while (std::getline(lines, line) &&
               (line.find("p99.9") == std::string::npos || line.find("p90") != std::string::npos)) {
        }
        line += ' ';
        for (const std::string letter : {"a=", "b=", "c="}) {
          EXPECT_EQ(line.find(letter) == std::string::npos, colors > 0) << line;
        }
        for (const std::string percentile : {"p50 ", "p99 ", "p99.9 "}) {
          EXPECT_NE(line.find(percentile), std::string::npos) << width << ": " << line;
        }
      }
    }
  }
  const auto text = drawn(with_three_percentiles("latency"), {}, 80, 40).grid.text();
  EXPECT_NE(text.find("latency  at most 223 µs ─ a=p50 38.7 µs  b=p99 92.9 µs  c=p99.9 223 µs ─"),
            std::string::npos)
      << text;
}

TEST(Graphs, OfALowScreenAreOfTheChosenCounter) {
  auto picture = with_three_percentiles("latency");
  const auto chosen = [&](const std::string& counter) {
    picture.place.counter = counter;
    return drawn(picture, {}, 80, 24).grid.text();
  };

  EXPECT_NE(chosen("latency").find("in a bucket"), std::string::npos);
  const auto text = chosen("latency.p99");
  EXPECT_EQ(text.find("in a bucket"), std::string::npos) << text;
  EXPECT_NE(text.find("b=p99"), std::string::npos) << text;
}

TEST(Graphs, HaveBaseUnitsWhereTheTableHas) {
  auto picture = with_three_percentiles("latency");
  picture.place.base_units = true;
  picture.histogram->percentiles = {{"p50", "0.000412 s"}};

  const auto text = drawn(picture, {}, 200, 60).grid.text();

  EXPECT_NE(text.find("at most 0.0002229 s"), std::string::npos) << text;
  EXPECT_NE(text.find("a=p50 3.87e-05 s"), std::string::npos) << text;
  EXPECT_NE(text.find(" 0.0003 s┤"), std::string::npos) << text;
  EXPECT_NE(text.find(" 0.0064 s┤"), std::string::npos) << text;
  for (const std::string scaled : {"µs", "ms"}) {
    EXPECT_EQ(text.find(scaled), std::string::npos) << text;
  }
  // A number with too many digits for the axis has fewer, and no unit.
  const Grid grid(1, 1, Charset::kUtf8);
  EXPECT_EQ(label_text(grid, 2600, "MHz", UnitStyle::kBase), "2.6e+09");
}

TEST(ValueScale, HasRoundEndsAroundAllValues) {
  view::Plot plot;
  plot.curves = {{"a", {3, 7}, {12, 97}}};
  const ValueScale linear(plot);
  plot.is_logarithmic = true;
  const ValueScale logarithmic(plot);

  EXPECT_EQ(linear.bottom(), 0);
  EXPECT_EQ(linear.top(), 100);
  EXPECT_EQ(logarithmic.value_at(0), 1);
  EXPECT_EQ(logarithmic.value_at(1), 100);
  EXPECT_NEAR(logarithmic.position(10), 0.5, 1e-9);
}

TEST(ValueScale, OfAConstantIsRelativeToItsValue) {
  for (const double value : {2.04e-3, 3.0, 100.0, 1e15, 5e-9}) {
    for (const double sign : {1.0, -1.0}) {
      view::Plot plot;
      plot.curves = {{"a", {sign * value, sign * value}, {sign * value, sign * value}}};
      const ValueScale scale(plot);
      EXPECT_EQ(sign > 0 ? scale.bottom() : scale.top(), 0) << value;
      const double end = sign > 0 ? scale.top() : -scale.bottom();
      EXPECT_GT(end, value);
      EXPECT_LE(end, 2 * value);
    }
  }
  view::Plot zero;
  zero.curves = {{"a", {0}, {0}}};
  EXPECT_EQ(ValueScale(zero).bottom(), 0);
  EXPECT_GT(ValueScale(zero).top(), 0);
}

TEST(ValueScale, OfTheLargestValuesIsFinite) {
  constexpr double kMost = std::numeric_limits<double>::max();
  for (const auto& [low, high] : {std::pair{1.7e308, 1.7e308},
                                  {-1.7e308, -1.7e308},
                                  {-1.7e308, 1.7e308},
                                  {1e307, kMost},
                                  {-kMost, kMost}}) {
    for (const bool is_logarithmic : {false, true}) {
      view::Plot plot;
      plot.curves = {{"a", {low, high}, {low, high}}};
      plot.is_logarithmic = is_logarithmic;
      const ValueScale scale(plot);
      for (const double position : {0.0, 0.5, 1.0}) {
        EXPECT_TRUE(std::isfinite(scale.value_at(position))) << low << " to " << high;
      }
      EXPECT_GE(scale.position(low), 0);
      EXPECT_LE(scale.position(high), 1 + 1e-9) << low << " to " << high;
    }
  }
}

TEST(Header, HasTheDateOfARecordingThatIsNotOfToday) {
  auto picture = set_of_shop();
  picture.is_live = false;
  picture.first_ns = picture.time_ns - 3'600'000'000'000;
  picture.last_ns = picture.time_ns;
  picture.place.at_ns = picture.time_ns;
  const auto date = print_local(picture.time_ns, LocalForm{.date = true}).substr(0, 10);
  const auto header = [&](std::size_t width) {
    const auto text = drawn(picture, {}, width, 20).grid.text();
    return text.substr(0, text.find('\n'));
  };
  EXPECT_NE(header(100).find("AT " + date), std::string::npos) << header(100);
  EXPECT_EQ(header(50).find(date), std::string::npos) << header(50);
}

TEST(Tables, KeepTheChosenLineOnTheScreen) {
  auto picture = overview_of_shop();
  for (std::size_t line = 0; line < 12; ++line) {
    ScreenState state;
    state.section = 1;
    state.line = line;
    for (const std::size_t height : {8U, 10U, 16U, 24U}) {
      const auto grid = drawn(picture, state, 80, height).grid;
      EXPECT_LT(place_of(grid, ">").second, height) << "line " << line << " of " << height;
    }
  }
}

TEST(Tables, DoNotCountHeadingsOfGroups) {
  ScreenState state;
  state.line = 0;
  const auto grid = drawn(set_of_shop(), state, 100, 24).grid;

  EXPECT_EQ(place_of(grid, ">").second, place_of(grid, "  bread").second);
}

TEST(Tables, ShowTheChosenAndTheSortedColumnWhereNotAllFit) {
  auto picture = set_of_shop();
  picture.place.sort = "label_bytes";
  picture.sections[0].chosen_column = 5;

  const auto text = drawn(picture, {}, 44, 12).grid.text();

  EXPECT_NE(text.find("latency.p99"), std::string::npos) << text;
  EXPECT_NE(text.find("label_bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("+5 columns"), std::string::npos) << text;
}

TEST(Targets, AreWhatIsDrawnThere) {
  const auto drawing = drawn(set_of_shop(), {}, 100, 24);
  const auto fruit = place_of(drawing.grid, "fruit");
  const auto stock = place_of(drawing.grid, "stock");

  const auto* const line = drawing.target_at(fruit.first, fruit.second);
  const auto* const heading = drawing.target_at(stock.first, stock.second);

  ASSERT_NE(line, nullptr);
  EXPECT_EQ(line->kind, Target::Kind::kLine);
  EXPECT_EQ(line->index, 1U);
  ASSERT_NE(heading, nullptr);
  EXPECT_EQ(heading->kind, Target::Kind::kHeading);
  EXPECT_EQ(heading->index, 2U);
  EXPECT_EQ(drawing.target_at(99, 23), nullptr);
}

TEST(Targets, OfAPlotTellItsTimes) {
  const auto drawing = drawn(instance_of_shop(), {}, 90, 24);
  const auto heat = place_of(drawing.grid, "at most 900");

  const auto* const target = drawing.target_at(89, heat.second + 1);

  ASSERT_NE(target, nullptr);
  ASSERT_EQ(target->kind, Target::Kind::kTime);
  EXPECT_EQ(target->times_ns.back(), kMadeTimeNs);
  EXPECT_EQ(target->times_ns.size(), 90 - kLabelCells);
}

TEST(HeatMaps, HaveTheSameAxisOfTimeAsPlots) {
  for (const std::size_t moments : {3U, 60U, 89U, 90U, 91U, 150U, 181U, 300U, 5000U}) {
    const TimeColumns columns(moments, 80);
    std::size_t next = 0;
    for (std::size_t dot = 0; dot < 160; ++dot) {
      const auto of_dot = columns.of_dot(dot);
      if (of_dot.begin == of_dot.end) continue;
      const auto of_cell = columns.of_cell(dot / 2);
      EXPECT_LE(of_cell.begin, of_dot.begin);
      EXPECT_GE(of_cell.end, of_dot.end);
      // No moment is left out.
      EXPECT_LE(of_dot.begin, next);
      next = of_dot.end;
    }
    EXPECT_EQ(next, moments);
  }
}

TEST(Windows, AskForNoMoreThanTheScreenShows) {
  const auto window = window_for({}, 120, 40);

  EXPECT_EQ(window.lines, 40U);
  EXPECT_EQ(window.plot_columns, 2 * (120 - kLabelCells));
}

// Every key is in one of the parts; behind the last of them the help ends.
TEST(Help, OfASmallScreenGoesOnWithItsOwnKey) {
  for (const auto& [width, height] : {std::pair{40U, 10U}, {40U, 4U}, {80U, 24U}, {300U, 80U}}) {
    view::Navigator navigator{view::Place()};
    const KeyPress question{.key = Key::kCharacter, .text = "?"};
    std::string all;
    std::size_t parts = 0;
    const auto draw = [&, width = width, height = height] {
      return drawn(overview_of_shop(), state_of(navigator), width, height);
    };
    for (auto drawing = draw(); parts < 100; drawing = draw()) {
      static_cast<void>(handle_press(question, false, drawing, navigator));
      if (!navigator.shows_help()) break;
      all += draw().grid.text();
      ++parts;
    }
    EXPECT_LT(parts, 100U) << width;
    EXPECT_EQ(parts == 1, height >= 24) << height;
    for (const std::string key : {"j k", "Enter", "/", "space", "Ctrl-Z", "wheel"}) {
      EXPECT_NE(all.find(key), std::string::npos) << key << " at " << width << 'x' << height;
    }
  }
}

TEST(Help, EndsWithAnyOtherKeyAndBeginsAnew) {
  view::Navigator navigator{view::Place()};
  const auto press = [&](const char* text) {
    const auto drawing = drawn(overview_of_shop(), state_of(navigator), 40, 10);
    static_cast<void>(
        handle_press({.key = Key::kCharacter, .text = text}, false, drawing, navigator));
  };
  press("?");
  press("?");
  EXPECT_GT(navigator.help_first(), 0U);
  press("x");
  EXPECT_FALSE(navigator.shows_help());
  press("?");
  EXPECT_TRUE(navigator.shows_help());
  EXPECT_EQ(navigator.help_first(), 0U);
}

}  // namespace
}  // namespace meterbank::cli
