// SPDX-License-Identifier: Apache-2.0
#include "view/place.hpp"

#include <gtest/gtest.h>

#include <random>

namespace meterbank::view {
namespace {

Place elaborate_place() {
  Place place;
  place.screen = Screen::kInstance;
  place.provider = "orders@48213";
  place.set = "demo_orders";
  place.instance = "eu & us=100%#7 \u6771\u4eac";
  place.counter = "latency.p99";
  place.filter = "a b+c";
  place.sort = "p99/s";
  place.ascending = true;
  place.grouping = Grouping::kLabel;
  place.pins = {"orders@48213/demo_orders/eu", ""};
  place.hide_zeros = place.stored = place.base_units = place.logarithmic = true;
  place.at_ns = 1'764'213'120'500'000'001;
  place.span = std::chrono::milliseconds(90'500);
  return place;
}

TEST(Place, ALinkLeadsToThePlaceThatItWasMadeOf) {
  const auto place = elaborate_place();

  const auto read = parse_link(link_of(place));

  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*read, place) << link_of(*read);
}

TEST(Place, WhatIsAsUsualIsNotInALink) {
  EXPECT_EQ(link_of({}), "screen=overview");
  EXPECT_EQ(*parse_link(""), Place());
}

TEST(Place, ALinkIsPlainAscii) {
  for (const char byte : link_of(elaborate_place())) {
    EXPECT_TRUE(byte > ' ' && byte < 0x7f && byte != '"' && byte != '<' && byte != '#') << byte;
  }
}

TEST(Place, RefusesWhatIsNoLinkAndSaysWhatItMayBe) {
  const std::pair<const char*, const char*> wrong[] = {
      {"screen=attic", "overview, set, instance"},
      {"colour=red", "a link that this program has made"},
      {"stored=yes", "stored=1"},
      {"at=-5", "seconds since 1970"},
      {"at=1.0000000001", "seconds since 1970"},
      {"at=99999999999999999999", "seconds since 1970"},
      {"span=0", "at most a year"},
      {"span=1e9", "at most a year"},
      {"set=%4", "two hexadecimal digits"},
      {"set=%zz", "two hexadecimal digits"}};
  for (const auto& [link, remedy] : wrong) {
    const auto read = parse_link(link);
    ASSERT_FALSE(read) << link;
    EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(read.error().message().find(remedy), std::string::npos) << read.error().message();
  }
}

TEST(Place, RefusesALinkThatIsTooLong) {
  EXPECT_TRUE(parse_link("set=" + std::string(kLinkBytesMax - 4, 'a')));
  EXPECT_FALSE(parse_link("set=" + std::string(kLinkBytesMax - 3, 'a')));
}

TEST(Place, ForeignBytesInALinkBecomeText) {
  const auto read = parse_link("set=%FF%1B%5B2J");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->set, "\uFFFD\x1b[2J");
}

TEST(Place, NoBytesMakeItFail) {
  std::mt19937 random(22);  // NOLINT(bugprone-random-generator-seed)
  constexpr std::string_view kPieces[] = {"screen=", "set=",        "&",       "=",   "%",
                                          "41",      "at=",         "span=",   "1.5", "pin=",
                                          "\xff",    "group=label", "overview"};
  for (int round = 0; round < 20'000; ++round) {
    std::string link;
    for (auto count = random() % 9; count > 0; --count) {
      link += kPieces[random() % std::size(kPieces)];
    }
    if (const auto read = parse_link(link)) {
      const auto again = parse_link(link_of(*read));
      ASSERT_TRUE(again) << link;
      EXPECT_EQ(*again, *read) << link;
    }
  }
}

}  // namespace
}  // namespace meterbank::view
