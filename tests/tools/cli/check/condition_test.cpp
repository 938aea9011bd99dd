// SPDX-License-Identifier: Apache-2.0
//
// Conditions as they are typed.
#include "cli/check/condition.hpp"

#include <gtest/gtest.h>

#include <string>

namespace meterbank::cli {
namespace {

TEST(Condition, HasAPathAnOperatorAndANumberInBaseUnits) {
  struct Case {
    const char* text;
    const char* path;
    Comparison comparison;
    double number;
  };
  for (const Case& one : {Case{"a/b/c > 5", "a/b/c", Comparison::kAbove, 5},
                          Case{"a/b/c>=5ms", "a/b/c", Comparison::kAtLeast, 0.005},
                          Case{" a/*/c  <  1MiB ", "a/*/c", Comparison::kBelow, 1048576},
                          Case{"a/b/c <= 10k", "a/b/c", Comparison::kAtMost, 10000},
                          Case{"a/b/c == -1.5e2", "a/b/c", Comparison::kEqual, -150},
                          Case{"a/b/c != 80 %", "a/b/c", Comparison::kUnequal, 80},
                          Case{"a/b/c > 2MB/s", "a/b/c", Comparison::kAbove, 2e6},
                          Case{"a/b/c > 5m", "a/b/c", Comparison::kAbove, 300},
                          Case{"a/x>y/c > 5{order}", "a/x>y/c", Comparison::kAbove, 5}}) {
    const auto condition = Condition::parse(one.text);
    ASSERT_TRUE(condition) << one.text << ": " << condition.error().what;
    EXPECT_EQ(condition->path(), one.path) << one.text;
    EXPECT_EQ(condition->comparison(), one.comparison) << one.text;
    ASSERT_TRUE(condition->number()) << one.text;
    EXPECT_EQ(*condition->number(), one.number) << one.text;
    EXPECT_FALSE(condition->percentile());
    EXPECT_FALSE(condition->expression());
  }
}

TEST(Condition, TakesAPercentileFromTheEndOfThePath) {
  const auto condition = Condition::parse("orders/*/latency.p99.9 > 5ms");
  ASSERT_TRUE(condition) << condition.error().what;
  EXPECT_EQ(condition->path(), "orders/*/latency");
  EXPECT_EQ(condition->left(), "orders/*/latency.p99.9");
  ASSERT_TRUE(condition->percentile());
  EXPECT_EQ(condition->percentile()->percent, 99.9);
}

TEST(Condition, IsAnExpressionIfItHasAPathInBraces) {
  const auto condition = Condition::parse("100 * {a/b} / ({a/b} + {a/c}) > 80");
  ASSERT_TRUE(condition) << condition.error().what;
  ASSERT_TRUE(condition->expression());
  EXPECT_EQ(condition->expression()->inputs().size(), 3U);
  EXPECT_EQ(condition->path(), "");
}

TEST(Condition, ComparesTextsInQuotes) {
  for (const char* const text : {"a/b/state == 'over > here'", "a/b/state != \"it's well\""}) {
    const auto condition = Condition::parse(text);
    ASSERT_TRUE(condition) << condition.error().what;
    EXPECT_EQ(condition->path(), "a/b/state");
    EXPECT_FALSE(condition->number());
  }
}

TEST(Condition, PrintsItsThresholdAsAPluginRange) {
  struct Case {
    const char* text;
    const char* range;
  };
  for (const Case& one :
       {Case{"a/b > 5ms", "~:0.005"}, Case{"a/b >= 5", "@5:"}, Case{"a/b < 5", "5:"},
        Case{"a/b <= 5", "@~:5"}, Case{"a/b == 5", "@5:5"}, Case{"a/b != 5", "5:5"}}) {
    EXPECT_EQ(Condition::parse(one.text)->plugin_range(), one.range) << one.text;
  }
}

TEST(Condition, RefusesWhatIsNotACondition) {
  for (const char* const text :
       {"", " ", "a/b", "a/b >", "> 5", "a/b > x", "a/b > 5 apples and pears", "a/b > 'text'",
        "a/b == 'text", "a/b = 5", "a/b > 1e999", "a/b > nan", "a/b > inf", "a/b > 1e308TiB",
        "{a/b + 1 > 5", "{a/b} + > 5", "{a/*} == 'text'", "a/latency.p101 > 5", "\x1b[2J > 5 5"}) {
    const auto condition = Condition::parse(text);
    ASSERT_FALSE(condition) << text;
    EXPECT_EQ(condition.error().code, ErrorCode::kInvalidArgument) << text;
    EXPECT_FALSE(condition.error().remedy.empty()) << text;
    EXPECT_EQ(condition.error().what.find('\x1b'), std::string::npos);
  }
  EXPECT_FALSE(Condition::parse(std::string(5000, 'x') + " > 5"));
}

}  // namespace
}  // namespace meterbank::cli
