// SPDX-License-Identifier: Apache-2.0
//
// Sets without instances on the screens.
#include "board_fixture.hpp"

namespace meterbank::view {
namespace {

TEST_F(BoardTest, ASetWithoutInstancesIsListedBehindTheOthers) {
  ovens_ = *provider_->add(cli::kBakery);
  open_board();
  take(2);

  const auto overview = picture({});

  EXPECT_EQ(cell(overview.sections.at(0), label(), "SETS"), "2");
  const Section* const sets = section_called(overview, "Busiest sets");
  ASSERT_NE(sets, nullptr);
  EXPECT_EQ(first_cells(*sets), (std::vector<std::string>{"dishes", "bakery"}));
  EXPECT_EQ(sets->all, 2U);
  EXPECT_EQ(cell(*sets, "bakery", "INSTANCES"), "0");
  EXPECT_EQ(cell(*sets, "bakery", "BUSY WITH"), "no instances");

  ASSERT_TRUE(sets->lines.at(1).opens);
  const auto opened = picture(*sets->lines[1].opens);
  EXPECT_EQ(opened.place.screen, Screen::kSet);
  ASSERT_FALSE(opened.problems.empty());
  EXPECT_EQ(opened.problems.back(), label() + ":bakery has no instances");
  ASSERT_EQ(opened.sections.size(), 1U);
  EXPECT_EQ(opened.sections[0].total, 0U);
  EXPECT_EQ(picture(set_of("bakery")).problems.back(), "bakery has no instances");
  EXPECT_EQ(picture(set_of("cellar")).problems.back(), "no rows of cellar are there");

  const Instance oven = *ovens_.create_instance("left");
  take(2);
  EXPECT_EQ(picture(set_of("bakery")).sections.at(0).total, 2U) << "with the total";
  EXPECT_TRUE(picture(set_of("bakery")).problems.empty());
  EXPECT_EQ(cell(*section_called(picture({}), "Busiest sets"), "bakery", "INSTANCES"), "1");
}

TEST_F(BoardTest, ASetWithoutInstancesIsFilteredAsOthersAre) {
  ovens_ = *provider_->add(cli::kBakery);
  open_board();
  take(2);
  Place place;
  place.filter = "bak";
  EXPECT_EQ(section_called(picture(place), "Busiest sets")->total, 1U);
  place.filter = "dishes";
  EXPECT_EQ(section_called(picture(place), "Busiest sets")->total, 1U);
  place.filter = "";
  place.provider = label();
  EXPECT_EQ(section_called(picture(place), "Busiest sets")->total, 2U);
  open_board({}, "kitchen");
  take(2);
  EXPECT_EQ(section_called(picture({}), "Busiest sets")->total, 2U);
}

}  // namespace
}  // namespace meterbank::view
