// SPDX-License-Identifier: Apache-2.0
//
// Drawings as text files. METERBANK_WRITE_GOLDEN=1 in the environment writes them.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include <fstream>
#include <sstream>

#include "cli/format/table.hpp"
#include "cli/watch/draw/picture_cells.hpp"
#include "made_pictures.hpp"

namespace meterbank::cli {
namespace {

struct Size {
  std::size_t width, height;
};
constexpr Size kSizes[] = {{40, 10}, {80, 24}, {120, 40}, {300, 80}};

class GoldenScreens : public ::testing::Test {
 protected:
  void SetUp() override {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
};

ScreenState state_with(std::size_t line) {
  ScreenState state;
  state.line = line;
  state.interval = std::chrono::seconds(1);
  return state;
}

void expect_golden(const std::string& name, const std::string& text) {
  const auto path = fmt::format("{}/{}.txt", METERBANK_GOLDEN, name);
  if (std::getenv("METERBANK_WRITE_GOLDEN") != nullptr) {
    std::ofstream(path, std::ios::binary) << text;
  }
  std::ifstream file(path, std::ios::binary);
  std::stringstream golden;
  golden << file.rdbuf();
  EXPECT_EQ(text, golden.str()) << path;
}

void expect_all_sizes(const std::string& name, const view::Picture& picture,
                      const ScreenState& state) {
  for (const auto charset : {Charset::kUtf8, Charset::kAscii}) {
    for (const auto& size : kSizes) {
      DrawingStyle style{charset, 0, true};
      const auto drawing = draw_picture(picture, state, style, size.width, size.height);
      expect_golden(fmt::format("{}_{}x{}_{}", name, size.width, size.height,
                                charset == Charset::kUtf8 ? "utf8" : "ascii"),
                    drawing.grid.text());
    }
  }
}

TEST_F(GoldenScreens, ShowTheOverview) {
  expect_all_sizes("overview", overview_of_shop(), state_with(1));
}

TEST_F(GoldenScreens, ShowASetWithGroupsPinsAndSorting) {
  expect_all_sizes("set", set_of_shop(), state_with(2));
}

TEST_F(GoldenScreens, ShowAnInstanceWithPlotHeatMapAndHistogram) {
  expect_all_sizes("instance", instance_of_shop(), state_with(3));
}

TEST_F(GoldenScreens, ShowTheHelp) {
  auto state = state_with(0);
  state.shows_help = true;
  expect_all_sizes("help", overview_of_shop(), state);
}

TEST_F(GoldenScreens, ShowWhatIsTyped) {
  auto state = state_with(0);
  state.typing = view::Navigator::Typing::kTime;
  state.typed = "25:00";
  state.complaint = "'25:00' is not a time";
  expect_all_sizes("typing", set_of_shop(), state);
}

TEST_F(GoldenScreens, ShowColoursOnTopOfTheSameText) {
  const DrawingStyle plain{Charset::kUtf8, 0, true};
  const DrawingStyle eight{Charset::kUtf8, 8, true};
  const auto overview = overview_of_shop();

  const auto without = draw_picture(overview, state_with(1), plain, 80, 24);
  const auto with = draw_picture(overview, state_with(1), eight, 80, 24);

  EXPECT_EQ(without.grid.text(), with.grid.text());
  EXPECT_EQ(without.grid.looks().find('c'), std::string::npos);
  expect_golden("overview_80x24_looks", with.grid.looks());
}

TEST_F(GoldenScreens, ShowAHeatMapInHalfBlocksOf256Colours) {
  const auto drawing =
      draw_picture(instance_of_shop(), state_with(3), {Charset::kUtf8, 256, true}, 120, 40);

  expect_golden("instance_120x40_256", drawing.grid.text() + drawing.grid.looks());
}

}  // namespace
}  // namespace meterbank::cli
