// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/cpu_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "../../support/sanitizers.hpp"

namespace meterbank::arbiter {
namespace {

constexpr int kRandomSets = test::kHasSanitizer ? 100 : 1000;

CpuSet set_of(std::string_view text) {
  const auto set = CpuSet::parse(text);
  EXPECT_TRUE(set) << text << ": " << (set ? "" : set.error().message());
  return set.value_or(CpuSet());
}

TEST(CpuSet, ReadsWhatLinuxWrites) {
  EXPECT_EQ(set_of("0-3,8").numbers(), (std::vector<std::uint32_t>{0, 1, 2, 3, 8}));
  EXPECT_EQ(set_of("5\n").numbers(), (std::vector<std::uint32_t>{5}));
  EXPECT_TRUE(set_of("").empty());
  EXPECT_TRUE(set_of("\n").empty());
  EXPECT_EQ(set_of("0-4095").count(), kCpusMax);
  EXPECT_EQ(set_of("00,007").text(), "0,7");
}

TEST(CpuSet, MergesRepeatedCpus) { EXPECT_EQ(set_of("4-9,0,8-12,1,0").text(), "0-1,4-12"); }

TEST(CpuSet, RefusesAMalformedSetAndNamesThePart) {
  struct Case {
    std::string_view text;
    std::string_view what;
  };
  for (const Case& bad : {
           Case{"0,x", "CPU set: 'x' is neither a number nor a range"},
           Case{"0,,1", "CPU set: '' is neither a number nor a range"},
           Case{",", "CPU set: '' is neither a number nor a range"},
           Case{"1,", "CPU set: '' is neither a number nor a range"},
           Case{"-", "CPU set: '-' is neither a number nor a range"},
           Case{"1-", "CPU set: '1-' is neither a number nor a range"},
           Case{"-1", "CPU set: '-1' is neither a number nor a range"},
           Case{"1-2-3", "CPU set: '1-2-3' is neither a number nor a range"},
           Case{"+1", "CPU set: '+1' is neither a number nor a range"},
           Case{" 1", "CPU set: ' 1' is neither a number nor a range"},
           Case{"1\n\n", "CPU set: '1\\u{a}' is neither a number nor a range"},
           Case{"0x1", "CPU set: '0x1' is neither a number nor a range"},
           Case{"0-3:1/2", "CPU set: '0-3:1/2' is neither a number nor a range"},
           Case{std::string_view("1\0", 2), "CPU set: '1\\u{0}' is neither a number nor a range"},
           Case{"\x1b[31m", "CPU set: '\\u{1b}[31m' is neither a number nor a range"},
           Case{"9-3", "CPU set: '9-3' ends before it begins"},
           Case{"4096", "CPU set: '4096' is beyond the last CPU there can be"},
           Case{"0-4096", "CPU set: '0-4096' is beyond the last CPU there can be"},
           Case{"18446744073709551616",
                "CPU set: '18446744073709551616' is neither a number nor a range"},
       }) {
    const auto set = CpuSet::parse(bad.text);
    ASSERT_FALSE(set) << bad.text;
    EXPECT_EQ(set.error().code, ErrorCode::kInvalidArgument) << bad.text;
    EXPECT_EQ(set.error().what, bad.what);
    EXPECT_FALSE(set.error().remedy.empty()) << bad.text;
  }
}

TEST(CpuSet, CutsLongPartsInItsErrors) {
  const auto set = CpuSet::parse(std::string(100000, '9'));
  ASSERT_FALSE(set);
  EXPECT_LT(set.error().what.size(), 120U);
}

TEST(CpuSet, RangesKeepWithinBounds) {
  EXPECT_EQ(CpuSet::range(3, 5).text(), "3-5");
  EXPECT_EQ(CpuSet::range(7, 7).text(), "7");
  EXPECT_TRUE(CpuSet::range(5, 3).empty());
  EXPECT_EQ(CpuSet::range(4000, 0xffffffff).text(), "4000-4095");
  EXPECT_TRUE(CpuSet::range(4096, 5000).empty());
  for (const std::uint32_t edge : {0U, 1U, 62U, 63U, 64U, 65U, 127U, 128U, 4095U}) {
    EXPECT_EQ(CpuSet::range(edge, edge).numbers(), (std::vector<std::uint32_t>{edge}));
    EXPECT_EQ(CpuSet::range(0, edge).count(), edge + 1);
    EXPECT_EQ(CpuSet::range(edge, 4095).count(), 4096 - edge);
  }
}

TEST(CpuSet, IgnoresCpusThatCannotBe) {
  CpuSet set;
  set.add(kCpusMax);
  set.add(0xffffffff);
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set, CpuSet());
  EXPECT_FALSE(set.contains(kCpusMax));
  EXPECT_FALSE(CpuSet::range(0, 4095).contains(0xffffffff));
  set.add(kCpusMax - 1);
  EXPECT_TRUE(set.contains(kCpusMax - 1));
}

TEST(CpuSet, IsEqualHoweverItCameAbout) {
  EXPECT_EQ(set_of("1,500").common_with(set_of("1-3")), set_of("1"));
  EXPECT_EQ(set_of("500").common_with(set_of("501")), CpuSet());
  EXPECT_NE(set_of("1"), set_of("2"));
}

TEST(CpuSet, IsWithinWhatHasAllOfIt) {
  EXPECT_TRUE(set_of("1,70").is_within(set_of("0-80")));
  EXPECT_TRUE(CpuSet().is_within(CpuSet()));
  EXPECT_TRUE(CpuSet().is_within(set_of("3")));
  EXPECT_FALSE(set_of("1,81").is_within(set_of("0-80")));
  EXPECT_FALSE(set_of("1,700").is_within(set_of("0-80")));
  EXPECT_FALSE(set_of("3").is_within(CpuSet()));
}

// What a CpuSet should be, with std::set in its place.
TEST(CpuSet, AgreesWithAPlainSetAndComesBackFromItsText) {
  std::mt19937 random(1);
  const auto below = [&random](std::uint32_t end) {
    return static_cast<std::uint32_t>(random() % end);
  };
  for (int i = 0; i < kRandomSets; ++i) {
    std::set<std::uint32_t> plain[2];
    CpuSet sets[2];
    for (int side = 0; side < 2; ++side) {
      const std::uint32_t span = 1 + below(below(2) == 0 ? 150 : kCpusMax);
      for (std::uint32_t n = below(80); n > 0; --n) {
        const std::uint32_t cpu = below(span);
        plain[side].insert(cpu);
        sets[side].add(cpu);
      }
      const std::vector<std::uint32_t> expected(plain[side].begin(), plain[side].end());
      ASSERT_EQ(sets[side].numbers(), expected);
      ASSERT_EQ(sets[side].count(), expected.size());
      ASSERT_EQ(set_of(sets[side].text()), sets[side]);
    }
    CpuSet common;
    bool is_within = true;
    for (const std::uint32_t cpu : plain[0]) {
      if (plain[1].contains(cpu)) common.add(cpu);
      is_within = is_within && plain[1].contains(cpu);
    }
    ASSERT_EQ(sets[0].common_with(sets[1]), common);
    ASSERT_EQ(sets[0].is_within(sets[1]), is_within);
    ASSERT_TRUE(common.is_within(sets[0]));
  }
}

}  // namespace
}  // namespace meterbank::arbiter
