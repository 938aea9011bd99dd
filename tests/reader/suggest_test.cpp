// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/suggest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace meterbank {
namespace {

using Names = std::vector<std::string>;

// The full matrix, for comparison.
std::size_t distance_by_definition(std::string_view left, std::string_view right) {
  std::vector<std::vector<std::size_t>> edits(left.size() + 1,
                                              std::vector<std::size_t>(right.size() + 1));
  for (std::size_t line = 0; line <= left.size(); ++line) {
    for (std::size_t column = 0; column <= right.size(); ++column) {
      std::size_t& cell = edits[line][column];
      if (line == 0 || column == 0) {
        cell = line + column;
        continue;
      }
      const std::size_t changed = left[line - 1] == right[column - 1] ? 0 : 1;
      cell = std::min({edits[line - 1][column] + 1, edits[line][column - 1] + 1,
                       edits[line - 1][column - 1] + changed});
      if (line > 1 && column > 1 && left[line - 1] == right[column - 2] &&
          left[line - 2] == right[column - 1]) {
        cell = std::min(cell, edits[line - 2][column - 2] + 1);
      }
    }
  }
  return edits[left.size()][right.size()];
}

TEST(EditDistance, CountsEachKindOfSlipOnce) {
  EXPECT_EQ(edit_distance("accepted", "accepted", 4), 0U);
  EXPECT_EQ(edit_distance("acepted", "accepted", 4), 1U);    // dropped
  EXPECT_EQ(edit_distance("acccepted", "accepted", 4), 1U);  // doubled
  EXPECT_EQ(edit_distance("accebted", "accepted", 4), 1U);   // changed
  EXPECT_EQ(edit_distance("acecpted", "accepted", 4), 1U);   // swapped
  EXPECT_EQ(edit_distance("kitten", "sitting", 4), 3U);
}

TEST(EditDistance, FoldsCaseAndCountsCharacters) {
  EXPECT_EQ(edit_distance("USER_TIME", "user_time", 4), 0U);
  EXPECT_EQ(edit_distance("\u03A3", "\u03C2", 4), 0U);
  EXPECT_EQ(edit_distance("caf\u00E9", "cafe", 4), 1U);
}

TEST(EditDistance, StopsAtItsLimit) {
  EXPECT_EQ(edit_distance("kitten", "sitting", 3), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting", 2), 3U);
  EXPECT_EQ(edit_distance("kitten", "sitting", 0), 1U);
  EXPECT_EQ(edit_distance("a", std::string(1000, 'a'), 3), 4U);
  EXPECT_EQ(edit_distance("", "", 0), 0U);
  EXPECT_EQ(edit_distance("", "abc", 3), 3U);
  EXPECT_EQ(edit_distance("abc", "", 2), 3U);
}

TEST(EditDistance, TakesALimitLargerThanBothNames) {
  EXPECT_EQ(edit_distance("abc", "xyz", static_cast<std::size_t>(-1)), 3U);
}

TEST(EditDistance, AgreesWithTheFullMatrixWithinEveryLimit) {
  std::mt19937 random(5);
  const auto word = [&random] {
    std::string text(random() % 10, 'a');
    for (char& letter : text) letter = static_cast<char>('a' + random() % 3);
    return text;
  };
  for (int round = 0; round < 50'000; ++round) {
    const std::string left = word();
    const std::string right = word();
    const std::size_t limit = random() % 8;
    const std::size_t expected = std::min(distance_by_definition(left, right), limit + 1);
    ASSERT_EQ(edit_distance(left, right, limit), expected) << left << " " << right << " " << limit;
  }
}

TEST(BestMatch, FindsTheNearestInTheCaseItWasSpelled) {
  const Names names = {"Requests", "Accepted/sec", "Accepted", "Rejected"};
  EXPECT_EQ(best_match("acepted", names), "Accepted");
  EXPECT_EQ(best_match("rejcted", names), "Rejected");
  EXPECT_EQ(best_match("ACCEPTED/SEK", names), "Accepted/sec");
}

TEST(BestMatch, PrefersAnExactNameAndThenTheFirst) {
  EXPECT_EQ(best_match("eth1", Names{"eth0", "eth2", "ETH1", "eth1"}), "ETH1");
  EXPECT_EQ(best_match("eth9", Names{"eth0", "eth1"}), "eth0");
}

TEST(BestMatch, PrefersANearerNameWhereverItStands) {
  EXPECT_EQ(best_match("user_time", Names{"usr_tme", "user_tim", "usr_time"}), "user_tim");
  EXPECT_EQ(best_match("user_time", Names{"user_tim", "usr_tme"}), "user_tim");
}

TEST(BestMatch, OffersNothingThatIsAnotherWord) {
  EXPECT_EQ(best_match("disk", Names{"network", "memory"}), std::nullopt);
  EXPECT_EQ(best_match("cpu", Names{"tcp", "gpus"}), std::nullopt);
  EXPECT_EQ(best_match("a", Names{"b"}), std::nullopt);
  EXPECT_EQ(best_match("", Names{"", "a"}), std::nullopt);
  EXPECT_EQ(best_match("x", Names{}), std::nullopt);
}

TEST(BestMatch, AllowsAtMostFourSlipsHoweverLongTheWord) {
  const std::string word(60, 'n');
  EXPECT_EQ(best_match(word, Names{word + "abcd"}), word + "abcd");
  EXPECT_EQ(best_match(word, Names{word + "abcde"}), std::nullopt);
}

TEST(BestMatch, TakesAnyRangeOfText) {
  const std::vector<std::string_view> views = {"set", "counter"};
  EXPECT_EQ(best_match("conter", views), "counter");
  const char* const literals[] = {"read", "watch"};
  EXPECT_EQ(best_match("wacth", literals), "watch");
}

}  // namespace
}  // namespace meterbank
