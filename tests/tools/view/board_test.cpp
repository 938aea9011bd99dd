// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "../../support/comes_true.hpp"
#include "board_fixture.hpp"

namespace meterbank::view {
namespace {

using cli::Dish;
using ::testing::Test;

TEST_F(BoardTest, TheOverviewNamesProvidersAndTheirSets) {
  open_board();
  take(2);

  const auto overview = picture({});

  const auto* providers = section_called(overview, "Providers");
  ASSERT_NE(providers, nullptr);
  ASSERT_EQ(providers->lines.size(), 1U);
  EXPECT_EQ(cell(*providers, label(), "STATE"), "live");
  EXPECT_EQ(cell(*providers, label(), "SETS"), "1");
  const auto* sets = section_called(overview, "Busiest sets");
  ASSERT_NE(sets, nullptr);
  EXPECT_EQ(cell(*sets, "dishes", "INSTANCES"), "1");
}

TEST_F(BoardTest, TheOverviewCountsTheInstancesThatAreThere) {
  open_shop_beside();
  auto fruit = *sales_.create_instance("fruit");
  auto bread = *sales_.create_instance("bread");
  fruit = {};
  open_board();
  take(2);

  const auto shown = picture({});

  EXPECT_EQ(cell(shown.sections.at(0), label(), "INSTANCES"), "2");  // soup and bread
  EXPECT_EQ(cell(*section_called(shown, "Busiest sets"), "shop_sales", "INSTANCES"), "1");
}

TEST_F(BoardTest, ASetSaysWhatItIsBusyWith) {
  open_board();
  take();
  soup_.add(Dish::kServed, 1'000'000);
  take();

  const auto overview = picture({});

  const auto* sets = section_called(overview, "Busiest sets");
  EXPECT_EQ(cell(*sets, "dishes", "BUSY WITH"), "served");
  EXPECT_NE(cell(*sets, "dishes", "NOW"), "-");
  ASSERT_EQ(sets->lines[0].trend.size(), 2U);
  EXPECT_TRUE(std::isnan(sets->lines[0].trend[0]));
  EXPECT_GT(sets->lines[0].trend[1], 0);
}

TEST_F(BoardTest, WhatItsProviderRenewsMoreSlowlyStaysWhatItWas) {
  CountersetSpec spec = cli::kSales;
  spec.stamped = true;
  const auto set = *provider_->add(spec);
  Instance fruit = *set.create_instance("fruit"), bread = *set.create_instance("bread");
  const auto renew = [&](std::uint64_t sold) {
    for (Instance* aisle : {&fruit, &bread}) {
      aisle->update([=](Values& values) {
        values.set(cli::Sales::kSold, sold);
        values.set(cli::Sales::kStock, 7);
        values.stamp(Timestamp::now().monotonic_ns);
      });
      sold *= 2;
    }
  };
  open_board();
  renew(0);
  take();
  renew(1'000'000);
  take();
  const auto before = cell(*section_called(picture({}), "Busiest sets"), "shop_sales", "NOW");
  ASSERT_NE(before, "-");

  take();

  EXPECT_EQ(cell(*section_called(picture({}), "Busiest sets"), "shop_sales", "NOW"), before);
  Place sales = set_of("shop_sales");
  sales.sort = "sold";
  EXPECT_EQ(first_cells(picture(sales).sections.at(0)),
            (std::vector<std::string>{"bread", "fruit"}));
  Place one = instance_of("shop_sales", "bread");
  one.sort = "NOW";
  EXPECT_EQ(first_cells(picture(one).sections.at(0)).at(0), "sold");
}

TEST_F(BoardTest, ASetHasInstancesAsRowsAndCountersAsColumns) {
  soup_.gauge(Dish::kBalance).set_signed(7);
  open_board();
  serve_a_hundred();
  take();

  const auto shown = picture(set_of("dishes"));

  ASSERT_EQ(shown.sections.size(), 1U);
  const auto& table = shown.sections[0];
  EXPECT_EQ(cell(table, "soup", "balance"), "7");
  EXPECT_EQ(cell(table, "soup", "served"), "-");
  EXPECT_NE(cell(table, "soup", "latency.p99").find(" ms"), std::string::npos);
  EXPECT_EQ(shown.crumbs.size(), 2U);
}

TEST_F(BoardTest, LinesOfAPictureAreThoseOfItsWindow) {
  std::vector<Instance> dishes;
  for (int i = 0; i < 50; ++i) {
    dishes.push_back(*dishes_.create_instance("dish " + std::to_string(100 + i)));
  }
  open_board();
  take();

  Window window;
  window.first = 10;
  window.lines = 5;
  const auto shown = picture(set_of("dishes"), window);

  const auto& table = shown.sections[0];
  EXPECT_EQ(table.all, 51U);
  EXPECT_EQ(table.total, 51U);
  EXPECT_EQ(table.first, 10U);
  EXPECT_EQ(first_cells(table),
            (std::vector<std::string>{"dish 109", "dish 110", "dish 111", "dish 112", "dish 113"}));
}

TEST_F(BoardTest, SortsByAnyColumnBothWays) {
  std::vector<Instance> dishes;
  for (const int balance : {5, -3, 40}) {
    dishes.push_back(*dishes_.create_instance("of " + std::to_string(balance)));
    dishes.back().gauge(Dish::kBalance).set_signed(balance);
  }
  open_board();
  take();
  Place place = set_of("dishes");
  place.sort = "balance";

  EXPECT_EQ(first_cells(picture(place).sections[0]),
            (std::vector<std::string>{"of 40", "of 5", "soup", "of -3"}));
  place.ascending = true;
  EXPECT_EQ(first_cells(picture(place).sections[0]),
            (std::vector<std::string>{"of -3", "soup", "of 5", "of 40"}));
  place.sort = "INSTANCE";
  place.ascending = false;
  EXPECT_EQ(first_cells(picture(place).sections[0]),
            (std::vector<std::string>{"of -3", "of 5", "of 40", "soup"}));
}

// A window shows the same lines as the whole table, however it is sorted: the first ones are found
// in another way than those far behind.
TEST_F(BoardTest, EveryWindowIsAPartOfTheWholeTable) {
  constexpr std::size_t kDishesMany = 120;
  std::vector<Instance> dishes;
  for (std::size_t i = 0; i < kDishesMany; ++i) {
    const auto number = i * 37 % kDishesMany;
    dishes.push_back(*dishes_.create_instance("dish " + std::to_string(number)));
    dishes.back().gauge(Dish::kBalance).set_signed(static_cast<std::int64_t>(number % 7));
  }
  open_board();
  take();
  std::vector<Place> places{set_of("dishes")};
  for (const std::string sort : {"INSTANCE", "PROVIDER", "balance"}) {
    for (const bool ascending : {false, true}) {
      places.push_back(set_of("dishes"));
      places.back().sort = sort;
      places.back().ascending = ascending;
    }
  }
  places.push_back(places.back());
  places.back().pins = {label() + "/dishes/dish 3", label() + "/dishes/dish 90"};
  places.push_back(places.back());
  places.back().filter = "1";
  for (const Place& place : places) {
    const auto cells_of = [&](std::size_t first, std::size_t lines) {
      Window window;
      window.first = first;
      window.lines = lines;
      return first_cells(picture(place, window).sections[0]);
    };
    const auto whole = cells_of(0, 20'000);
    for (const std::size_t first : {0U, 1U, 50U, 100U, 119U, 121U, 500U}) {
      for (const std::size_t lines : {1U, 2U, 30U}) {
        const auto begin =
            whole.begin() + static_cast<std::ptrdiff_t>(std::min(first, whole.size()));
        const auto count = std::min(lines, static_cast<std::size_t>(whole.end() - begin));
        EXPECT_EQ(cells_of(first, lines),
                  std::vector<std::string>(begin, begin + static_cast<std::ptrdiff_t>(count)))
            << place.sort << ' ' << place.ascending << ' ' << first << ' ' << lines;
      }
    }
  }
}

TEST_F(BoardTest, NamesProvidersWhereThereAreSeveral) {
  open_board();
  take();
  const auto has_provider = [&] {
    const auto shown = picture(set_of("dishes"));
    const auto& columns = shown.sections[0].columns;
    return std::any_of(columns.begin(), columns.end(),
                       [](const Column& column) { return column.heading == "PROVIDER"; });
  };
  EXPECT_FALSE(has_provider());
  auto other = *Provider::create({.name = "canteen", .directory = directory_});
  auto dishes = *other.add(cli::kDishes);
  const auto soup = *dishes.create_instance("soup");
  EXPECT_TRUE(test::comes_true([&] {
    take();
    return has_provider();
  }));
}

TEST_F(BoardTest, PinnedLinesStayAboveAllOrders) {
  const auto bread = *dishes_.create_instance("bread");
  open_board();
  take();
  Place place = set_of("dishes");
  place.sort = "INSTANCE";
  place.pins = {label() + "/dishes/soup"};

  const auto shown = picture(place);

  EXPECT_EQ(first_cells(shown.sections[0]), (std::vector<std::string>{"soup", "bread"}));
  EXPECT_TRUE(shown.sections[0].lines[0].is_pinned);
  EXPECT_FALSE(shown.sections[0].lines[1].is_pinned);
}

TEST_F(BoardTest, AFilterLeavesWhatItMatches) {
  const auto bread = *dishes_.create_instance("bread");
  open_board();
  take();
  Place place = set_of("dishes");
  place.filter = "b*d";

  const auto shown = picture(place);

  EXPECT_EQ(first_cells(shown.sections[0]), (std::vector<std::string>{"bread"}));
  EXPECT_EQ(shown.sections[0].all, 2U);
  EXPECT_EQ(shown.sections[0].total, 1U);
}

TEST_F(BoardTest, GroupsHaveAHeading) {
  open_board();
  take();
  Place place = set_of("dishes");
  place.grouping = Grouping::kProvider;

  const auto shown = picture(place);

  ASSERT_EQ(shown.sections[0].lines.size(), 2U);
  EXPECT_TRUE(shown.sections[0].lines[0].is_group);
  EXPECT_EQ(shown.sections[0].lines[0].cells[0].text, label());
}

TEST_F(BoardTest, AFrozenPictureStaysOneCutWhileSamplesGoOn) {
  soup_.gauge(Dish::kBalance).set_signed(1);
  soup_.text(Dish::kState).set("simmering");
  open_board();
  take(2);
  Place place = set_of("dishes");
  place.at_ns = picture(place).time_ns;
  static_cast<void>(picture(place));
  soup_.gauge(Dish::kBalance).set_signed(2);
  soup_.text(Dish::kState).set("burnt");
  take(3);

  auto frozen = picture(place);
  EXPECT_TRUE(frozen.is_frozen);
  EXPECT_EQ(cell(frozen.sections[0], "soup", "balance"), "1");
  EXPECT_EQ(cell(frozen.sections[0], "soup", "state"), "simmering");
  place.stored = true;
  frozen = picture(place);
  EXPECT_EQ(cell(frozen.sections[0], "soup", "balance"), "1");

  place.at_ns.reset();
  place.stored = false;
  const auto now = picture(place);
  EXPECT_FALSE(now.is_frozen);
  EXPECT_EQ(cell(now.sections[0], "soup", "balance"), "2");
  EXPECT_EQ(cell(now.sections[0], "soup", "state"), "burnt");
}

TEST_F(BoardTest, AFrozenPictureStaysWhileOthersLookAtNowOrFreezeLater) {
  open_board();
  std::vector<Place> frozen;
  for (const char* const state : {"raw", "simmering", "done"}) {
    soup_.text(Dish::kState).set(state);
    take();
    Place place = set_of("dishes");
    place.at_ns = picture(place).time_ns;
    static_cast<void>(picture(place));
    frozen.push_back(place);
  }
  take();
  static_cast<void>(picture(set_of("dishes")));

  EXPECT_EQ(cell(picture(frozen[0]).sections[0], "soup", "state"), "raw");
  EXPECT_EQ(cell(picture(frozen[1]).sections[0], "soup", "state"), "simmering");
  EXPECT_EQ(cell(picture(frozen[2]).sections[0], "soup", "state"), "done");
}

TEST_F(BoardTest, EarlierMomentsAreShownAsTheyWereAndSayWhatIsNotKnown) {
  open_board();
  std::vector<std::uint64_t> times;
  for (int balance = 0; balance < 4; ++balance) {
    soup_.gauge(Dish::kBalance).set_signed(balance);
    take();
    times.push_back(picture({}).time_ns);
  }
  Place place = set_of("dishes");

  for (std::size_t i = 0; i + 1 < times.size(); ++i) {
    place.at_ns = times[i];
    const auto shown = picture(place);
    EXPECT_EQ(shown.time_ns, times[i]);
    EXPECT_EQ(cell(shown.sections[0], "soup", "balance"), std::to_string(i));
    EXPECT_FALSE(shown.problems.empty());
  }
  EXPECT_EQ(board_->moment_before(times[2]), times[1]);
  EXPECT_EQ(board_->moment_after(times[2]), times[3]);
  EXPECT_EQ(board_->moment_before(times[0]), std::nullopt);
  // A page names a moment by a time a little behind it.
  EXPECT_EQ(board_->moment_before(times[2] + 900), times[1]);
  EXPECT_EQ(board_->moment_after(times[3]), std::nullopt);
  EXPECT_EQ(board_->moment_before(std::nullopt), times[2]);
}

TEST_F(BoardTest, AnInstanceThatIsGoneIsStillInItsPast) {
  open_board();
  auto bread = *dishes_.create_instance("bread");
  bread.gauge(Dish::kBalance).set_signed(3);
  take();
  selection_->refresh();
  take();
  Place place = set_of("dishes");
  place.at_ns = picture(place).time_ns;
  bread = {};
  selection_->refresh();
  take(2);

  Place now = place;
  now.at_ns.reset();
  EXPECT_EQ(first_cells(picture(now).sections[0]), (std::vector<std::string>{"soup"}));
  const auto before = picture(place);
  EXPECT_EQ(cell(before.sections[0], "bread", "balance"), "3");
}

TEST_F(BoardTest, SomethingThatIsNotThereShowsTheNextLargerThing) {
  open_board();
  take();

  const auto no_instance = picture(instance_of("dishes", "cake"));
  EXPECT_EQ(no_instance.place.screen, Screen::kSet);
  ASSERT_FALSE(no_instance.problems.empty());
  EXPECT_EQ(no_instance.problems.back(), "cake is not there");
  const auto no_set = picture(instance_of("cakes", "cake"));
  EXPECT_EQ(no_set.place.screen, Screen::kOverview);
  EXPECT_NE(section_called(no_set, "Providers"), nullptr);
}

TEST_F(BoardTest, AProviderThatBeganAgainIsShownInItsPlace) {
  open_board();
  take();
  Place place = instance_of("dishes", "soup");
  place.provider = "kitchen@1";

  const auto shown = picture(place);

  EXPECT_EQ(shown.place.screen, Screen::kInstance);
  EXPECT_EQ(shown.place.provider, label());
  EXPECT_EQ(shown.problems.back(), "kitchen@1 is not there; " + label() + " is shown");
}

TEST_F(BoardTest, ATimeThatIsNotKnownIsSaid) {
  open_board();
  take(3);
  Place place;
  place.at_ns = picture({}).last_ns + 3'600'000'000'000;

  const auto later = picture(place);
  place.at_ns = 1;
  const auto earlier = picture(place);

  EXPECT_FALSE(later.is_frozen);
  EXPECT_EQ(later.problems.back(), "a later moment than is known; the last is shown");
  EXPECT_TRUE(earlier.is_frozen);
  EXPECT_EQ(earlier.time_ns, earlier.first_ns);
  EXPECT_EQ(earlier.problems.front(), "an earlier moment than is known; the first is shown");
}

TEST_F(BoardTest, EveryListIsSortedByTheHeadingThatIsNamed) {
  open_shop_beside();
  auto fruit = *sales_.create_instance("fruit");
  auto bread = *sales_.create_instance("bread");
  open_board();
  take(2);
  Place place;
  const auto sets = [&] { return first_cells(*section_called(picture(place), "Busiest sets")); };

  place.sort = "SET";
  EXPECT_EQ(sets(), (std::vector<std::string>{"dishes", "shop_sales"}));
  place.ascending = true;
  EXPECT_EQ(sets(), (std::vector<std::string>{"shop_sales", "dishes"}));
  place.sort = "INSTANCES";
  EXPECT_EQ(sets(), (std::vector<std::string>{"dishes", "shop_sales"}));
  place.ascending = false;
  EXPECT_EQ(sets(), (std::vector<std::string>{"shop_sales", "dishes"}));

  soup_.gauge(Dish::kBalance).set_signed(-5);
  soup_.gauge(Dish::kTemperature).set(80.0);
  take(2);
  Place soup = instance_of("dishes", "soup");
  soup.sort = "NOW";
  const auto counters = [&] {
    auto names = first_cells(picture(soup).sections.at(0));
    names.resize(2);
    return names;
  };
  EXPECT_EQ(counters().at(0), "temperature");
  soup.ascending = true;
  EXPECT_EQ(counters().at(0), "balance");
}

TEST_F(BoardTest, AnOverviewOfOneProviderNamesThatOneAlone) {
  auto other = *Provider::create({.name = "cellar", .directory = directory_});
  open_board({}, "cellar");
  take();

  const auto shown = picture({});

  EXPECT_EQ(shown.sections.at(0).total, 1U);
  EXPECT_EQ(first_cells(shown.sections[0]).at(0).substr(0, 7), "cellar@");
}

TEST_F(BoardTest, WhatChangedMostIsNamed) {
  open_board();
  soup_.gauge(Dish::kBalance).set_signed(100);
  take(12);
  soup_.gauge(Dish::kBalance).set_signed(900);
  take();

  const auto overview = picture({});

  const auto* changes = section_called(overview, "Changed most in a minute");
  ASSERT_NE(changes, nullptr);
  ASSERT_FALSE(changes->lines.empty());
  EXPECT_EQ(changes->lines[0].cells[0].text, "dishes/balance");
  EXPECT_EQ(cell(*changes, "dishes/balance", "NOW"), "900");
  EXPECT_EQ(cell(*changes, "dishes/balance", "BEFORE"), "100");
  ASSERT_TRUE(changes->lines[0].opens);
  EXPECT_EQ(changes->lines[0].opens->counter, "balance");
}

TEST_F(BoardTest, NothingIsNewsWhereNothingChanges) {
  open_board();
  soup_.gauge(Dish::kBalance).set_signed(100);
  take(13);

  EXPECT_EQ(section_called(picture({}), "Changed most in a minute")->total, 0U);
}

TEST_F(BoardTest, WordsOfOthersCannotSteerATerminal) {
  soup_.text(Dish::kState).set("\x1b[2J\u202egone\nnext");
  open_board();
  take();

  const auto shown = picture(set_of("dishes"));

  const auto text = cell(shown.sections[0], "soup", "state");
  EXPECT_EQ(text.find_first_of("\x1b\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("\u202e"), std::string::npos) << text;
  EXPECT_NE(text.find("gone"), std::string::npos) << text;
}

TEST_F(BoardTest, APictureIsOneJsonObject) {
  open_board();
  serve_a_hundred();
  take(2);

  for (const auto& place : {Place(), set_of("dishes"), instance_of("dishes", "soup")}) {
    const auto json = json_of(picture(place));
    ASSERT_TRUE(cli::is_json(json)) << json;
    const auto document = cli::parse_json(json);
    EXPECT_EQ(parse_link(document["link"].get<std::string>())->screen, place.screen);
    EXPECT_TRUE(document["sections"].is_array());
  }
}

TEST_F(BoardTest, OfManyDistributionsThoseThatAreLookedIntoHaveAHeatMap) {
  std::vector<Instance> dishes;
  for (std::size_t i = 0; i < Board::kHeatsMax + 10; ++i) {
    dishes.push_back(*dishes_.create_instance("d" + std::to_string(i)));
  }
  open_board();
  take(2);
  EXPECT_FALSE(picture(instance_of("dishes", "soup")).heat);
  serve_a_hundred();
  take(2);

  EXPECT_TRUE(picture(instance_of("dishes", "soup")).heat);
  EXPECT_FALSE(picture(instance_of("dishes", "d3")).heat);
}

TEST_F(BoardTest, AFarLargerSetHasPicturesToo) {
  constexpr int kDishesMany = 5'000;
  std::vector<Instance> dishes;
  for (int i = 0; i < kDishesMany; ++i) {
    dishes.push_back(*dishes_.create_instance("d" + std::to_string(i)));
    dishes.back().gauge(Dish::kBalance).set_signed(i);
  }
  open_board();
  take(2);
  Place place = set_of("dishes");
  place.sort = "balance";
  Window window;
  window.lines = 3;

  const auto shown = picture(place, window);

  EXPECT_EQ(shown.sections[0].total, kDishesMany + 1U);
  EXPECT_EQ(first_cells(shown.sections[0]), (std::vector<std::string>{"d4999", "d4998", "d4997"}));
  // More counters than have a past: those that were looked at have one from now on.
  take(3);
  const auto later = picture(place, window);
  EXPECT_FALSE(later.sections[0].lines[0].trend.empty());
}

}  // namespace
}  // namespace meterbank::view
