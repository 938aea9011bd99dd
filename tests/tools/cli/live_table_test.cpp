// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "cli/watch/live_table.hpp"

#include "cli/format/table.hpp"
#include "cli_fixture.hpp"

namespace meterbank::cli {
namespace {

class LiveTableTest : public CliTest {
 protected:
  // A table that has seen one sample of the shop.
  void look(const std::string& path = "shop_sales") {
    if (!selection_) {
      Waiter waiter({});
      SelectionOptions options;
      options.directory = directory_;
      options.paths = {path};
      auto opened = Selection::open(options, waiter);
      ASSERT_TRUE(opened) << opened.error().message();
      selection_.emplace(std::move(*opened));
      sampler_.emplace(*selection_);
    }
    sampler_->take();
    table_.update([this](ValueSink take) { sampler_->each_row(take); }, selection_->query.version(),
                  view_, Clock::now());
  }
  [[nodiscard]] std::vector<ScreenLine> draw(std::size_t width, std::size_t height) {
    Status status;
    status.interval = std::chrono::seconds(1);
    status.clock = "09:04:40";
    status.trouble = trouble_;
    return table_.render(view_, status, width, height);
  }
  [[nodiscard]] std::string drawn(std::size_t width, std::size_t height) {
    std::string text;
    for (const auto& line : draw(width, height)) text += line.text + "\n";
    return text;
  }

  std::optional<Selection> selection_;
  std::optional<Sampler> sampler_;
  LiveTable table_;
  View view_;
  std::string trouble_;
};

TEST_F(LiveTableTest, ShowsTheStoredDigitsOfALevelWithoutAUnit) {
  provider_.emplace(*Provider::create({.name = "shop", .directory = directory_}));
  ovens_ = *provider_->add(kBakery);
  Instance large = *ovens_.create_instance("large");
  large.set(0, UINT64_MAX);
  for (const bool raw : {false, true}) {
    view_.raw = raw;
    look("bakery/large/loaves");
    EXPECT_TRUE(holds(drawn(120, 20), " 18446744073709551615")) << drawn(120, 20);
  }
}

TEST_F(LiveTableTest, NeverDrawsOutsideItsWindow) {
  open_shop({"fruit", "bread", "東京 東京 東京 東京"});
  look();
  look();

  for (std::size_t width = 1; width < 200; width += 7) {
    for (std::size_t height = 1; height < 40; height += 3) {
      const auto lines = draw(width, height);
      EXPECT_LE(lines.size(), height);
      for (const auto& line : lines) EXPECT_LE(display_width(line.text), width) << line.text;
    }
  }
}

TEST_F(LiveTableTest, ShowsADashUntilThereIsARate) {
  open_shop({"fruit"});
  look();
  view_.filter = "sold";

  const auto first = draw(120, 24);
  look();
  const auto second = draw(120, 24);

  EXPECT_NE(first[2].text.find(" - "), std::string::npos) << first[2].text;
  EXPECT_NE(second[2].text.find("0 /s"), std::string::npos) << second[2].text;
}

TEST_F(LiveTableTest, FilterLeavesWhatMatches) {
  open_shop();
  look();

  EXPECT_EQ(table_.shown(view_).size(), 6U);
  view_.filter = "BREAD";
  EXPECT_EQ(table_.shown(view_).size(), 3U);
  view_.filter = "nothing";
  EXPECT_EQ(table_.shown(view_).size(), 0U);
  EXPECT_NE(drawn(80, 24).find("no rows"), std::string::npos);
}

TEST_F(LiveTableTest, ShowsTheIdOfRowsThatShareAName) {
  provider_.emplace(*Provider::create({.name = "shop", .directory = directory_}));
  CountersetSpec spec = kSales;
  spec.identity = InstanceIdentity::kNameAndId;
  sales_ = *provider_->add(spec);
  for (const std::uint32_t id : {1U, 2U}) {
    aisles_.push_back(*sales_.create_instance("fruit", {.id = id}));
    aisles_.back().set(Sales::kStock, 10 * id);
  }
  look();
  view_.filter = "fruit#2";

  const std::string text = drawn(120, 24);

  EXPECT_EQ(table_.shown(view_).size(), 3U);
  EXPECT_EQ(text.find("fruit#1"), std::string::npos) << text;
  EXPECT_NE(text.find("20"), std::string::npos) << text;
}

TEST_F(LiveTableTest, ARowGetsItsIdWhenAnotherOneTakesItsName) {
  provider_.emplace(*Provider::create({.name = "shop", .directory = directory_}));
  CountersetSpec spec = kSales;
  spec.identity = InstanceIdentity::kNameAndId;
  sales_ = *provider_->add(spec);
  aisles_.push_back(*sales_.create_instance("fruit", {.id = 1}));
  look();
  view_.details = false;
  EXPECT_EQ(drawn(120, 24).find("fruit#1"), std::string::npos) << drawn(120, 24);

  aisles_.push_back(*sales_.create_instance("fruit", {.id = 2}));
  selection_->refresh();
  look();

  EXPECT_NE(drawn(120, 24).find("fruit#1"), std::string::npos) << drawn(120, 24);
}

TEST_F(LiveTableTest, HidesZerosOnRequest) {
  open_shop({"fruit"});
  look();
  look();

  view_.hide_zeros = true;

  EXPECT_EQ(table_.shown(view_).size(), 2U);  // stock and label bytes; nothing is being sold
}

TEST_F(LiveTableTest, SortsByValueWithTheLargestFirst) {
  open_shop();
  aisles_[1].set(Sales::kStock, 99);
  look();
  view_.filter = "stock";

  view_.sorting = Sorting::kByValue;

  const auto order = table_.shown(view_);
  ASSERT_EQ(order.size(), 2U);
  EXPECT_EQ(order[0]->instance, "bread");
}

TEST_F(LiveTableTest, KeepsTheSelectedRowOnTheScreen) {
  open_shop({"a", "b", "c", "d", "e", "f", "g", "h"});
  look();
  view_.selected = 1000;

  const auto lines = draw(100, 12);

  EXPECT_EQ(view_.selected, 23U);
  EXPECT_TRUE(std::any_of(lines.begin(), lines.end(),
                          [](const ScreenLine& line) { return line.look == LineLook::kSelected; }));
}

TEST_F(LiveTableTest, PrefersAPictureToAMeanAndAMeanToAMaximum) {
  open_shop();
  look();

  const auto narrow = draw(60, 24)[1].text;
  const auto wider = draw(75, 24)[1].text;
  const auto wide = draw(120, 24)[1].text;

  EXPECT_NE(narrow.find("LAST"), std::string::npos) << narrow;
  EXPECT_EQ(narrow.find("AVG"), std::string::npos) << narrow;
  EXPECT_NE(wider.find("AVG"), std::string::npos) << wider;
  EXPECT_EQ(wider.find("MAX"), std::string::npos) << wider;
  EXPECT_NE(wide.find("MAX"), std::string::npos) << wide;
}

TEST_F(LiveTableTest, ShowsAllDigitsOfAStoredValue) {
  open_shop({"fruit"});
  aisles_[0].set(Sales::kStock, 123'456'789'012'345);
  view_.raw = true;
  look();

  EXPECT_NE(drawn(100, 24).find("123456789012345"), std::string::npos) << drawn(100, 24);
}

TEST_F(LiveTableTest, SaysWhichProviderIsNotWell) {
  open_shop({"fruit"});
  look();
  EXPECT_EQ(drawn(100, 24).find("silent"), std::string::npos);

  trouble_ = "shop@1 silent for 8 s";

  for (const std::size_t width : {24U, 60U, 100U}) {
    EXPECT_TRUE(draw(width, 24)[1].text.starts_with("! shop@1 silent for 8 s")) << width;
    EXPECT_EQ(draw(width, 24).size(), 24U);
  }
}

TEST_F(LiveTableTest, ShowsNamesAndValuesOnANarrowScreen) {
  open_shop({"fruit"});
  aisles_[0].set(Sales::kStock, 471);
  look();
  view_.filter = "stock";

  for (const std::size_t width : {20U, 24U, 30U}) {
    const auto row = draw(width, 10)[2].text;
    EXPECT_NE(row.find("471"), std::string::npos) << row;
    EXPECT_NE(row.find("fruit"), std::string::npos) << row;
  }
}

TEST_F(LiveTableTest, HelpSaysHowToLeaveIt) {
  open_shop();
  look();
  view_.show_help = true;

  for (const std::size_t width : {20U, 80U, 120U}) {
    EXPECT_NE(drawn(width, 24).find("any key: back"), std::string::npos) << width;
    EXPECT_NE(drawn(width, 24).find("q "), std::string::npos) << width;
  }
}

TEST_F(LiveTableTest, TellsRowsOfTwoProvidersApart) {
  open_shop({"fruit"});
  auto rival = Provider::create({.name = "rival", .directory = directory_});
  ASSERT_TRUE(rival);
  auto sales = rival->add(kSales);
  ASSERT_TRUE(sales);
  auto fruit = sales->create_instance("fruit");
  ASSERT_TRUE(fruit);
  look();

  view_.details = false;
  EXPECT_NE(drawn(120, 24).find("rival@"), std::string::npos) << drawn(120, 24);
  EXPECT_NE(drawn(120, 24).find("shop@"), std::string::npos);

  fruit = Instance();
  selection_->refresh();
  look();
  EXPECT_EQ(table_.size(), 3U);
  EXPECT_EQ(drawn(120, 24).find("shop@"), std::string::npos) << drawn(120, 24);
}

TEST_F(LiveTableTest, NamesTheWayOutOnTheNarrowestScreen) {
  open_shop();
  look();

  EXPECT_NE(draw(20, 24).back().text.find("q quit"), std::string::npos);
}

TEST_F(LiveTableTest, ForgetsRowsThatWentAway) {
  open_shop();
  look();
  aisles_.erase(aisles_.begin());
  selection_->refresh();
  look();

  view_.filter = "bread";
  EXPECT_EQ(table_.shown(view_).size(), 3U);
}

TEST(HistoryBars, ScaleToTheLargestValueInSight) {
  History history;
  const auto now = Clock::now();
  for (const double value : {0.0, 7.0, 3.5, 7.0}) history.add(value, true, now);
  history.add(0, false, now);

  EXPECT_EQ(history.bars(6, false), " ▁█▅█ ");
  EXPECT_EQ(history.bars(3, true), "=# ");
}

TEST(HistoryBars, AverageTheLargestValues) {
  History history;
  const auto now = Clock::now();
  for (int i = 0; i < 5; ++i) history.add(1.7e308, true, now);

  EXPECT_DOUBLE_EQ(history.average(), 1.7e308);
}

TEST(HistoryBars, AverageOnlyPresentValues) {
  History history;
  const auto now = Clock::now();
  history.add(0, false, now);
  EXPECT_FALSE(history.has_average());
  history.add(2, true, now);
  history.add(4, true, now);

  EXPECT_DOUBLE_EQ(history.average(), 3);
  EXPECT_DOUBLE_EQ(history.maximum(), 4);
}

}  // namespace
}  // namespace meterbank::cli
