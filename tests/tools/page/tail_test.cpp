// SPDX-License-Identifier: Apache-2.0
#include "page/feed/tail.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hand_made_scene.hpp"
#include "page/feed/answers.hpp"

// What the page makes of them is compared with whole pictures in page_in_browser.py.
namespace meterbank::page {
namespace {

bool has(const std::optional<std::string>& tail, std::string_view part) {
  return tail && tail->find(part) != std::string::npos;
}

TEST(Tail, HasOnlyTheMomentsThatAreNew) {
  HandMadeScene scene;
  scene.moments = 20;
  const auto before = scene.picture({}, {});
  scene.moments = 21;
  const auto now = scene.picture({}, {});
  const auto tail = tail_json(before, now);
  // 21 as binary32.
  EXPECT_PRED2(has, tail,
               "\"plots\":{\"kept\":[1,9],\"times\":[1700000021000],\"values\":\"AACoQQ==\"}");
  EXPECT_LT(tail->size(), json_of(now, {.is_packed = true}).size() / 2);
}

TEST(Tail, HasBothEndsOfABand) {
  HandMadeScene scene;
  scene.moments = 20;
  scene.band = 1;
  const auto before = scene.picture({}, {});
  scene.moments = 21;
  EXPECT_PRED2(has, tail_json(before, scene.picture({}, {})),
               "\"bands\":true,\"values\":\"AACoQQAAsEE=\"}");
}

TEST(Tail, HasOnlyWhatDiffersOfALine) {
  HandMadeScene scene;
  const auto before = scene.picture({}, {});
  auto now = before;
  EXPECT_PRED2(has, tail_json(before, now), "\"lines\":[0]");
  auto& line = now.picture.sections[0].lines[0];
  line.cells[1] = {"7", view::Mood::kBad};
  line.is_pinned = true;
  EXPECT_PRED2(has, tail_json(before, now),
               "\"lines\":[{\"cells\":[0,{\"text\":\"7\",\"mood\":\"bad\"}],\"pinned\":true}]");
  line = before.picture.sections[0].lines[0];
  line.opens = view::Place();
  line.details = {"what it is"};
  EXPECT_PRED2(has, tail_json(before, now), "\"details\":[\"what it is\"]");
  EXPECT_PRED2(has, tail_json(now, before), "\"opens\":null,\"details\":[]");
}

view::Line line_with(const std::string& key, const std::vector<double>& trend) {
  view::Line line;
  line.key = key;
  line.trend = trend;
  return line;
}

TEST(Tail, SaysWhichLineOfBeforeALineIs) {
  HandMadeScene scene;
  auto before = scene.picture({}, {});
  before.picture.sections[0].lines = {line_with("a", {}), line_with("b", {}), line_with("c", {})};
  auto now = before;
  now.picture.sections[0].lines = {line_with("c", {}), line_with("b", {}), line_with("new", {})};
  EXPECT_PRED2(has, tail_json(before, now),
               "\"lines\":[{\"was\":2},0,{\"key\":\"new\",\"cells\":[]}]");
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
  next[3] = line_with("comes", {1e300});

  EXPECT_PRED2(has, tail_json(before, now),
               "\"trends\":{\"kept\":[[1,2,1],[0,2,1],[0,0,3],[0,0,1]],"
               "\"values\":{\"wide\":"
               "\"AAAAAAAAEUAAAAAAAAAWQAAAAAAAABxAAAAAAAAAIEAAAAAAAAAiQJx1AIg85Dd+\"}}");
}

TEST(Tail, SaysOnceWhatAllLinesKeep) {
  HandMadeScene scene;
  auto before = scene.picture({}, {});
  auto& lines = before.picture.sections[0].lines;
  for (const char* name : {"a", "b", "c"}) lines.push_back(line_with(name, {1, 2}));
  lines.erase(lines.begin());
  auto now = before;
  for (auto& line : now.picture.sections[0].lines) line.trend = {2, 1};
  EXPECT_PRED2(has, tail_json(before, now),
               "\"trends\":{\"kept\":[[1,1,1]],\"values\":\"AACAPwAAgD8AAIA/\"}");
}

TEST(Tail, IsAsExactAsThePlotThatItFollows) {
  HandMadeScene scene;
  scene.moments = 20;
  auto before = scene.picture({}, {});
  scene.moments = 21;
  auto now = scene.picture({}, {});
  for (auto* shown : {&before, &now}) {
    auto& curve = shown->picture.plots[0].curves[0];
    for (auto* values : {&curve.low, &curve.high}) {
      for (double& value : *values) value += 1e9;
    }
  }
  // 1,000,000,021 as binary64: binary32 has steps of 64 there.
  EXPECT_PRED2(has, tail_json(before, now), "\"values\":{\"wide\":\"AACACmXNzUE=\"}");
}

TEST(Tail, BeginsWhereAMomentHasChanged) {
  HandMadeScene scene;
  scene.moments = 5;
  const auto before = scene.picture({}, {});
  auto now = before;
  now.picture.plots[0].curves[0].high.back() = 7;
  EXPECT_PRED2(has, tail_json(before, now), "\"plots\":{\"kept\":[0,5]");
}

view::HeatMap heat_of(std::vector<double> edges, const std::vector<std::vector<float>>& columns) {
  view::HeatMap heat;
  heat.edges = std::move(edges);
  for (const auto& column : columns) {
    heat.times_ns.push_back(HandMadeScene::time_of(heat.times_ns.size()));
    std::ranges::copy(column, heat.counts.add(column.size()).begin());
  }
  return heat;
}

TEST(Tail, KeepsColumnsOfAHeatMapThatHasOtherRows) {
  HandMadeScene scene;
  auto before = scene.picture({}, {});
  auto now = before;
  before.picture.heat = heat_of({2, 4, 8}, {{1, 2}, {}, {3, 0}});
  now.picture.heat = heat_of({1, 2, 4, 8, 16}, {{0, 1, 2, 0}, {}, {0, 3, 0, 0}, {5, 6, 7, 8}});
  EXPECT_PRED2(has, tail_json(before, now),
               "\"heat\":{\"kept\":[0,3],\"edges\":[1,2,4,8,16],\"rows\":[1,1],"
               "\"times\":[1700000003000],\"counts\":[[5,6,7,8]]}");
  EXPECT_PRED2(has, tail_json(now, before),
               "\"heat\":{\"kept\":[0,3],\"edges\":[2,4,8],\"rows\":[-1,-1],\"times\":[]");
  now.picture.heat = heat_of({1, 2, 4, 8}, {{0, 1, 2}, {9, 9, 9}, {0, 3, 0}});
  EXPECT_PRED2(has, tail_json(before, now),
               "\"heat\":{\"kept\":[0,1],\"edges\":[1,2,4,8],\"rows\":[1,0]");
  now.picture.heat = heat_of({4, 8, 16}, {{2, 0}, {}, {0, 0}});
  EXPECT_PRED2(has, tail_json(before, now),
               "\"heat\":{\"kept\":[0,0],\"edges\":[4,8,16],\"rows\":[-1,1]")
      << "a row with a value has gone";
  now.picture.heat = heat_of({2, 8, 32}, {{1, 2}, {}, {3, 0}});
  EXPECT_PRED2(has, tail_json(before, now), "\"heat\":{\"kept\":[0,0],\"edges\":[2,8,32],\"times\"")
      << "rows of other sizes";
}

TEST(Tail, IsNotMadeOfWhatItCannotSay) {
  HandMadeScene scene;
  const auto before = scene.picture({}, {});
  view::Place other;
  other.set = "orders";
  EXPECT_FALSE(tail_json(before, scene.picture(other, {})));
  auto now = before;
  now.picture.plots[0].curves[0].name = "other";
  EXPECT_FALSE(tail_json(before, now)) << "another curve";
  now = before;
  now.picture.sections.emplace_back();
  EXPECT_FALSE(tail_json(before, now)) << "another section";
  now = before;
  now.picture.heat.emplace();
  EXPECT_FALSE(tail_json(before, now)) << "a heat map";
  now = before;
  now.picture.histogram.emplace();
  EXPECT_FALSE(tail_json(before, now)) << "a histogram";
  now = before;
  now.picture.plots.push_back(now.picture.plots[0]);
  EXPECT_FALSE(tail_json(before, now)) << "another plot";
  auto both = now;
  both.picture.plots[1].times_ns[0] -= 1;
  EXPECT_FALSE(tail_json(both, both)) << "plots of different moments";
  now = before;
  now.over = before.picture;
  EXPECT_FALSE(tail_json(now, now)) << "a second recording";
}

}  // namespace
}  // namespace meterbank::page
