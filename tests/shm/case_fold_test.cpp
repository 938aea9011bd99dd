// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/case_fold.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "meterbank/shm/utf8.hpp"

namespace meterbank {
namespace {

using namespace std::string_view_literals;

constexpr const char* kUnicodeFile = "/usr/share/unicode/CaseFolding.txt";

std::string folded(std::string_view text) {
  std::string out;
  fold_append(text, out);
  return out;
}

std::string encoded(char32_t code_point) {
  std::string text;
  append_utf8(code_point, text);
  return text;
}

std::string contents_of(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::ostringstream contents;
  contents << stream.rdbuf();
  return contents.str();
}

// Short texts over letters with a difficult case, damaged bytes included.
std::string random_text(std::mt19937& random, std::size_t pieces_max) {
  static const std::vector<std::string> kPieces = {
      "a",      "A",        "z",      "Z",        "@",       "[",      "`",          "{",
      "k",      "K",        "\u212A", "\u00DF",   "\u1E9E",  "\u03C3", "\u03C2",     "\u03A3",
      "\u0130", "\u0131",   "i",      "I",        "\u023A",  "\u2C65", "\U00010400", "\U00010428",
      "\x80",   "\xE2\x84", "\xFF",   "abcdefgh", "ABCDEFGH"};
  std::string text;
  const std::size_t pieces = random() % (pieces_max + 1);
  for (std::size_t index = 0; index < pieces; ++index) text += kPieces[random() % kPieces.size()];
  return text;
}

TEST(CaseFold, FoldsExactlyTheLettersOfAscii) {
  for (char32_t code_point = 0; code_point < 0x80; ++code_point) {
    const bool upper = code_point >= U'A' && code_point <= U'Z';
    const char32_t expected = upper ? code_point + 32 : code_point;
    EXPECT_EQ(fold_code_point(code_point), expected);
    // At each place of a word, so that no neighbour leaks into another.
    for (std::size_t place = 0; place < 11; ++place) {
      std::string text(11, 'Q');
      std::string wanted(11, 'q');
      text[place] = static_cast<char>(code_point);
      wanted[place] = static_cast<char>(expected);
      ASSERT_EQ(folded(text), wanted);
    }
  }
}

TEST(CaseFold, KeepsTheTurkishLettersApartFromI) {
  EXPECT_TRUE(equal_folded("I", "i"));
  EXPECT_FALSE(equal_folded("\u0130", "i"));  // dotted capital
  EXPECT_FALSE(equal_folded("\u0130", "I"));
  EXPECT_FALSE(equal_folded("\u0131", "i"));  // dotless small
  EXPECT_FALSE(equal_folded("\u0131", "I"));
  EXPECT_FALSE(equal_folded("\u0130", "\u0131"));
  EXPECT_TRUE(equal_folded("\u0130", "\u0130"));
}

TEST(CaseFold, FoldsTheCapitalSharpSToTheSmallOneAndNeitherToSs) {
  EXPECT_TRUE(equal_folded("Stra\u00DFe",
                           "STRA\u1E9E"
                           "E"));
  EXPECT_FALSE(equal_folded("Stra\u00DFe", "STRASSE"));
  EXPECT_EQ(folded("\u1E9E"), "\u00DF");
}

TEST(CaseFold, TakesTheKelvinSignForTheLetterK) {
  EXPECT_TRUE(equal_folded("\u212A", "k"));
  EXPECT_TRUE(equal_folded("300\u212A", "300K"));
  EXPECT_TRUE(equal_folded("\u212B", "\u00E5"));  // the angstrom sign, likewise
}

TEST(CaseFold, TakesBothSmallSigmasForOne) {
  EXPECT_TRUE(equal_folded("\u039F\u0394\u039F\u03A3", "\u03BF\u03B4\u03BF\u03C2"));
  EXPECT_TRUE(equal_folded("\u03C3", "\u03C2"));
}

TEST(CaseFold, FoldsBeyondTheBasicPlane) {
  EXPECT_EQ(fold_code_point(0x10400), char32_t{0x10428});  // Deseret
  EXPECT_EQ(fold_code_point(0x1E900), char32_t{0x1E922});  // Adlam
  EXPECT_EQ(fold_code_point(0xAB70), char32_t{0x13A0});    // Cherokee folds downwards
  EXPECT_EQ(fold_code_point(0x1F600), char32_t{0x1F600});
  EXPECT_EQ(fold_code_point(0x10FFFF), char32_t{0x10FFFF});
}

TEST(CaseFold, MayGrowATextByItsEncoding) {
  EXPECT_EQ(folded("\u023A"), "\u2C65");
  EXPECT_GT(folded("\u023A").size(), std::string_view("\u023A").size());
}

TEST(CaseFold, IsIdempotentForEveryCodePoint) {
  for (char32_t code_point = 0; code_point <= kLastCodePoint; ++code_point) {
    const char32_t once = fold_code_point(code_point);
    ASSERT_EQ(fold_code_point(once), once) << static_cast<unsigned>(code_point);
  }
}

TEST(CaseFold, KeepsDamagedNamesApart) {
  EXPECT_EQ(folded("A\xE2\x84"
                   "B"sv),
            "a\xE2\x84"
            "b"sv);
  EXPECT_TRUE(equal_folded("A\xFF"sv, "a\xFF"sv));
  EXPECT_FALSE(equal_folded("A\xFF"sv, "a\xFE"sv));
  EXPECT_FALSE(equal_folded("\xFF"sv, "\uFFFD"));
  EXPECT_FALSE(equal_folded("\xE2\x84"sv, "\u212A"));
}

TEST(CaseFold, AgreesWithItselfInEveryForm) {
  std::mt19937 random(20240607);
  std::size_t equal = 0;
  for (int round = 0; round < 200'000; ++round) {
    const std::string left = random_text(random, 4);
    const std::string right = random_text(random, 4);
    const bool same = folded(left) == folded(right);
    equal += same ? 1 : 0;
    ASSERT_EQ(equal_folded(left, right), same) << left << " " << right;
    ASSERT_EQ(compare_folded(left, right) == 0, same);
    ASSERT_EQ(compare_folded(right, left) == 0, same);
    ASSERT_EQ(compare_folded(left, right) < 0, compare_folded(right, left) > 0);
    ASSERT_EQ(folded_hash(left) == folded_hash(right), same);
    ASSERT_EQ(folded_hash(left), folded_hash(folded(left)));
    ASSERT_EQ(folded(folded(left)), folded(left));
  }
  EXPECT_GT(equal, 1000U);
}

TEST(CaseFold, ComparesLongTextsToTheLastCharacter) {
  for (std::size_t size = 1; size < 40; ++size) {
    std::string left(size, 'N');
    std::string right(size, 'n');
    EXPECT_TRUE(equal_folded(left, right));
    right.back() = 'm';
    EXPECT_FALSE(equal_folded(left, right));
    EXPECT_FALSE(equal_folded(left, std::string(size + 1, 'n')));
    EXPECT_TRUE(compare_folded(right, left) < 0);
  }
}

TEST(CaseFold, OrdersByFoldedCodePoints) {
  std::vector<std::string> names = {"b", "A", "\u00E9", "a1", "B2", ""};
  std::sort(names.begin(), names.end(), FoldedLess{});
  EXPECT_EQ(names, (std::vector<std::string>{"", "A", "a1", "b", "B2", "\u00E9"}));
}

TEST(CaseFold, HashesTextOfEveryLengthDifferently) {
  std::unordered_set<std::uint64_t> seen;
  for (std::size_t size = 0; size <= 1023; ++size) {
    EXPECT_TRUE(seen.insert(folded_hash(std::string(size, 'x'))).second) << size;
    EXPECT_TRUE(seen.insert(folded_hash(std::string(size, '\0') + "1")).second) << size;
  }
}

TEST(CaseFold, HashDependsOnTheSeed) {
  EXPECT_NE(folded_hash("eth0", 1), folded_hash("eth0", 2));
  EXPECT_EQ(folded_hash("eth0", 7), folded_hash("ETH0", 7));
}

TEST(CaseFold, HashSpreadsNumberedNamesOverTheLowBits) {
  constexpr std::size_t kNames = 1 << 16;
  std::vector<unsigned> buckets(kNames / 8);
  for (std::size_t index = 0; index < kNames; ++index) {
    ++buckets[folded_hash("worker-" + std::to_string(index)) % buckets.size()];
  }
  // Eight on average; even the fullest of 8,192 buckets stays far below 40 with a fair hash.
  EXPECT_LT(*std::max_element(buckets.begin(), buckets.end()), 40U);
}

// Two of these texts fall together at fewer than 20 of the 2^61 points that it may draw.
TEST(CaseFold, KeyedHashTellsTextsApartByEachByteAndTheLength) {
  const KeyedFoldedHash hash;
  std::unordered_set<std::size_t> seen;
  for (std::size_t size = 0; size <= 64; ++size) {
    EXPECT_TRUE(seen.insert(hash(std::string(size, '\0'))).second) << size;
    for (std::size_t position = 0; position < size; ++position) {
      for (const char other : {'x', '\xC3', '\x80'}) {
        std::string text(size, '\0');
        text[position] = other;
        EXPECT_TRUE(seen.insert(hash(text)).second) << size << ", " << position;
      }
    }
  }
}

TEST(CaseFold, KeyedHashIsOneForTextsThatAreEqualInAnyCase) {
  const KeyedFoldedHash hash;
  for (std::size_t size = 1; size < 40; ++size) {
    const std::string before(size, 'x');
    EXPECT_EQ(hash(before + "\u00C9T\u00C9 \u212A"), hash(before + "\u00E9t\u00E9 k")) << size;
    EXPECT_NE(hash(before + "\u00C9"), hash(before + "E\u0301")) << size;
  }
}

TEST(CaseFold, HashIsTheSameInEveryProcessAndBuild) {
  EXPECT_EQ(folded_hash(""), 0xEF46DB3751D8E999U);
  EXPECT_EQ(folded_hash("Processor Information"), 0x5E48612E4D7E6B1FU);
  EXPECT_EQ(folded_hash("\u1E9E\u212A\u03C2"), 0x8B4F27501273C16FU);
}

TEST(CaseFold, TransparentFunctorsFindANameInAnyCase) {
  std::map<std::string, int, FoldedLess> ordered{{"Accepted/sec", 1}};
  EXPECT_EQ(ordered.count("ACCEPTED/SEC"sv), 1U);
  EXPECT_EQ(FoldedHash{}("Accepted/sec"), FoldedHash{}("accepted/SEC"));
  EXPECT_TRUE(FoldedEqual{}("Accepted/sec", "accepted/SEC"));
}

TEST(CaseFold, MatchesTheUnicodeFileForEveryCodePoint) {
  std::ifstream file(kUnicodeFile);
  if (!file) GTEST_SKIP() << "package unicode-data is not installed";
  std::map<char32_t, char32_t> foldings;
  for (std::string line; std::getline(file, line);) {
    unsigned from = 0;
    unsigned to = 0;
    char status = 0;
    if (std::sscanf(line.c_str(), "%x; %c; %x;", &from, &status, &to) != 3) continue;
    if (status == 'C' || status == 'S') foldings[char32_t{from}] = char32_t{to};
  }
  ASSERT_GT(foldings.size(), 1000U);
  for (char32_t code_point = 0; code_point <= kLastCodePoint; ++code_point) {
    const auto found = foldings.find(code_point);
    const char32_t expected = found == foldings.end() ? code_point : found->second;
    ASSERT_EQ(fold_code_point(code_point), expected) << static_cast<unsigned>(code_point);
    if (found != foldings.end()) {
      ASSERT_EQ(folded(encoded(code_point)), encoded(expected));
    }
  }
}

TEST(CaseFold, TableIsWhatItsGeneratorWrites) {
  if (!std::filesystem::exists(kUnicodeFile)) {
    GTEST_SKIP() << "package unicode-data is not installed";
  }
  if (std::system("python3 --version > /dev/null 2>&1") != 0) {
    GTEST_SKIP() << "python3 is not installed";
  }
  const auto source = std::filesystem::path(METERBANK_SOURCE_DIR) / "shm" / "src" / "case_fold";
  const auto written = std::filesystem::path(testing::TempDir()) /
                       ("case_fold_table." + std::to_string(std::random_device{}()) + ".inc");
  const std::string command = "python3 '" + (source / "make_case_fold_table.py").string() + "' '" +
                              kUnicodeFile + "' > '" + written.string() + "'";
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  const std::string expected = contents_of(source / "case_fold_table.inc");
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(contents_of(written), expected);
  std::filesystem::remove(written);
}

}  // namespace
}  // namespace meterbank
