// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/glob.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "../support/depth.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank {
namespace {

using namespace std::string_view_literals;

constexpr GlobOptions kEscapes{.backslash_escapes = true};

// The definition, written down without any thought of speed.
bool matches_by_definition(const std::vector<std::string>& pattern, std::size_t at,
                           const std::u32string& text, std::size_t from) {
  if (at == pattern.size()) return from == text.size();
  if (pattern[at] == "*") {
    for (std::size_t taken = from; taken <= text.size(); ++taken) {
      if (matches_by_definition(pattern, at + 1, text, taken)) return true;
    }
    return false;
  }
  if (from == text.size()) return false;
  if (pattern[at] != "?") {
    const std::string_view piece = pattern[at];
    const bool escaped = piece.size() > 1 && piece.front() == '\\';
    FoldCursor character(escaped ? piece.substr(1) : piece);
    if (character.next() != text[from]) return false;
  }
  return matches_by_definition(pattern, at + 1, text, from + 1);
}

TEST(Glob, StarIsAnyRunAndAlsoNone) {
  EXPECT_TRUE(glob_matches("*", ""));
  EXPECT_TRUE(glob_matches("*", "anything"));
  EXPECT_TRUE(glob_matches("a*b", "ab"));
  EXPECT_TRUE(glob_matches("a*b", "a-long-way-to-b"));
  EXPECT_FALSE(glob_matches("a*b", "a-long-way-to-c"));
  EXPECT_TRUE(glob_matches("*total", "_Total"));
  EXPECT_TRUE(glob_matches("0,*", "0,_Total"));
  EXPECT_FALSE(glob_matches("0,*", "10,_Total"));
  EXPECT_TRUE(glob_matches("*a*b*", "xxaxxbxx"));
  EXPECT_FALSE(glob_matches("*a*b*", "xxbxxaxx"));
}

TEST(Glob, StarComesBackWhenItStoppedTooEarly) {
  EXPECT_TRUE(glob_matches("*ab", "aab"));
  EXPECT_TRUE(glob_matches("*aab", "aaaaab"));
  EXPECT_TRUE(glob_matches("a*b*c", "abbcbc"));
  EXPECT_TRUE(glob_matches("*?b", "aab"));
  EXPECT_FALSE(glob_matches("*?b", "b"));
}

TEST(Glob, QuestionMarkIsExactlyOneCharacterNotOneByte) {
  EXPECT_TRUE(glob_matches("?", "a"));
  EXPECT_FALSE(glob_matches("?", ""));
  EXPECT_FALSE(glob_matches("?", "ab"));
  EXPECT_TRUE(glob_matches("?", "\u20AC"));
  EXPECT_FALSE(glob_matches("??", "\u20AC"));
  EXPECT_TRUE(glob_matches("disk_?", "disk_\U0001F4BE"));
}

TEST(Glob, AByteOutsideUtf8IsOneCharacter) {
  EXPECT_TRUE(glob_matches("a?", "a\xFF"sv));
  EXPECT_TRUE(glob_matches("??k", "\xE2\x84k"sv));
  EXPECT_TRUE(glob_matches("*\xFF"sv, "name\xFF"sv));
  EXPECT_FALSE(glob_matches("*\xFF"sv, "name\xFE"sv));
}

TEST(Glob, TheEmptyPatternMatchesTheEmptyTextOnly) {
  EXPECT_TRUE(glob_matches("", ""));
  EXPECT_FALSE(glob_matches("", "a"));
  EXPECT_FALSE(glob_matches("a", ""));
}

TEST(Glob, FoldsCaseAsNamesDo) {
  EXPECT_TRUE(glob_matches("PROC*", "processor"));
  EXPECT_TRUE(glob_matches("\u212A*", "kelvin"));
  EXPECT_TRUE(glob_matches("*\u03C2", "\u03A3\u03A3"));
  EXPECT_FALSE(glob_matches("\u0130*", "istanbul"));
  EXPECT_FALSE(glob_matches("stra\u00DFe", "STRASSE"));
}

TEST(Glob, BracketsAreCharacters) {
  EXPECT_TRUE(glob_matches("[ab]", "[ab]"));
  EXPECT_FALSE(glob_matches("[ab]", "a"));
}

TEST(Glob, BackslashEscapesOnlyWhereAskedFor) {
  EXPECT_TRUE(glob_matches(R"(a\*)", R"(a\bc)"));
  EXPECT_FALSE(glob_matches(R"(a\*)", R"(a\bc)", kEscapes));
  EXPECT_TRUE(glob_matches(R"(a\*)", "A*", kEscapes));
  EXPECT_FALSE(glob_matches(R"(a\*)", "ab", kEscapes));
  EXPECT_TRUE(glob_matches(R"(a\?)", "a?", kEscapes));
  EXPECT_TRUE(glob_matches(R"(a\\)", R"(a\)", kEscapes));
  EXPECT_TRUE(glob_matches(R"(\Q)", "q", kEscapes));
  EXPECT_TRUE(glob_matches("\\\u20AC", "\u20AC", kEscapes));
}

TEST(Glob, ALastLonelyBackslashStandsForItself) {
  EXPECT_TRUE(glob_matches("a\\", "a\\", kEscapes));
  EXPECT_FALSE(glob_matches("a\\", "a", kEscapes));
}

TEST(Glob, KnowsLiteralsAndThePatternForEverything) {
  EXPECT_TRUE(Glob("eth0").is_literal());
  EXPECT_TRUE(Glob("").is_literal());
  EXPECT_FALSE(Glob("eth?").is_literal());
  EXPECT_TRUE(Glob(R"(eth\*)", kEscapes).is_literal());
  EXPECT_TRUE(Glob("*").matches_everything());
  EXPECT_TRUE(Glob("***").matches_everything());
  EXPECT_FALSE(Glob("*?").matches_everything());
  EXPECT_FALSE(Glob("").matches_everything());
}

TEST(Glob, EscapedNamesMatchThemselvesAlone) {
  for (const std::string_view name : {"*", "?", "\\", "a*b?c\\", "[x]", "plain", "\\*"}) {
    const std::string pattern = escape_glob(name);
    EXPECT_TRUE(glob_matches(pattern, name, kEscapes)) << pattern;
    EXPECT_TRUE(Glob(pattern, kEscapes).is_literal()) << pattern;
    EXPECT_EQ(literal_of(pattern), std::string(name));
  }
  EXPECT_FALSE(glob_matches(escape_glob("*"), "a", kEscapes));
}

TEST(Glob, AWildcardHasNoLiteral) {
  EXPECT_EQ(literal_of("a*"), std::nullopt);
  EXPECT_EQ(literal_of("?"), std::nullopt);
  EXPECT_EQ(literal_of(R"(\\*)"), std::nullopt);
  EXPECT_EQ(literal_of(R"(\*)"), "*");
  EXPECT_EQ(literal_of("Trailing\\"), "Trailing\\");
}

// Without a bound these would outlast any timeout: the number of ways to place the stars grows
// exponentially.
TEST(Glob, StarsWithoutEndDoNotExplode) {
  const std::string text(1023, 'a');
  EXPECT_TRUE(glob_matches(std::string(1023, '*'), text));
  EXPECT_FALSE(glob_matches(std::string(1022, '*') + "b", text));
  std::string alternating;
  while (alternating.size() < 1020) alternating += "*a";
  EXPECT_TRUE(glob_matches(alternating, text));
  EXPECT_FALSE(glob_matches(alternating + "*b", text));
  EXPECT_FALSE(glob_matches("*" + std::string(511, 'a') + "b", text));
  std::string questions;
  while (questions.size() < 1020) questions += "*?";
  EXPECT_TRUE(glob_matches(questions, text));
  EXPECT_FALSE(glob_matches(questions + "b", text));
}

TEST(Glob, AgreesWithTheDefinitionOnRandomPatterns) {
  const std::vector<std::string> kLetters = {"a",      "A", "b",    "\u03C3", "\u03C2",
                                             "\u212A", "k", "\xFF", "\\"};
  std::mt19937 random(37);
  std::size_t matched = 0;
  const std::uint64_t patterns = test::tries(1'000'000);
  for (std::uint64_t round = 0; round < patterns; ++round) {
    const bool escapes = random() % 2 == 0;
    std::vector<std::string> pieces;
    for (std::size_t left = random() % 8; left != 0; --left) {
      const auto choice = random() % 12;
      std::string piece = choice < 3 ? "*" : choice < 5 ? "?" : kLetters[random() % 9];
      if (escapes && choice == 11) piece = random() % 2 == 0 ? "\\*" : "\\?";
      // With escapes on, a backslash that means itself has to be doubled.
      if (escapes && piece == "\\") piece = "\\\\";
      pieces.push_back(piece);
    }
    std::string text;
    for (std::size_t left = random() % 8; left != 0; --left) {
      text += random() % 10 == 0 ? "*" : kLetters[random() % 9];
    }
    std::string pattern;
    for (const std::string& piece : pieces) pattern += piece;
    std::u32string characters;
    for (FoldCursor cursor(text); !cursor.done();) characters.push_back(cursor.next());
    const bool expected = matches_by_definition(pieces, 0, characters, 0);
    matched += expected ? 1 : 0;
    ASSERT_EQ(glob_matches(pattern, text, {.backslash_escapes = escapes}), expected)
        << "pattern " << pattern << " text " << text;
  }
  EXPECT_GT(matched, patterns / 20);
  EXPECT_LT(matched, patterns - patterns / 20);
}

}  // namespace
}  // namespace meterbank
