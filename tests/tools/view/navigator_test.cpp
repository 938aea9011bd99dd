// SPDX-License-Identifier: Apache-2.0
#include "view/navigator.hpp"

#include <gtest/gtest.h>

namespace meterbank::view {
namespace {

Section section_of(std::size_t total) {
  Section section;
  section.columns = {{"INSTANCE", "", false}, {"accepted", "", true}, {"latency", "", true}};
  section.total = section.all = total;
  section.chosen_column = 1;
  for (std::size_t i = 0; i < total; ++i) {
    Line line;
    line.key = "row " + std::to_string(i);
    Place inside;
    inside.screen = Screen::kInstance;
    inside.instance = line.key;
    line.opens = inside;
    section.lines.push_back(line);
  }
  return section;
}

class NavigatorTest : public ::testing::Test {
 protected:
  NavigatorTest() { draw({3, 2, 0}); }
  void draw(const std::vector<std::size_t>& totals, std::size_t lines = 10) {
    Picture picture;
    picture.place = navigator_.place();
    picture.time_ns = 5'000'000'000;
    picture.first_ns = 2'000'000'000;
    picture.last_ns = 9'000'000'000;
    for (const auto total : totals) picture.sections.push_back(section_of(total));
    navigator_.drawn(picture, lines);
  }
  void press(std::initializer_list<Message> messages) {
    for (const auto message : messages) static_cast<void>(navigator_.handle(message));
  }

  Navigator navigator_{Place()};
};

TEST_F(NavigatorTest, MovesFromTheEndOfASectionIntoTheNext) {
  press({Message::kDown, Message::kDown});
  EXPECT_EQ(navigator_.section(), 0U);
  EXPECT_EQ(navigator_.line(), 2U);
  press({Message::kDown});
  EXPECT_EQ(navigator_.section(), 1U);
  EXPECT_EQ(navigator_.line(), 0U);
  press({Message::kDown, Message::kDown});
  EXPECT_EQ(navigator_.section(), 1U) << "the last one is empty";
  EXPECT_EQ(navigator_.line(), 1U);
  press({Message::kUp, Message::kUp});
  EXPECT_EQ(navigator_.section(), 0U);
  EXPECT_EQ(navigator_.line(), 2U);
}

TEST_F(NavigatorTest, TheChosenLineIsAlwaysInTheWindow) {
  draw({1000}, 7);
  for (const auto message : {Message::kPageDown, Message::kPageDown, Message::kLast, Message::kUp,
                             Message::kPageUp, Message::kFirst, Message::kDown}) {
    press({message});
    EXPECT_GE(navigator_.line(), navigator_.window().first);
    EXPECT_LT(navigator_.line(), navigator_.window().first + 7);
  }
  press({Message::kLast});
  draw({5}, 7);
  EXPECT_EQ(navigator_.line(), 4U) << "rows went away";
}

TEST_F(NavigatorTest, OpensTheChosenLineAndComesBackToIt) {
  press({Message::kDown, Message::kOpen});
  EXPECT_EQ(navigator_.place().screen, Screen::kInstance);
  EXPECT_EQ(navigator_.place().instance, "row 1");
  draw({4});
  press({Message::kBack});
  EXPECT_EQ(navigator_.place().screen, Screen::kOverview);
  EXPECT_EQ(navigator_.line(), 1U);
}

TEST_F(NavigatorTest, TypingFiltersAtOnceAndEscapeDropsIt) {
  press({Message::kSearch});
  EXPECT_EQ(navigator_.typing(), Navigator::Typing::kFilter);
  for (const auto* letter : {"e", "u", "\u00e9"}) navigator_.type(letter);
  EXPECT_EQ(navigator_.place().filter, "eu\u00e9");
  navigator_.take_back();
  EXPECT_EQ(navigator_.place().filter, "eu");
  navigator_.accept();
  EXPECT_EQ(navigator_.place().filter, "eu");
  EXPECT_EQ(navigator_.typing(), Navigator::Typing::kNothing);
  press({Message::kBack});
  EXPECT_EQ(navigator_.place().filter, "");
  EXPECT_EQ(navigator_.place().screen, Screen::kOverview);
}

TEST_F(NavigatorTest, GoesToATimeThatIsTyped) {
  press({Message::kGoTo});
  for (const auto* letter : {"@", "7"}) navigator_.type(letter);
  navigator_.accept();
  EXPECT_EQ(navigator_.place().at_ns, 7'000'999'999U);
  press({Message::kGoTo});
  navigator_.type("x");
  navigator_.accept();
  EXPECT_EQ(navigator_.place().at_ns, 7'000'999'999U);
  EXPECT_NE(navigator_.complaint().find("try"), std::string::npos) << navigator_.complaint();
}

TEST_F(NavigatorTest, ATimeThatIsNotKnownIsTheNearestThatIs) {
  for (const auto& [typed, moment] : {std::pair{"@20", 9'000'000'000U}, {"@1", 2'000'000'000U}}) {
    press({Message::kGoTo});
    navigator_.type(typed);
    navigator_.accept();
    EXPECT_EQ(navigator_.place().at_ns, moment);
    EXPECT_NE(navigator_.complaint().find("than all that is known"), std::string::npos);
  }
}

TEST_F(NavigatorTest, TheCursorStaysOnItsRowWhereRowsChangePlaces) {
  press({Message::kDown, Message::kDown});
  Picture picture;
  picture.sections.push_back(section_of(8));
  std::swap(picture.sections[0].lines[2], picture.sections[0].lines[5]);
  navigator_.drawn(picture, 10);
  EXPECT_EQ(navigator_.line(), 5U);
  // At the top, it stays at the top.
  press({Message::kFirst});
  std::swap(picture.sections[0].lines[0], picture.sections[0].lines[4]);
  navigator_.drawn(picture, 10);
  EXPECT_EQ(navigator_.line(), 0U);
}

TEST_F(NavigatorTest, AWindowIsFullWhereThereAreLinesForIt) {
  draw({60}, 10);
  press({Message::kLast});
  draw({60}, 10);
  EXPECT_EQ(navigator_.window().first, 50U);
  draw({55}, 20);
  EXPECT_EQ(navigator_.window().first, 35U);
}

TEST_F(NavigatorTest, SaysUntilTheNextKeyWhyAnotherPlaceIsShown) {
  Place place;
  place.screen = Screen::kInstance;
  place.provider = "shop@1";
  navigator_.open(place);
  Picture picture;
  picture.place = place;
  picture.place.provider = "shop@2";
  picture.problems = {"shop@1 is not there; shop@2 is shown"};
  navigator_.drawn(picture, 10);
  EXPECT_EQ(navigator_.place().provider, "shop@2");
  picture.problems.clear();
  navigator_.drawn(picture, 10);
  EXPECT_EQ(navigator_.complaint(), "shop@1 is not there; shop@2 is shown");
  picture.place.screen = Screen::kSet;
  picture.problems = {"eu is not there"};
  navigator_.drawn(picture, 10);
  EXPECT_EQ(navigator_.complaint(), "eu is not there");
  press({Message::kDown});
  EXPECT_EQ(navigator_.complaint(), "");
}

TEST_F(NavigatorTest, AnInstanceOpensOnTheCounterThatIsPlotted) {
  press({Message::kOpen});
  Picture picture;
  picture.place = navigator_.place();
  picture.place.counter = "row 2";
  picture.sections.push_back(section_of(5));
  navigator_.drawn(picture, 10);
  EXPECT_EQ(navigator_.line(), 2U);
}

TEST_F(NavigatorTest, TheCounterUnderTheCursorIsPlotted) {
  press({Message::kOpen});
  const auto draw_from = [&](std::size_t first) {
    Picture picture;
    picture.place = navigator_.place();
    if (picture.place.counter.empty()) picture.place.counter = "row 2";
    auto section = section_of(40);
    section.first = first;
    section.lines.assign(section.lines.begin() + static_cast<std::ptrdiff_t>(first),
                         section.lines.begin() + static_cast<std::ptrdiff_t>(first + 10));
    picture.sections.push_back(std::move(section));
    navigator_.drawn(picture, 10);
  };
  draw_from(0);
  for (const auto& [message, counter] : {std::pair{Message::kDown, "row 3"},
                                         {Message::kUp, "row 2"},
                                         {Message::kRight, "row 3"},
                                         {Message::kLeft, "row 2"}}) {
    press({message});
    EXPECT_EQ(navigator_.place().counter, counter);
  }
  static_cast<void>(navigator_.point(0, 7, false));
  EXPECT_EQ(navigator_.place().counter, "row 7");
  // The key of a line outside the picture is known with the next picture.
  press({Message::kLast});
  draw_from(30);
  EXPECT_EQ(navigator_.line(), 39U);
  EXPECT_EQ(navigator_.place().counter, "row 39");
}

TEST_F(NavigatorTest, AnInstanceOpensOnTheCounterThatItsSetShowsOverTime) {
  press({Message::kRight, Message::kOpen});
  Place place = navigator_.place();
  place.counter = "row 3";
  navigator_.open(place);
  draw({5});
  EXPECT_EQ(navigator_.line(), 3U);
  // A sorted table has the row elsewhere.
  press({Message::kReverse});
  Picture picture;
  picture.place = navigator_.place();
  picture.sections.push_back(section_of(5));
  std::swap(picture.sections[0].lines[3], picture.sections[0].lines[0]);
  navigator_.drawn(picture, 10);
  EXPECT_EQ(navigator_.line(), 0U);
  EXPECT_EQ(navigator_.place().counter, "row 3");
}

TEST_F(NavigatorTest, AKeyWithoutEffectSaysSoAndChangesNothing) {
  const Place before = navigator_.place();
  for (const auto message : {Message::kPin, Message::kHideZeros, Message::kStored, Message::kGroup,
                             Message::kLogarithmic}) {
    press({message});
    EXPECT_FALSE(navigator_.complaint().empty());
    EXPECT_EQ(navigator_.place(), before);
  }
  for (int press_number = 0; press_number < 20; ++press_number) press({Message::kWider});
  EXPECT_EQ(navigator_.complaint(), "this is the longest span of time");
}

TEST_F(NavigatorTest, FreezesAtTheMomentThatIsShown) {
  press({Message::kFreeze});
  EXPECT_EQ(navigator_.place().at_ns, 5'000'000'000U);
  press({Message::kFreeze});
  EXPECT_EQ(navigator_.place().at_ns, std::nullopt);
}

TEST_F(NavigatorTest, MarksAreMomentsToComeBackTo) {
  press({Message::kNextMark});
  EXPECT_FALSE(navigator_.complaint().empty());
  press({Message::kMark});
  EXPECT_EQ(navigator_.marks(), (std::vector<std::uint64_t>{5'000'000'000}));
  press({Message::kNextMark});
  EXPECT_EQ(navigator_.place().at_ns, 5'000'000'000U);
  press({Message::kMark});
  EXPECT_TRUE(navigator_.marks().empty());
}

TEST_F(NavigatorTest, SortsByEachColumnInTurnAndInTheEndAsListed) {
  std::vector<std::string> sorts;
  for (int i = 0; i < 4; ++i) {
    press({Message::kSort});
    sorts.push_back(navigator_.place().sort);
  }
  EXPECT_EQ(sorts, (std::vector<std::string>{"INSTANCE", "accepted", "latency", ""}));
}

TEST_F(NavigatorTest, AHeadingSortsAndAgainTheOtherWay) {
  navigator_.point_column(0, 2);
  EXPECT_EQ(navigator_.place().sort, "latency");
  EXPECT_FALSE(navigator_.place().ascending);
  navigator_.point_column(0, 2);
  EXPECT_TRUE(navigator_.place().ascending);
  navigator_.point_column(7, 2);
  navigator_.point_column(0, 70);
  EXPECT_EQ(navigator_.place().sort, "latency");
}

TEST_F(NavigatorTest, PointingChoosesAndTwiceOpens) {
  static_cast<void>(navigator_.point(1, 1, false));
  EXPECT_EQ(navigator_.section(), 1U);
  EXPECT_EQ(navigator_.line(), 1U);
  static_cast<void>(navigator_.point(1, 99, true));
  EXPECT_EQ(navigator_.place().screen, Screen::kOverview);
  static_cast<void>(navigator_.point(0, 2, true));
  EXPECT_EQ(navigator_.place().instance, "row 2");
}

TEST_F(NavigatorTest, TheTrendIsOfTheColumnThatIsChosen) {
  press({Message::kRight});
  EXPECT_EQ(navigator_.place().counter, "latency");
}

TEST_F(NavigatorTest, HelpHidesTheRowsSoNoKeyActsOnThem) {
  press({Message::kHelp});
  EXPECT_TRUE(navigator_.shows_help());
  press({Message::kPin});
  EXPECT_FALSE(navigator_.shows_help());
  EXPECT_TRUE(navigator_.place().pins.empty());
  press({Message::kHelp});
  EXPECT_EQ(navigator_.handle(Message::kQuit), Request::kQuit);
}

TEST_F(NavigatorTest, PinsTheChosenLineAndFreesIt) {
  press({Message::kOpen});
  draw({3});
  press({Message::kPin});
  EXPECT_EQ(navigator_.place().pins, (std::vector<std::string>{"row 0"}));
  press({Message::kPin});
  EXPECT_TRUE(navigator_.place().pins.empty());
}

TEST_F(NavigatorTest, AMomentToComeIsNow) {
  Place place;
  place.at_ns = 60'000'000'000;
  Navigator navigator(place);
  Picture picture;
  picture.place = place;
  picture.place.at_ns.reset();

  navigator.drawn(picture, 10);

  EXPECT_EQ(navigator.place().at_ns, std::nullopt);
}

TEST_F(NavigatorTest, SaysWhenThereIsNoFurtherMoment) {
  EXPECT_EQ(navigator_.handle(Message::kEarlier), Request::kEarlier);
  navigator_.show_moment(std::nullopt);
  EXPECT_FALSE(navigator_.complaint().empty());
  navigator_.show_moment(3);
  EXPECT_EQ(navigator_.place().at_ns, 3U);
}

TEST_F(NavigatorTest, NoMessageNeedsAPicture) {
  for (int message = 0; message <= static_cast<int>(Message::kQuit); ++message) {
    Navigator blank{Place()};
    static_cast<void>(blank.handle(static_cast<Message>(message)));
    blank.type("x");
    blank.take_back();
    blank.take_back();
    blank.accept();
    static_cast<void>(blank.handle(static_cast<Message>(message)));
  }
}

}  // namespace
}  // namespace meterbank::view
