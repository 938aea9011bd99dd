// SPDX-License-Identifier: Apache-2.0
//
// Counters of an instance over time: plots, heat maps and the newest histogram.
#include <algorithm>
#include <cmath>

#include "board_fixture.hpp"

namespace meterbank::view {
namespace {

using cli::Dish;

TEST_F(BoardTest, AnInstanceShowsItsDistributionOverTime) {
  serve_a_hundred();
  open_board();
  take();
  for (int i = 0; i < 3; ++i) {
    serve_a_hundred();
    take();
  }

  const auto shown = picture(instance_of("dishes", "soup"));

  ASSERT_TRUE(shown.heat);
  EXPECT_EQ(shown.heat->unit, "ms");
  ASSERT_EQ(shown.heat->counts.size(), 4U);
  EXPECT_TRUE(shown.heat->counts[0].empty()) << "before it, nothing is known";
  for (std::size_t moment = 1; moment < 4; ++moment) {
    const auto column = shown.heat->counts[moment];
    float sum = 0;
    for (const float count : column) sum += count;
    EXPECT_EQ(sum, 100);
    EXPECT_EQ(column.size() + 1, shown.heat->edges.size());
  }
  EXPECT_LE(shown.heat->edges.front(), 1);
  EXPECT_GE(shown.heat->edges.back(), 100);
  ASSERT_EQ(shown.plots.size(), 1U);
  ASSERT_EQ(shown.plots[0].curves.size(), 3U);
  EXPECT_EQ(shown.plots[0].curves[1].name, "latency.p99");
  EXPECT_TRUE(std::isnan(shown.plots[0].curves[1].high[0]));
  EXPECT_NEAR(shown.plots[0].curves[1].high[2], 99, 9);
  ASSERT_TRUE(shown.histogram);
  EXPECT_EQ(shown.histogram->percentiles[0].name, "p50");
}

std::vector<std::string> titles_of(const Picture& picture) {
  std::vector<std::string> titles;
  for (const Plot& plot : picture.plots) titles.push_back(plot.title);
  return titles;
}

TEST_F(BoardTest, OtherCountersOfAnInstanceAreShownOverTimeBesideTheChosenOne) {
  open_board();
  take();
  serve_a_hundred();
  take();
  Place place = instance_of("dishes", "soup");
  place.counter = "latency.p99";
  Window window;
  window.counters = 12;

  const auto all = picture(place, window);

  auto titles = titles_of(all);
  ASSERT_FALSE(titles.empty());
  EXPECT_EQ(titles.front(), "latency");
  EXPECT_EQ(all.plots.front().curves.size(), 3U);
  std::sort(titles.begin(), titles.end());
  // Each once, percentiles with their distribution, and no text.
  std::vector<std::string> drawn;
  for (const Line& line : all.sections.at(0).lines) {
    if (line.key != "state" && line.key.find('.') == std::string::npos) drawn.push_back(line.key);
  }
  std::sort(drawn.begin(), drawn.end());
  EXPECT_EQ(titles, drawn);
  for (const Plot& plot : all.plots) {
    EXPECT_EQ(plot.times_ns.size(), 2U) << plot.title;
    for (const auto& curve : plot.curves) EXPECT_EQ(curve.high.size(), 2U) << curve.name;
  }

  window.counters = 2;
  EXPECT_EQ(titles_of(picture(place, window)).size(), 2U);
  place.filter = "balance";
  EXPECT_EQ(titles_of(picture(place, window)), (std::vector<std::string>{"latency", "balance"}));
}

TEST_F(BoardTest, AMomentWithoutValuesIsAnEmptyColumn) {
  open_board();
  take();
  serve_a_hundred();
  take();
  take();

  const auto shown = picture(instance_of("dishes", "soup"));

  ASSERT_TRUE(shown.heat);
  ASSERT_EQ(shown.heat->counts.size(), 3U);
  EXPECT_TRUE(shown.heat->counts[0].empty());
  EXPECT_FALSE(shown.heat->counts[1].empty());
  EXPECT_TRUE(shown.heat->counts[2].empty());
}

TEST_F(BoardTest, NoSpikeIsLostWhereSeveralMomentsShareAColumn) {
  soup_.gauge(Dish::kBalance).set_signed(1);
  open_board();
  take(7);
  soup_.gauge(Dish::kBalance).set_signed(900);
  take();
  soup_.gauge(Dish::kBalance).set_signed(-900);
  take();
  soup_.gauge(Dish::kBalance).set_signed(1);
  take(11);
  Window window;
  window.plot_columns = 2;
  Place place = instance_of("dishes", "soup");
  place.counter = "balance";

  const auto shown = picture(place, window);

  const auto& curve = shown.plots.at(0).curves.at(0);
  ASSERT_LE(curve.high.size(), 3U);
  EXPECT_EQ(*std::max_element(curve.high.begin(), curve.high.end()), 900);
  EXPECT_EQ(*std::min_element(curve.low.begin(), curve.low.end()), -900);
}

TEST_F(BoardTest, AnIntegerWithoutAUnitHasItsStoredDigits) {
  soup_.gauge(Dish::kBalance).set_signed(-9'007'199'254'740'993);
  open_board();
  take(2);

  for (const bool base_units : {false, true}) {
    Place place = instance_of("dishes", "soup");
    place.base_units = base_units;
    const auto shown = picture(place);
    EXPECT_EQ(cell(shown.sections.at(0), "balance", "NOW"), "-9007199254740993");
    // What is computed of doubles shows no digits that they lack.
    EXPECT_EQ(cell(shown.sections.at(0), "balance", "MIN"), "-9.01e+15");
  }
}

TEST_F(BoardTest, TheMeanOfTheLargestValuesIsFinite) {
  open_board();
  for (int moment = 0; moment < 12; ++moment) {
    soup_.gauge(Dish::kTemperature).set(1.7e308);
    take();
  }

  const auto shown = picture(instance_of("dishes", "soup"));

  EXPECT_EQ(cell(shown.sections.at(0), "temperature", "MEAN"), "1.70e+308 Cel");
  EXPECT_EQ(cell(shown.sections.at(0), "temperature", "MAX"), "1.70e+308 Cel");
  EXPECT_EQ(section_called(picture({}), "Changed most in a minute")->total, 0U);

  soup_.gauge(Dish::kTemperature).set(1e308);
  take();
  const auto overview = picture({});
  const auto* const changes = section_called(overview, "Changed most in a minute");
  EXPECT_EQ(cell(*changes, "dishes/temperature", "BEFORE"), "1.70e+308 Cel");
}

TEST_F(BoardTest, ValuesOutsideTheBucketsAreSaidToLieThere) {
  open_board();
  take();
  Place place = instance_of("dishes", "soup");
  place.counter = "latency";
  EXPECT_EQ(picture(place).plots.at(0).note, "") << "it never had a value";
  place.counter = "state";
  EXPECT_EQ(picture(place).plots.at(0).note, "a text has no curve");
  place.counter = "latency";
  Recorder latency = soup_.recorder(Dish::kLatency);
  latency.record(0.5);
  open_board();
  take();
  EXPECT_EQ(picture(place).plots.at(0).note, "now 1 value ≤ 841 µs");
  for (const double value : {0.2, 0.3, 0.4}) latency.record(value);
  take();

  const auto below = picture(place);

  EXPECT_EQ(below.plots.at(0).note, "now 3 values ≤ 841 µs");
  ASSERT_TRUE(below.histogram);
  EXPECT_EQ(below.histogram->outside, "3 values ≤ 841 µs");
  EXPECT_TRUE(below.histogram->counts.empty());
  EXPECT_NE(json_of(below).find("\"outside\":\"3 values ≤ 841 µs\""), std::string::npos);

  take();
  EXPECT_EQ(picture(place).plots.at(0).note, "no percentile within the buckets");

  for (const double value : {5000, 10, 6000, 7000}) latency.record(value);
  take();
  EXPECT_EQ(picture(place).plots.at(0).note, "now 3 of 4 values > 1.02 s");
  EXPECT_EQ(picture(place).histogram->outside, "3 of 4 values > 1.02 s");

  latency.record(10);
  take();
  EXPECT_EQ(picture(place).plots.at(0).note, "");
  EXPECT_EQ(picture(place).histogram->outside, "");
}

// What changes is what viewers of the page are sent.
TEST_F(BoardTest, ANewMomentChangesNoStepOfAPlotButTheLast) {
  constexpr int kMoments = 12;
  open_board();
  take(60);
  Place place = instance_of("dishes", "soup");
  place.counter = "balance";
  const auto all = picture(place).plots.at(0).times_ns;
  place.span = std::chrono::nanoseconds(all.back() - all[all.size() - 26]);
  Window window;
  window.plot_columns = 10;  // three moments a step, for 21 to 30 of them
  int unchanged = 0;
  for (int moment = 0; moment < kMoments; ++moment) {
    const auto before = picture(place, window).plots.at(0).times_ns;
    take();
    const auto now = picture(place, window).plots.at(0).times_ns;
    const auto is_kept = [&](std::uint64_t time) {
      return time <= now.front() || std::find(now.begin(), now.end(), time) != now.end();
    };
    if (std::all_of(before.begin(), before.end() - 1, is_kept)) ++unchanged;
  }
  // A thread that waits for its processor makes longer moments, and another number of them.
  EXPECT_GE(unchanged, kMoments / 2);
}

}  // namespace
}  // namespace meterbank::view
