// SPDX-License-Identifier: Apache-2.0
//
// Boards over recordings: the same pictures as live.
#include <cmath>
#include <numeric>
#include <set>

#include "../../support/temporary_directory.hpp"
#include "../record/made_shop.hpp"
#include "cli/session/exit_code.hpp"
#include "record/kept_ticks.hpp"
#include "recorded_board_fixture.hpp"

namespace meterbank::view {
namespace {

using cli::Dish;

TEST_F(RecordedBoard, OpensAtTheEndWithThePastBeforeIt) {
  record(10);
  open_board(log_);

  const auto shown = picture(instance_of("dishes", "soup"));

  EXPECT_FALSE(shown.is_live);
  EXPECT_EQ(shown.time_ns, selection_->log->last().realtime_ns);
  EXPECT_EQ(shown.first_ns, selection_->log->first().realtime_ns);
  ASSERT_TRUE(shown.heat);
  EXPECT_GE(shown.heat->counts.size(), 5U);
}

TEST_F(RecordedBoard, EveryMomentCanBeLookedAtExactly) {
  record(8);
  open_board(log_);
  Place place = set_of("dishes");
  std::vector<std::string> back;
  std::vector<std::string> forth;
  std::vector<std::uint64_t> times;
  place.at_ns = picture(place).time_ns;
  for (;;) {
    times.push_back(*place.at_ns);
    back.push_back(cell(picture(place).sections.at(0), "soup", "balance"));
    const auto earlier = board_->moment_before(place.at_ns);
    if (!earlier) break;
    place.at_ns = earlier;
  }
  ASSERT_GE(times.size(), 5U);
  for (auto time = times.rbegin(); time != times.rend(); ++time) {
    place.at_ns = *time;
    forth.push_back(cell(picture(place).sections.at(0), "soup", "balance"));
  }

  std::reverse(forth.begin(), forth.end());
  EXPECT_EQ(back, forth);
  EXPECT_NE(back.front(), back.back());
}

TEST_F(RecordedBoard, StepsBackAndForthThroughAllMoments) {
  record(8);
  open_board(log_);
  std::vector<std::uint64_t> recorded;
  auto log = recording::Recording::open(log_);
  ASSERT_TRUE(log);
  while (log->next()) recorded.push_back(log->time().realtime_ns);
  std::vector<std::uint64_t> back{recorded.back()};
  while (const auto earlier = board_->moment_before(back.back())) {
    back.push_back(*earlier);
    Place place = set_of("dishes");
    place.at_ns = *earlier;
    EXPECT_EQ(picture(place).time_ns, *earlier);
  }
  std::vector<std::uint64_t> forth{back.back()};
  while (const auto later = board_->moment_after(forth.back())) forth.push_back(*later);

  EXPECT_EQ(forth, recorded);
  EXPECT_EQ(std::vector<std::uint64_t>(back.rbegin(), back.rend()), recorded);
}

TEST_F(RecordedBoard, TheFirstMomentHasLevelsAndNoRates) {
  record(5);
  open_board(log_);
  Place place = set_of("dishes");
  static_cast<void>(picture(place));
  place.at_ns = selection_->log->first().realtime_ns;

  const auto first = picture(place);

  EXPECT_EQ(first.time_ns, *place.at_ns);
  EXPECT_EQ(cell(first.sections.at(0), "soup", "served"), "-");
  EXPECT_NE(cell(first.sections.at(0), "soup", "balance"), "");
}

TEST_F(RecordedBoard, ATimeBetweenTwoMomentsShowsTheOneBefore) {
  record(5);
  open_board(log_);
  const auto last_ns = selection_->log->last().realtime_ns;
  const auto before_ns = *board_->moment_before(last_ns);
  Place place = set_of("dishes");
  place.at_ns = last_ns - 1;

  EXPECT_EQ(picture(place).time_ns, before_ns);
  EXPECT_EQ(board_->moment_after(*place.at_ns), last_ns);
  EXPECT_LT(*board_->moment_before(place.at_ns), before_ns);
}

TEST_F(RecordedBoard, ALiveBoardCanBeginWithWhatWasRecorded) {
  record(8);
  open_board();
  take();
  const auto before = picture(instance_of("dishes", "soup"));
  ASSERT_TRUE(board_->remember(log_, 0, before.time_ns));
  EXPECT_FALSE(board_->remember(file("none"), 0, before.time_ns));
  take();

  const auto shown = picture(instance_of("dishes", "soup"));

  ASSERT_TRUE(shown.heat);
  EXPECT_GE(shown.heat->counts.size(), 7U);
  Place place = instance_of("dishes", "soup");
  place.counter = "balance";
  const auto curve = picture(place).plots.at(0).curves.at(0);
  EXPECT_LT(curve.low.at(1), curve.high.back());
}

// More counters than have a past.
class RecordedCrowd : public RecordedBoard {
 protected:
  RecordedCrowd() {
    for (int i = 0; i < kCrowd; ++i) {
      crowd_.push_back(*dishes_.create_instance("d" + std::to_string(i)));
    }
    open_shop_beside();
    fruit_ = *sales_.create_instance("fruit");
  }
  void save_crowd() {
    save_evenly(directory_, 12, [&](int moment) {
      for (Instance& dish : crowd_) dish.gauge(Dish::kBalance).set_signed(moment);
      fruit_.gauge(cli::Sales::kStock).set(static_cast<unsigned>(moment));
    });
  }
  static constexpr int kCrowd = 1'200;
  std::vector<Instance> crowd_;
  Instance fruit_;
};

TEST_F(RecordedCrowd, WhatIsOpenedHasItsPastAtOnce) {
  save_crowd();
  open_board(log_);
  Place place = instance_of("dishes", "d1100");
  place.counter = "balance";

  const auto shown = picture(place);

  ASSERT_FALSE(shown.plots.empty());
  EXPECT_EQ(shown.plots[0].curves.at(0).high.back(), 11);
  EXPECT_EQ(shown.plots[0].times_ns.size(), 12U);
}

TEST_F(RecordedCrowd, EachLineThatIsShownHasATrend) {
  save_crowd();
  open_board(log_);
  Place place = set_of("dishes");
  place.counter = "balance";
  Window window{.first = 1'000, .lines = 20};

  const auto shown = picture(place, window);

  ASSERT_EQ(shown.sections.at(0).lines.size(), 20U);
  for (const Line& line : shown.sections[0].lines) EXPECT_EQ(line.trend.size(), 12U) << line.key;
}

TEST_F(RecordedCrowd, TheOverviewHasNoTrendOfAPartOfASet) {
  save_crowd();
  open_board(log_);

  const auto shown = picture(Place());

  const auto* const sets = section_called(shown, "Busiest sets");
  ASSERT_NE(sets, nullptr);
  for (const Line& line : sets->lines) {
    if (line.cells.at(0).text == "dishes") {
      EXPECT_LE(line.trend.size(), 1U);
    }
  }
}

TEST_F(RecordedCrowd, ALiveBoardBeginsWithThePastOfSmallSetsAndOfWhatIsLookedAt) {
  save_crowd();
  open_board();
  take();
  Place dish = instance_of("dishes", "d1100");
  dish.counter = "balance";
  dish.span = std::chrono::hours(200'000);  // the recording is of 2023
  const auto before = picture(dish);
  ASSERT_TRUE(board_->remember(log_, 0, before.time_ns));
  take();

  const auto of_dish = picture(dish);
  Place fruit = instance_of("shop_sales", "fruit");
  fruit.counter = "stock";
  fruit.span = dish.span;
  const auto of_fruit = picture(fruit);

  for (const Picture* shown : {&of_dish, &of_fruit}) {
    ASSERT_FALSE(shown->plots.empty());
    const auto& values = shown->plots[0].curves.at(0).high;
    EXPECT_GE(std::count_if(values.begin(), values.end(), [](double value) { return value < 11; }),
              10);
  }
}

TEST_F(BoardTest, WhatItKnowsIsSavedAsARecordingWithoutALostSample) {
  constexpr int kMoments = 150;
  open_board();
  for (int balance = 0; balance < kMoments; ++balance) {
    soup_.gauge(Dish::kBalance).set_signed(balance);
    // A set that comes later has its schema in the file as well.
    if (balance == 100) open_shop_beside();
    selection_->refresh();
    board_->take();
    // The sample that is there already is kept, too.
    if (balance == 0) board_->keep_samples();
  }
  const auto path = file("saved.mbr");

  const auto saved = board_->save(path, std::chrono::milliseconds(10));

  ASSERT_TRUE(saved) << saved.error().message();
  const auto checked = meterbank({"log", "check", path});
  EXPECT_EQ(checked.code, cli::kExitDone) << checked.err;
  const auto rows =
      meterbank({"get", "dishes/soup/balance", "--log", path, "--from", "@0", "-f", "tsv"});
  EXPECT_EQ(rows.lines().size(), kMoments + 1U) << rows.err;
  EXPECT_NE(meterbank({"list", "--log", path}).out.find("shop_sales"), std::string::npos);
  // A file that is there stays what it is.
  const auto again = board_->save(path, std::chrono::milliseconds(10));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::kExists);
}

TEST_F(BoardTest, ABoardThatKeepsNoSamplesSaysSo) {
  open_board();
  take();
  const auto saved = board_->save(file("saved.mbr"), std::chrono::seconds(1));
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().code, ErrorCode::kNotFound);
}

// Far more moments than a screen keeps, and one of them is not like the others.
TEST_F(RecordedBoard, ASpikeOfOneMomentIsSeenHoweverLongTheSpanIs) {
  save_evenly(directory_, 5'000, [&](int moment) {
    soup_.gauge(Dish::kBalance).set_signed(moment == 3'217 ? 900 : 1);
    soup_.recorder(Dish::kLatency).record(moment == 3'217 ? 900 : 2);
  });
  open_board(log_);
  Place place = instance_of("dishes", "soup");
  place.counter = "balance";
  Window window;
  window.plot_columns = 20;

  const auto levels = picture(place, window);
  place.counter = "latency";
  const auto spread = picture(place, window);

  ASSERT_EQ(levels.plots.size(), 1U);
  const auto& level = levels.plots[0].curves.at(0);
  ASSERT_EQ(level.high.size(), 20U);
  EXPECT_EQ(std::count(level.high.begin(), level.high.end(), 900), 1);
  for (const double least : level.low) EXPECT_EQ(least, 1);
  ASSERT_EQ(spread.plots.at(0).curves.size(), 3U);
  const auto& p99 = spread.plots[0].curves[1];
  EXPECT_EQ(p99.name, "latency.p99");
  EXPECT_EQ(std::count_if(p99.high.begin(), p99.high.end(), [](double at) { return at > 500; }), 1);

  window.counters = 12;
  const auto all = picture(place, window);
  ASSERT_GE(all.plots.size(), 3U);
  EXPECT_EQ(all.plots[0].title, "latency");
  const auto balance = std::find_if(all.plots.begin(), all.plots.end(),
                                    [](const Plot& plot) { return plot.title == "balance"; });
  ASSERT_NE(balance, all.plots.end());
  ASSERT_EQ(balance->curves.size(), 1U);
  const auto& highest = balance->curves[0].high;
  EXPECT_EQ(std::count(highest.begin(), highest.end(), 900), 1);
  EXPECT_EQ(balance->times_ns, levels.plots[0].times_ns);
}

// Screens show samples of all rates, one in ten here.
TEST_F(RecordedBoard, ASpikeBetweenTwoSamplesOfASlowerRateIsInThePlot) {
  record::MadeShop made(1, 10);
  for (std::uint64_t second = 0; second < 60; ++second) {
    made.tick(second, RowStatus::kFresh, second == 33 ? 1'000 : 0);
  }
  made.write(log_);
  open_board(log_);
  Place place = instance_of("orders", "of 1");
  place.counter = "balance";

  const auto shown = picture(place);

  ASSERT_EQ(shown.plots.size(), 1U);
  const auto& highest = shown.plots[0].curves.at(0).high;
  EXPECT_EQ(std::count(highest.begin(), highest.end(), 960), 1);
  EXPECT_EQ(shown.time_ns, record::MadeRecording::kStart + 50 * record::MadeRecording::kSecond);
}

// In 200 columns. From second 20 to 29 the faster rate has no samples, from 30 on it has all.
TEST_F(RecordedBoard, ASlowRateIsALineAndOnlyWhatIsMissingIsAGap) {
  record::MadeShop made(1, 10);
  for (std::uint64_t second = 0; second < 61; ++second) {
    if (second <= 20 || second >= 30) made.tick(second);
  }
  made.write(log_);
  open_board(log_);
  Window window;
  window.plot_columns = 200;
  const auto highest = [&](const Place& place) {
    const auto shown = picture(place, window);
    EXPECT_EQ(shown.plots.at(0).times_ns.size(), shown.plots.at(0).curves.at(0).high.size());
    return shown.plots.at(0).curves.at(0).high;
  };
  Place orders = instance_of("orders", "of 1"), aisles = instance_of("aisles", "fruit");
  orders.counter = "balance";
  aisles.counter = "depth";
  const auto is_gap = [](double value) { return std::isnan(value); };

  const auto fast = highest(orders), slow = highest(aisles);

  EXPECT_EQ(slow, std::vector<double>(7, 0.0));
  EXPECT_EQ(std::count_if(fast.begin(), fast.end(), is_gap), 9);
  EXPECT_EQ(fast.size(), 61U);
  EXPECT_EQ(std::count_if(fast.begin(), fast.begin() + 21, is_gap), 0);
}

// One value a moment: what a column of the heat map has tells how many moments it stands for.
TEST_F(RecordedBoard,
       ALongTimeIsShownByAsManyMomentsAsAScreenHoldsAndEachCountsAllSinceTheOneBefore) {
  constexpr int kMoments = 20'000;
  save_evenly(directory_, kMoments,
              [&](int /*moment*/) { soup_.recorder(Dish::kLatency).record(2); });
  open_board(log_);
  Place place = instance_of("dishes", "soup");
  place.span = std::chrono::seconds(200);
  Window window;
  window.plot_columns = 2 * Board::kMomentsMax;

  const auto shown = picture(place, window);

  ASSERT_TRUE(shown.heat);
  const auto& times = shown.heat->times_ns;
  ASSERT_GT(times.size(), Board::kMomentsMax * 9 / 10);
  EXPECT_LE(times.size(), Board::kMomentsMax + 2);
  EXPECT_EQ(times.front(), kBeginNs);
  const std::uint64_t even_ns = kMoments * kStepNs / Board::kMomentsMax;
  for (std::size_t i = 1; i < times.size(); ++i) {
    const auto counts = shown.heat->counts[i];
    const float values = std::accumulate(counts.begin(), counts.end(), 0.0F);
    ASSERT_EQ(values, static_cast<float>((times[i] - times[i - 1]) / kStepNs)) << "moment " << i;
    ASSERT_LE(times[i] - times[i - 1], 2 * even_ns) << "moment " << i;
  }
}

// Without a distribution, nothing of a picture needs more moments than a small plot has columns.
TEST_F(RecordedBoard, TrendsOfALongTimeAreFirstMomentsOfChunksAndTheOneThatIsShown) {
  constexpr int kMoments = 10'000, kSpike = 3'217;
  const auto directory = test::TemporaryDirectory();
  auto shop = *Provider::create({.name = "shop", .directory = directory.path()});
  const auto sales = *shop.add(cli::kSales);
  auto fruit = *sales.create_instance("fruit");
  save_evenly(directory.path(), kMoments, [&](int moment) {
    fruit.gauge(cli::Sales::kStock).set(moment == kSpike ? 90'000U : static_cast<unsigned>(moment));
  });
  open_board(log_);
  Place place = instance_of("shop_sales", "fruit");
  place.counter = "stock";
  place.span = std::chrono::seconds(100);
  // In the middle of a chunk.
  place.at_ns = kBeginNs + 9'876 * kStepNs;

  const auto shown = picture(place);

  const Section& counters = shown.sections.at(0);
  const auto stock =
      std::find_if(counters.lines.begin(), counters.lines.end(),
                   [](const Line& line) { return line.cells.at(0).text == "stock"; });
  ASSERT_NE(stock, counters.lines.end());
  const auto& trend = stock->trend;
  ASSERT_GT(trend.size(), 64U);
  EXPECT_EQ(trend.back(), 9'876);
  EXPECT_TRUE(std::is_sorted(trend.begin(), trend.end()));
  std::set<std::uint64_t> begins;
  for (const auto& file : selection_->log->files()) {
    for (const auto& chunk : file.index.chunks()) {
      begins.insert((chunk.first.realtime_ns - kBeginNs) / kStepNs);
    }
  }
  ASSERT_GT(begins.size(), 64U);
  for (std::size_t i = 0; i + 1 < trend.size(); ++i) {
    EXPECT_TRUE(begins.contains(static_cast<std::uint64_t>(trend[i]))) << trend[i];
  }
  const auto& highest = shown.plots.at(0).curves.at(0).high;
  EXPECT_EQ(std::count(highest.begin(), highest.end(), 90'000), 1);
}

TEST(KeptTicks, DropTheOldestChunksBeyondTheirLimits) {
  const auto directory = test::TemporaryDirectory();
  auto provider = Provider::create({.name = "kitchen", .directory = directory.path()});
  ASSERT_TRUE(provider);
  const auto set = *provider->add(cli::kDishes);
  auto soup = *set.create_instance("soup");
  auto catalog = *Catalog::open({.directory = directory.path()});
  auto query = *Query::compile(catalog, {});
  record::KeptTicks kept({.ticks_max = 200});
  Sample sample;
  for (int tick = 0; tick < 1000; ++tick) {
    soup.add(Dish::kServed, 7);
    query.collect(sample);
    kept.add(catalog, query, sample);
  }
  const auto path = directory.path() + "/kept.mbr";

  ASSERT_TRUE(kept.save(path, "test", std::chrono::milliseconds(1)));

  auto saved = recording::Recording::open(path);
  ASSERT_TRUE(saved) << saved.error().message();
  std::uint64_t ticks = 0;
  while (saved->next()) ++ticks;
  EXPECT_EQ(ticks, kept.ticks());
  EXPECT_GE(ticks, 200U);
  EXPECT_LT(ticks, 270U);
  EXPECT_EQ(saved->last().realtime_ns, sample.time.realtime_ns);
  EXPECT_TRUE(saved->damages().empty());
}

}  // namespace
}  // namespace meterbank::view
