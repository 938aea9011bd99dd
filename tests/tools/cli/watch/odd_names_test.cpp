// SPDX-License-Identifier: Apache-2.0
//
// A drawing of names that are made to break it. Names come cleaned from the view model; here they
// come as they are, because nothing may rely on that.
#include <gtest/gtest.h>

#include "cli/format/table.hpp"
#include "cli/watch/draw/picture_cells.hpp"
#include "made_pictures.hpp"

namespace meterbank::cli {
namespace {

// The same picture with a name in place of each text.
view::Picture with_names(view::Picture picture, const std::string& name) {
  for (auto& crumb : picture.crumbs) crumb.text = name;
  for (auto& problem : picture.problems) problem = name;
  for (auto& section : picture.sections) {
    section.title = section.trend = name;
    for (auto& column : section.columns) column.heading = name;
    for (auto& line : section.lines) {
      for (auto& cell : line.cells) cell.text = name;
      for (auto& detail : line.details) detail = name;
    }
  }
  for (auto& plot : picture.plots) {
    plot.title = plot.unit = name;
    for (auto& curve : plot.curves) curve.name = name;
  }
  if (picture.heat) picture.heat->title = picture.heat->unit = name;
  if (picture.histogram) {
    picture.histogram->title = picture.histogram->unit = name;
    for (auto& percentile : picture.histogram->percentiles)
      percentile.name = percentile.text = name;
  }
  picture.place.filter = picture.place.sort = name;
  return picture;
}

// What a terminal would do other than to show a character in the cell that it was given.
std::string first_fault(const Grid& grid) {
  for (std::size_t y = 0; y < grid.height(); ++y) {
    for (std::size_t x = 0; x < grid.width(); ++x) {
      const auto& text = grid.at(x, y).text;
      if (text.empty()) {
        if (x == 0 || display_width(grid.at(x - 1, y).text) != 2) return "half a character";
        continue;
      }
      const auto width = display_width(text);
      const bool is_wide = x + 1 < grid.width() && grid.at(x + 1, y).text.empty();
      if (width != (is_wide ? 2U : 1U)) return "a cell of other width: " + text;
      if (!is_valid_utf8(text)) return "bytes that are not UTF-8";
      for (std::string_view rest = text; !rest.empty();) {
        const auto decoded = decode_utf8(rest);
        const bool is_hidden_character = is_hidden(decoded.code_point);
        if (is_control(decoded.code_point) || is_hidden_character) return "a hidden character";
        if (grid.is_ascii() && decoded.code_point >= 0x7F) return "more than ASCII: " + text;
        rest.remove_prefix(decoded.length);
      }
    }
  }
  return {};
}

TEST(OddNames, FillNoCellsButTheirOwn) {
  for (const auto& [what, name] : odd_names()) {
    for (const auto& picture : {overview_of_shop(), set_of_shop(), instance_of_shop()}) {
      const auto odd = with_names(picture, name);
      for (const auto charset : {Charset::kUtf8, Charset::kAscii}) {
        for (const auto& [width, height] : {std::pair{40U, 10U}, {80U, 24U}, {300U, 80U}}) {
          const auto drawing = draw_picture(odd, {}, {charset, 256, true}, width, height);
          EXPECT_EQ(first_fault(drawing.grid), "") << what << " at " << width << "x" << height;
        }
      }
    }
  }
}

TEST(OddNames, AreLegibleWhereTheyArePrintable) {
  auto picture = set_of_shop();
  picture.sections[0].lines[1].cells[0].text = "שלום";

  const auto text = draw_picture(picture, {}, {Charset::kUtf8, 0, true}, 80, 24).grid.text();

  EXPECT_NE(text.find("שלום"), std::string::npos);
  EXPECT_NE(text.find("東京の棚"), std::string::npos);
}

TEST(OddSizes, AreDrawnWithoutAFault) {
  for (const auto& picture :
       {overview_of_shop(), set_of_shop(), instance_of_shop(), view::Picture()}) {
    for (std::size_t width = 0; width < 130; width += width < 20 ? 1 : 7) {
      for (std::size_t height = 0; height < 50; height += height < 24 ? 1 : 5) {
        for (const bool shows_help : {false, true}) {
          ScreenState state;
          state.line = 7;
          state.section = 1;
          state.shows_help = shows_help;
          state.typing = static_cast<view::Navigator::Typing>(height % 3);
          state.typed = std::string(height * 5, 't');
          const auto drawing =
              draw_picture(picture, state, {Charset::kUtf8, 256, true}, width, height);
          ASSERT_EQ(first_fault(drawing.grid), "") << width << "x" << height;
          ASSERT_EQ(drawing.grid.width(), width);
        }
      }
    }
  }
}

}  // namespace
}  // namespace meterbank::cli
