// SPDX-License-Identifier: Apache-2.0
#include "page/feed/answers.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "hand_made_scene.hpp"
#include "page/feed/view_request.hpp"

namespace meterbank::page {
namespace {

TEST(ViewRequest, TakesTheWindowOutOfTheLink) {
  const auto request = parse_view_request(
      "screen=set&window.section=1&set=orders&window.first=40&window.lines=20&window.plots=apart"
      "&window.counters=12");
  ASSERT_TRUE(request) << request.error().message();
  EXPECT_EQ(request->place.set, "orders");
  EXPECT_EQ(request->window.section, 1U);
  EXPECT_EQ(request->window.first, 40U);
  EXPECT_EQ(request->window.lines, 20U);
  EXPECT_EQ(request->window.counters, 12U);
  EXPECT_TRUE(request->plots_apart);
}

TEST(ViewRequest, RefusesWhatItDoesNotKnow) {
  for (const std::string_view query :
       {"window.lines=many", "window.lines=", "window.lines=1001", "window.color=red", "window.",
        "window.step=sideways", "window.lines=-1", "window.counters=65", "screen=cellar",
        "unknown=1"}) {
    EXPECT_FALSE(parse_view_request(query)) << query;
  }
}

TEST(Series, AreColumnsBehindAHeader) {
  HandMadeScene scene;
  scene.moments = 2;
  scene.band = 0.5;
  auto shown = scene.picture({}, {});
  shown.picture.plots[0].curves[0].low[1] = std::numeric_limits<double>::quiet_NaN();
  const std::string series = series_of(shown);

  ASSERT_EQ(series.substr(0, 4), "MBS1");
  std::uint32_t header = 0;
  std::memcpy(&header, series.data() + 4, sizeof(header));
  EXPECT_EQ((header + 8) % 8, 0U);
  EXPECT_NE(series.find("\"points\":3"), std::string::npos);
  ASSERT_EQ(series.size(), 8 + header + 3 * 3 * sizeof(double));
  std::array<double, 9> columns{};
  std::memcpy(columns.data(), series.data() + 8 + header, sizeof(columns));
  EXPECT_EQ(columns[0], 1.7e12);
  EXPECT_EQ(columns[3], 0);
  EXPECT_TRUE(std::isnan(columns[4]));
  EXPECT_EQ(columns[8], 2.5);
}

TEST(Series, SpareTheBandOfALine) {
  HandMadeScene scene;
  scene.moments = 9;
  const auto line = series_of(scene.picture({}, {})).size();
  scene.band = 1;
  EXPECT_GE(series_of(scene.picture({}, {})).size(), line + 10 * sizeof(double) - 8);
}

TEST(Tail, HasOnlyTheMomentsThatAreNew) {
  HandMadeScene scene;
  scene.moments = 20;
  const auto before = scene.picture({}, {});
  scene.moments = 21;
  const auto now = scene.picture({}, {});
  const auto tail = tail_json(before, now);
  ASSERT_TRUE(tail);
  EXPECT_NE(tail->find("\"kept\":[[1,9]]"), std::string::npos) << *tail;
  EXPECT_NE(tail->find("\"low\":[21]"), std::string::npos) << *tail;
  EXPECT_LT(tail->size(), json_of(now, false).size());
}

view::Line line_with(const std::string& key, const std::vector<double>& trend) {
  view::Line line;
  line.key = key;
  line.trend = trend;
  return line;
}

TEST(Tail, HasOnlyTheNewestValuesOfLines) {
  HandMadeScene scene;
  auto before = scene.picture({}, {});
  ASSERT_FALSE(before.picture.sections.empty());
  const double none = std::numeric_limits<double>::quiet_NaN();
  before.picture.sections[0].lines = {line_with("moves", {1, 2, 3}), line_with("grows", {none, 2}),
                                      line_with("jumps", {1, 2, 3}), line_with("goes", {1, 2, 3})};
  auto now = before;
  auto& next = now.picture.sections[0].lines;
  next[0].trend = {2, 3, 4.25};
  next[1].trend = {none, 2, 5.5};
  next[2].trend = {7, 8, 9};
  next[3] = line_with("comes", {1, 2, 3});

  const auto tail = tail_json(before, now);

  ASSERT_TRUE(tail);
  EXPECT_NE(tail->find("\"trends\":[[[1,2],[0,2],[0,0],[0,0]"), std::string::npos) << *tail;
  for (const std::string_view rest :
       {"\"trend\":[4.25]", "\"trend\":[5.5]", "\"trend\":[7,8,9]", "\"trend\":[1,2,3]"}) {
    EXPECT_NE(tail->find(rest), std::string::npos) << rest << *tail;
  }
}

TEST(Tail, BeginsWhereAMomentHasChanged) {
  HandMadeScene scene;
  scene.moments = 5;
  const auto before = scene.picture({}, {});
  auto now = before;
  now.picture.plots[0].curves[0].high.back() = 7;
  const auto tail = tail_json(before, now);
  ASSERT_TRUE(tail);
  EXPECT_NE(tail->find("\"kept\":[[0,5]]"), std::string::npos) << *tail;
}

TEST(Tail, IsNotMadeOfAnotherPlace) {
  HandMadeScene scene;
  const auto before = scene.picture({}, {});
  view::Place other;
  other.set = "orders";
  EXPECT_FALSE(tail_json(before, scene.picture(other, {})));
  auto renamed = before;
  renamed.picture.plots[0].curves[0].name = "other";
  EXPECT_FALSE(tail_json(before, renamed));
}

TEST(OverlaidPicture, IsAMemberOfTheFirst) {
  HandMadeScene scene;
  auto shown = scene.picture({}, {});
  shown.over = shown.picture;
  shown.later_ns = 3'000'000;
  const auto json = json_of(shown, false);
  EXPECT_NE(json.find("\"over\":{\"link\""), std::string::npos);
  EXPECT_NE(json.find("\"shift\":-3}"), std::string::npos) << json;
}

}  // namespace
}  // namespace meterbank::page
