// SPDX-License-Identifier: Apache-2.0
#include "generator/output/c_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace meterbank::generator {
namespace {

using Lines = std::vector<std::string>;

TEST(Comment, IsWrappedAtSpaces) {
  const std::string half(60, 'a');
  EXPECT_EQ(comment_lines(half + " " + half + " b"), (Lines{half, half + " b"}));
  EXPECT_EQ(comment_lines("  a   b "), Lines{"a b"});
  EXPECT_EQ(comment_lines(" "), Lines{});
}

TEST(Comment, FillsItsLines) {
  const std::string word(44, 'a');
  EXPECT_EQ(comment_lines(word + " " + word + "a c"), (Lines{word + " " + word + "a", "c"}));
  EXPECT_EQ(comment_lines(word + " " + word + "aa c"), (Lines{word, word + "aa c"}));
}

TEST(Comment, KeepsLongWordsWhole) {
  const std::string endless(150, 'a');
  EXPECT_EQ(comment_lines("b " + endless + " c"), (Lines{"b", endless, "c"}));
}

TEST(Comment, DoesNotContinueInTheNextLine) {
  EXPECT_EQ(comment_lines("a\\"), Lines{"a\\."});
  EXPECT_EQ(comment_lines("a?\?/"), Lines{"a?\?/."});
  EXPECT_EQ(comment_lines("a\\ b"), Lines{"a\\ b"});
}

TEST(Comment, HasNoCharactersThatChangeItsLine) {
  EXPECT_EQ(comment_text("a\nb\tc\x7f\u202e\u061c"
                         "d"),
            "a b c d");
}

TEST(CText, EscapesWhatWouldEndOrChangeALiteral) {
  EXPECT_EQ(c_text(R"("a" \ ü)"), R"(\"a\" \\ ü)");
  EXPECT_EQ(c_text("?\?/ ?\?\?= ? ?"), R"(?\?/ ?\?\?= ? ?)");
  EXPECT_EQ(c_text("\u061c\u202e"), R"(\u061c\u202e)");
}

}  // namespace
}  // namespace meterbank::generator
