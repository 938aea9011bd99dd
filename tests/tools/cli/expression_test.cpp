// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "cli/derive/expression.hpp"
#include "cli/session/exit_code.hpp"
#include "cli_fixture.hpp"
#include "cli_json.hpp"

namespace meterbank::cli {
namespace {

// Every input is `input`.
Terms evaluate(const std::string& text, const Terms& input = {}) {
  const auto expression = Expression::parse(text);
  EXPECT_TRUE(expression) << expression.error().message();
  if (!expression) return {};
  return expression->evaluate([&](std::size_t) { return input; });
}

double value_of(const std::string& text) {
  const auto result = evaluate(text);
  EXPECT_EQ(result.terms.size(), 1U) << text;
  EXPECT_TRUE(has_value(result.terms.at(0).status)) << text;
  return result.terms.at(0).value;
}

TEST(Expression, CalculatesAsAtSchool) {
  EXPECT_EQ(value_of("n = 1 + 2 * 3"), 7);
  EXPECT_EQ(value_of("n=(1+2)*3"), 9);
  EXPECT_EQ(value_of("n = 8 - 4 - 2"), 2);
  EXPECT_EQ(value_of("n = 8 / 4 / 2"), 1);
  EXPECT_EQ(value_of("n = -2 * -(1 + .5)"), 3);
  EXPECT_EQ(value_of("n = 2 - -1e3"), 1002);
  EXPECT_EQ(value_of("n = sum(1, 2, 3) + avg(2, 4) + min(3, 1) - max(5, 6)"), 4);
}

TEST(Expression, NamesTheColumnOfAnError) {
  struct Case {
    const char* text;
    const char* expected;
  };
  for (const auto& bad : std::vector<Case>{{"", "column 1: expected a name"},
                                           {"1 = 2", "column 1: expected a name"},
                                           {"n", "column 2: expected '='"},
                                           {"n = ", "column 5: expected a number"},
                                           {"n = 1 +", "column 8: expected a number"},
                                           {"n = (1", "column 7: expected ')'"},
                                           {"n = 1 2", "column 7: expected an operator"},
                                           {"n = {a/b", "column 9: expected '}'"},
                                           {"n = {}", "column 6: expected a path"},
                                           {"n = {a/b/c/d}", "column 6: expected a path"},
                                           {"n = {set}", "column 6: expected one counter"},
                                           {"n = {set/*}", "column 6: expected one counter"},
                                           {"n = mean(1)", "column 5: expected sum, avg"},
                                           {"n = sum()", "column 9: expected a number"},
                                           {"n = sum(1", "column 10: expected ','"},
                                           {"ü = 1", "column 1: expected a name"},
                                           {"n = 1 ÷ 2", "column 7: expected an operator"},
                                           {"n = 1e999", "column 5: expected a number"},
                                           {"n = nan + #", "column 11: expected a number"}}) {
    const auto expression = Expression::parse(bad.text);
    ASSERT_FALSE(expression) << bad.text;
    EXPECT_NE(expression.error().what.find(bad.expected), std::string::npos)
        << expression.error().what;
  }
}

TEST(Expression, BoundsDepthAndLength) {
  EXPECT_FALSE(Expression::parse("n = " + std::string(1000, '(')));
  EXPECT_FALSE(Expression::parse("n = " + std::string(1000, '-') + "1"));
  EXPECT_FALSE(Expression::parse("n = 1" + std::string(kExpressionBytesMax, ' ')));
  EXPECT_TRUE(Expression::parse("n = " + std::string(90, '(') + "1" + std::string(90, ')')));
}

TEST(Expression, NeverMakesANanOrInfinity) {
  EXPECT_EQ(evaluate("n = 1 / 0").terms.at(0).status, CookStatus::kZeroBase);
  EXPECT_EQ(evaluate("n = 0 / (2 - 2)").terms.at(0).status, CookStatus::kZeroBase);
  EXPECT_EQ(evaluate("n = 1e308 * 10").terms.at(0).status, CookStatus::kNotCookable);
  EXPECT_EQ(evaluate("n = sum(1e308, 1e308)").terms.at(0).status, CookStatus::kNotCookable);
  EXPECT_EQ(evaluate("n = 1 + 1 / 0").terms.at(0).status, CookStatus::kZeroBase);
  EXPECT_EQ(evaluate("n = sum(1, 1 / 0)").terms.at(0).status, CookStatus::kZeroBase);
  EXPECT_EQ(evaluate("n = sum({a/b})", {false, {}}).terms.at(0).status, CookStatus::kNoValue);
}

TEST(Expression, BringsTermsTogetherByKey) {
  const auto expression = Expression::parse("n = {set/a} / {set/b}");
  ASSERT_TRUE(expression);
  const Terms left{false, {{"1", "eu", {}, 10}, {"2", "us", {}, 20}, {"3", "as", {}, 30}}};
  const Terms right{false, {{"2", "us", {}, 5}, {"1", "eu", {}, 2}, {"4", "af", {}, 1}}};

  const auto result = expression->evaluate([&](std::size_t i) { return i == 0 ? left : right; });

  ASSERT_EQ(result.terms.size(), 4U);
  EXPECT_FALSE(result.plain);
  EXPECT_EQ(result.terms[0].value, 5);
  EXPECT_EQ(result.terms[1].value, 4);
  EXPECT_EQ(result.terms[2].status, CookStatus::kNoValue);
  EXPECT_EQ(result.terms[3].instance, "af");
  EXPECT_EQ(result.terms[3].status, CookStatus::kNoValue);
}

// ---- get -e ----

class DerivedValues : public CliTest {
 protected:
  [[nodiscard]] Json samples(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "get");
    arguments.insert(arguments.end(), {"-f", "json"});
    const auto outcome = meterbank(arguments);
    EXPECT_EQ(outcome.code, kExitDone) << outcome.err;
    return parse_json(outcome.out)["samples"];
  }
};

TEST_F(DerivedValues, AreShownAloneWithoutAPath) {
  open_shop();

  const auto rows = samples({"-e", "total = sum({shop_sales/*/stock})"});

  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0]["path"], "expr/total");
  EXPECT_EQ(rows[0]["value"], 34);
  EXPECT_TRUE(rows[0]["raw"].is_null());
  EXPECT_EQ(rows[0]["status"], "ok");
}

TEST_F(DerivedValues, StandBehindWhatWasSelected) {
  open_shop();

  const auto rows = samples({"shop_sales/fruit/stock", "-e", "half = stock / 2", "-e",
                             "both = {shop_sales/bread/stock} + 1"});

  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0]["path"], "shop_sales/fruit/stock");
  EXPECT_EQ(rows[1]["value"], 8.5);
  EXPECT_EQ(rows[2]["value"], 18);
}

TEST_F(DerivedValues, HaveARowForEachInstance) {
  open_shop();

  const auto rows = samples({"-e", R"(bytes = {\Shop Sales(*)\Label Bytes} / {shop_sales/stock})"});

  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0]["instance"], "fruit");
  EXPECT_EQ(rows[1]["instance"], "bread");
  EXPECT_DOUBLE_EQ(rows[0]["value"].get<double>(), 1'572'864.0 / 17);
}

TEST_F(DerivedValues, MayUseTheRowThatAReaderMakes) {
  open_shop();
  open_bakery();

  const auto rows =
      samples({"bakery/left", "-e", "share = {bakery/left/loaves} / {bakery/_Total/loaves}", "-e",
               "all = {bakery/_Total/loaves}"});

  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0]["value"], 20);
  EXPECT_EQ(rows[1]["value"], 0.5);
  EXPECT_EQ(rows[2]["value"], 40);
}

TEST_F(DerivedValues, AddUpEachInstanceOnce) {
  open_shop();
  open_bakery();

  const auto rows =
      samples({"-e", "all = sum({bakery/*/loaves})", "-e", "usual = avg({bakery/*/loaves} + 1)",
               "-e", "total = sum({bakery/_Total/loaves})"});

  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0]["value"], 40);
  EXPECT_EQ(rows[1]["value"], 21);
  EXPECT_EQ(rows[2]["value"], 40);
}

TEST_F(DerivedValues, SayWhyTheyAreMissing) {
  open_shop({"fruit"});
  aisles_[0].set(Sales::kStock, 0);

  const auto zero = samples({"-e", "n = 1 / {shop_sales/fruit/stock}"});
  const auto rates = samples({"-e", "n = {shop_sales/fruit/sold} * 2", "-n", "2", "-i", "10ms"});
  const auto absent =
      meterbank({"get", "-e", "n = {shop_sales/fruit/stock} + {shop_sales/milk/stock}"});

  EXPECT_TRUE(zero[0]["value"].is_null());
  EXPECT_EQ(zero[0]["status"], "zero-base");
  EXPECT_EQ(rates[0]["status"], "no-rate-yet");
  EXPECT_EQ(rates[1]["value"], 0);
  EXPECT_EQ(absent.code, kExitNo);
  EXPECT_NE(absent.err.find("milk"), std::string::npos) << absent.err;
  EXPECT_NE(absent.out.find("expr/n\t-"), std::string::npos) << absent.out;
}

TEST_F(DerivedValues, WorkInEveryFormat) {
  open_shop();
  for (const char* format :
       {"table", "plain", "tsv", "csv", "json", "jsonl", "pdh-csv", "pdh-tsv"}) {
    const auto outcome =
        meterbank({"get", "-e", "total = sum({shop_sales/*/stock})", "-f", format});
    EXPECT_EQ(outcome.code, kExitDone) << outcome.err;
    EXPECT_NE(outcome.out.find("total"), std::string::npos) << format;
    EXPECT_NE(outcome.out.find("34"), std::string::npos) << format;
  }
}

TEST_F(DerivedValues, AreUsageErrorsWhenTheyCannotBeUnderstood) {
  open_shop();
  for (const auto& [arguments, expected] :
       std::vector<std::pair<std::vector<std::string>, const char*>>{
           {{"get", "-e", "n = 1 +"}, "column 8"},
           {{"get", "-e", "n = stock"}, "none is selected"},
           {{"get", "shop_sales", "other", "-e", "n = stock"}, "may be of shop_sales or of other"},
           {{"get", "-e", "n = 1", "-e", "N = 2"}, "two expressions are named 'n'"},
           {{"get", "--raw", "-e", "n = 1"}, "--raw and --expr"}}) {
    const auto outcome = meterbank(arguments);
    EXPECT_EQ(outcome.code, kExitUsage) << expected;
    EXPECT_NE(outcome.err.find(expected), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.out, "") << expected;
  }
}

}  // namespace
}  // namespace meterbank::cli
