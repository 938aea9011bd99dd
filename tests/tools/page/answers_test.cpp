// SPDX-License-Identifier: Apache-2.0
#include "page/feed/answers.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "hand_made_scene.hpp"
#include "page/feed/view_request.hpp"
#include "view/packed.hpp"

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

  ASSERT_EQ(series.substr(0, 4), "MBS2");
  std::uint32_t header = 0;
  std::memcpy(&header, series.data() + 4, sizeof(header));
  EXPECT_EQ((header + 8) % 8, 0U);
  EXPECT_NE(series.find("\"points\":3,\"times\":true"), std::string::npos);
  constexpr std::size_t kTimesBytes = 3 * sizeof(double), kColumnBytes = 16;  // with its zeros
  ASSERT_EQ(series.size(), 8 + header + kTimesBytes + 2 * kColumnBytes);
  const char* columns = series.data() + 8 + header;
  std::array<double, 3> times{};
  std::memcpy(times.data(), columns, sizeof(times));
  EXPECT_EQ(times[0], 1.7e12);
  std::array<float, 8> values{};
  std::memcpy(values.data(), columns + kTimesBytes, sizeof(values));
  EXPECT_EQ(values[0], 0);
  EXPECT_TRUE(std::isnan(values[1]));
  EXPECT_EQ(values[6], 2.5);
}

TEST(Series, SpareTheBandOfALineAndMomentsOfThePlotBefore) {
  HandMadeScene scene;
  scene.moments = 9;
  auto shown = scene.picture({}, {});
  const auto line = series_of(shown).size();
  scene.band = 1;
  constexpr std::size_t kColumnBytes = 10 * sizeof(float);
  EXPECT_GE(series_of(scene.picture({}, {})).size(), line + kColumnBytes - 8);
  shown.picture.plots.push_back(shown.picture.plots[0]);
  EXPECT_LT(series_of(shown).size(), line + kColumnBytes + 120);
}

TEST(Series, KeepNumbersThatAreTooLargeForHalfTheBytes) {
  HandMadeScene scene;
  scene.moments = 1;
  auto shown = scene.picture({}, {});
  shown.picture.plots[0].curves[0].low = {1e300, 2};
  shown.picture.plots[0].curves[0].high = {1e300, 2};
  const std::string series = series_of(shown);
  EXPECT_NE(series.find("\"wide\":true"), std::string::npos);
  double value = 0;
  std::memcpy(&value, series.data() + series.size() - 2 * sizeof(double), sizeof(value));
  EXPECT_EQ(value, 1e300);
}

TEST(Series, KeepChangesThatAreSmallBesideTheValues) {
  HandMadeScene scene;
  scene.moments = 1;
  auto shown = scene.picture({}, {});
  auto& curve = shown.picture.plots[0].curves[0];
  curve.low = curve.high = {1e9, 1e9 + 20};
  const std::string series = series_of(shown);
  EXPECT_NE(series.find("\"wide\":true"), std::string::npos);
  double value = 0;
  std::memcpy(&value, series.data() + series.size() - sizeof(double), sizeof(value));
  EXPECT_EQ(value, 1e9 + 20);
}

TEST(Series, SayThatALaterAnswerHasMore) {
  HandMadeScene scene;
  auto shown = scene.picture({}, {});
  EXPECT_EQ(series_of(shown).find("unfinished"), std::string::npos);
  shown.picture.is_unfinished = true;
  EXPECT_NE(series_of(shown).find("\"unfinished\":true"), std::string::npos);
}

TEST(Series, HaveTheCurvesOfASecondRecordingBehindThoseOfTheFirst) {
  HandMadeScene scene;
  auto shown = scene.picture({}, {});
  shown.over = shown.picture;
  shown.over->plots[0].title = "other";
  const std::string series = series_of(shown);
  const auto over = series.find("\"over\":[{\"title\":\"other\"");
  ASSERT_NE(over, std::string::npos);
  EXPECT_NE(series.find("\"times\":true", over), std::string::npos);
}

TEST(PackedNumbers, AreWideWhereTheyDoNotFit) {
  const auto packed = [](std::vector<double> values) {
    cli::JsonWriter json;
    view::write_packed(json, values, !view::fit_binary32(values));
    return json.take();
  };
  EXPECT_EQ(packed({1, -2}), "\"AACAPwAAAMA=\"");
  EXPECT_EQ(packed({std::numeric_limits<double>::quiet_NaN()}), "\"AADAfw==\"");
  EXPECT_EQ(packed({1e300, std::numeric_limits<double>::infinity()}),
            "{\"wide\":\"nHUAiDzkN34AAAAAAAD4fw==\"}");
  EXPECT_EQ(packed({1e-300}), "{\"wide\":\"WfP4wh9upQE=\"}");
  EXPECT_EQ(packed({1e9, 1e9 + 20}), "{\"wide\":\"AAAAAGXNzUEAAAAKZc3NQQ==\"}");
  // Counts are read as well as drawn.
  EXPECT_EQ(packed({123'456'789, 123'456'789}), "{\"wide\":\"AAAAVDRvnUEAAABUNG+dQQ==\"}");
  EXPECT_EQ(packed({123'456'789, 0}), "{\"wide\":\"AAAAVDRvnUEAAAAAAAAAAA==\"}");
  EXPECT_EQ(packed({16'777'216, 1e9}), "\"AACASyhrbk4=\"");
  EXPECT_EQ(packed({}), "\"\"");
}

TEST(PackedPicture, SparesBandsOfLinesAndMomentsOfThePlotBefore) {
  HandMadeScene scene;
  auto shown = scene.picture({}, {});
  shown.picture.plots.push_back(shown.picture.plots[0]);
  const auto json = json_of(shown, {.is_packed = true});
  EXPECT_EQ(json.find("\"high\""), std::string::npos) << json;
  const auto times = json.find("\"times\":\"");
  EXPECT_NE(times, std::string::npos) << json;
  EXPECT_EQ(json.find("\"times\"", times + 1), std::string::npos) << json;
}

TEST(OverlaidPicture, IsAMemberOfTheFirst) {
  HandMadeScene scene;
  auto shown = scene.picture({}, {});
  shown.over = shown.picture;
  shown.later_ns = 3'000'000;
  const auto json = json_of(shown, {});
  EXPECT_NE(json.find("\"over\":{\"link\""), std::string::npos);
  EXPECT_NE(json.find("\"shift\":-3}"), std::string::npos) << json;
}

}  // namespace
}  // namespace meterbank::page
