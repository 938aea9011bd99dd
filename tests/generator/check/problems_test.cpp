// SPDX-License-Identifier: Apache-2.0
#include "generator/manifest/place.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace meterbank::generator {
namespace {

TEST(Problems, AreToldInTheOrderOfTheFile) {
  Problems problems;
  problems.add({3, 1}, "third");
  problems.add({1, 9}, "second", "with a hint");
  problems.add({1, 2}, "first");
  problems.add({3, 1}, "fourth, found later");
  EXPECT_EQ(problems.text("orders.toml"),
            "orders.toml:1:2: error: first\n"
            "orders.toml:1:9: error: second\n"
            "orders.toml:1:9: hint: with a hint\n"
            "orders.toml:3:1: error: third\n"
            "orders.toml:3:1: error: fourth, found later\n");
}

TEST(Problems, AreToldOnce) {
  Problems problems;
  problems.add({2, 1}, "same", "hint");
  problems.add({2, 1}, "other");
  problems.add({2, 1}, "same", "hint");
  problems.add({2, 1}, "same", "another hint");
  EXPECT_EQ(problems.text("f"),
            "f:2:1: error: same\nf:2:1: hint: hint\nf:2:1: error: other\n"
            "f:2:1: error: same\nf:2:1: hint: another hint\n");
}

TEST(Problems, WithoutAPlaceNameTheFile) {
  Problems problems;
  problems.add({}, "nothing in it");
  EXPECT_EQ(problems.text("f"), "f: error: nothing in it\n");
}

TEST(Problems, EndWithACountWhereThereAreMany) {
  Problems problems;
  for (std::uint32_t line = 1; line <= Problems::kShownMax; ++line) problems.add({line, 1}, "x");
  EXPECT_EQ(problems.text("f").find("more"), std::string::npos);
  for (std::uint32_t line = 1; line <= 3; ++line) problems.add({line, 2}, "y");
  problems.add({1, 2}, "y");
  const std::string text = problems.text("f");
  EXPECT_EQ(std::ranges::count(text, '\n'), Problems::kShownMax + 1);
  EXPECT_TRUE(text.ends_with("f: error: and 3 more\n")) << text;
}

TEST(Problems, CannotSteerATerminal) {
  Problems problems;
  problems.add({1, 1}, "name '\x1b[2J\nf:9:9: error: forged'", std::string("\xff\xe2\x80\xae", 4));
  const std::string text = problems.text("a\nb");
  EXPECT_EQ(text,
            "a\\u{a}b:1:1: error: name '\\u{1b}[2J\\u{a}f:9:9: error: forged'\n"
            "a\\u{a}b:1:1: hint: \xef\xbf\xbd\\u{202e}\n");
}

TEST(Problems, ShortenWhatTheyQuote) {
  Problems problems;
  problems.add({1, 1}, std::string(1'000'000, 'x'));
  EXPECT_LT(problems.text("f").size(), 1000U);
}

}  // namespace
}  // namespace meterbank::generator
