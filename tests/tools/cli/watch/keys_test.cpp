// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/terminal/keys.hpp"

#include <gtest/gtest.h>

namespace meterbank::cli {
namespace {

TEST(Keys, AreTheSameFromAnyKindOfTerminal) {
  for (const char* const up : {"\x1b[A", "\x1bOA"}) {
    const auto keys = parse_keys(up);
    ASSERT_EQ(keys.size(), 1U);
    EXPECT_EQ(keys[0].key, Key::kUp);
  }
  const std::vector<KeySequence> old_terminal{{"\x1b[225z", Key::kUp}, {"\x0b", Key::kDown}};

  const auto keys = parse_keys("\x1b[225z\x0b", old_terminal);

  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].key, Key::kUp);
  EXPECT_EQ(keys[1].key, Key::kDown);
}

TEST(Keys, ThatMeanNothingAreTakenWhole) {
  const auto keys = parse_keys("\x1b[1;5A\x1b[200~q");

  ASSERT_EQ(keys.size(), 3U);
  EXPECT_EQ(keys[0].key, Key::kUnknown);
  EXPECT_EQ(keys[1].key, Key::kUnknown);
  EXPECT_EQ(keys[2].text, "q");
}

TEST(Mouse, TellsTheCellAlsoFarToTheRight) {
  const auto keys = parse_keys("\x1b[<0;299;80M\x1b[<0;299;80m\x1b[<64;1;1M\x1b[<65;1;1M");

  ASSERT_EQ(keys.size(), 4U);
  EXPECT_EQ(keys[0].key, Key::kClick);
  EXPECT_EQ(keys[0].x, 298U);
  EXPECT_EQ(keys[0].y, 79U);
  EXPECT_EQ(keys[1].key, Key::kUnknown);  // it was let go
  EXPECT_EQ(keys[2].key, Key::kWheelUp);
  EXPECT_EQ(keys[3].key, Key::kWheelDown);
}

TEST(Mouse, OfOldTerminalsIsUnderstood) {
  const auto keys = parse_keys("\x1b[M !\"q");

  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].key, Key::kClick);
  EXPECT_EQ(keys[0].x, 0U);
  EXPECT_EQ(keys[0].y, 1U);
  EXPECT_EQ(keys[1].text, "q");
}

TEST(Mouse, WithNumbersThatAreNoneIsIgnored) {
  for (const char* const sequence :
       {"\x1b[<M", "\x1b[<0M", "\x1b[<0;1M", "\x1b[<0;1;M", "\x1b[<;;M", "\x1b[<0;0;0M",
        "\x1b[<99999999999999;1;1M", "\x1b[<-1;1;1M", "\x1b[<0;1;1;1M", "\x1b[<0;1;1~"}) {
    const auto keys = parse_keys(sequence);
    ASSERT_EQ(keys.size(), 1U) << sequence + 1;
    EXPECT_EQ(keys[0].key, Key::kUnknown) << sequence + 1;
  }
}

TEST(KeyReader, JoinsASequenceThatCameInPieces) {
  KeyReader reader;
  const std::string_view whole = "\x1b[<0;12;5M\x1b[5~ü";

  std::vector<KeyPress> keys;
  for (const char byte : whole) {
    for (auto& key : reader.feed({&byte, 1})) keys.push_back(std::move(key));
  }

  ASSERT_EQ(keys.size(), 3U);
  EXPECT_EQ(keys[0].key, Key::kClick);
  EXPECT_EQ(keys[0].x, 11U);
  EXPECT_EQ(keys[1].key, Key::kPageUp);
  EXPECT_EQ(keys[2].text, "ü");
  EXPECT_FALSE(reader.is_waiting());
}

TEST(KeyReader, TakesALoneEscapeForItselfWhenNothingFollows) {
  KeyReader reader;

  EXPECT_TRUE(reader.feed("\x1b").empty());
  ASSERT_TRUE(reader.is_waiting());
  const auto keys = reader.give_up_waiting();

  ASSERT_EQ(keys.size(), 1U);
  EXPECT_EQ(keys[0].key, Key::kEscape);
  EXPECT_FALSE(reader.is_waiting());
}

TEST(KeyReader, TakesEscapeAndALetterForTwoKeys) {
  KeyReader reader;

  const auto keys = reader.feed("\x1bq");

  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].key, Key::kEscape);
  EXPECT_EQ(keys[1].text, "q");
}

TEST(KeyReader, KeepsNoMoreThanASequenceIsLong) {
  KeyReader reader;
  std::size_t keys = 0;

  for (int i = 0; i < 10'000; ++i) keys += reader.feed("\x1b[1;1;1;1;1;1;1;1").size();
  keys += reader.feed("q").size();

  EXPECT_GT(keys, 5'000U);
}

}  // namespace
}  // namespace meterbank::cli
