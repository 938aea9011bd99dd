// SPDX-License-Identifier: Apache-2.0
//
// Distributions, texts and gauges as rows of each format.
#include <algorithm>
#include <cmath>

#include "cli/session/exit_code.hpp"
#include "kitchen_fixture.hpp"

namespace meterbank::cli {
namespace {

class CliDistribution : public KitchenTest {
 protected:
  void expect_usage(const std::vector<std::string>& options, const std::string& what) const {
    std::vector<std::string> arguments{"get", "dishes"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto outcome = meterbank(arguments);
    EXPECT_EQ(outcome.code, kExitUsage) << what;
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(what), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("; try: "), std::string::npos) << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
};

// To within the 8.7 % of scale 2.
void expect_near(const nlohmann::json& value, double expected) {
  ASSERT_TRUE(value.is_number()) << value;
  EXPECT_NEAR(value.get<double>(), expected, 0.09 * expected);
}

TEST_F(CliDistribution, RowsOfPercentilesFollowTheRowOfTheCount) {
  serve_a_hundred();

  const auto outcome = meterbank({"get", "dishes/soup/latency", "-n", "2", "-i", "20ms"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto lines = outcome.lines();
  ASSERT_EQ(lines.size(), 8U);
  EXPECT_NE(lines[0].find("\tdishes/soup/latency\t-\t1/s"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("\tdishes/soup/latency.p50\t0.0"), std::string::npos) << lines[1];
  EXPECT_NE(lines[2].find("\tdishes/soup/latency.p99\t0.0"), std::string::npos) << lines[2];
  EXPECT_NE(lines[3].find("\tdishes/soup/latency.p99.9\t0."), std::string::npos) << lines[3];
  EXPECT_EQ(lines[3].substr(lines[3].size() - 2), "\ts") << lines[3];
}

TEST_F(CliDistribution, AFirstSampleSpeaksOfAllValuesAndHasNoRate) {
  serve_a_hundred();

  auto rows = first_rows_of({"get", "dishes/soup/latency"});

  ASSERT_EQ(rows.size(), 4U);
  EXPECT_TRUE(rows["latency"]["value"].is_null());
  EXPECT_EQ(rows["latency"]["status"], "no-rate-yet");
  expect_near(rows["latency.p50"]["value"], 0.05);
  expect_near(rows["latency.p99"]["value"], 0.099);
  EXPECT_EQ(rows["latency.p50"]["unit"], "s");
  EXPECT_EQ(rows["latency.p50"]["kind"], "percentile");
  EXPECT_EQ(rows["latency.p50"]["status"], "ok");
  EXPECT_TRUE(rows["latency.p50"]["raw"].is_null());
}

TEST_F(CliDistribution, AnIntervalWithoutValuesHasNoPercentilesAndSaysSo) {
  serve_a_hundred();

  auto rows = rows_of({"get", "dishes/soup/latency"});
  const auto csv = meterbank({"get", "dishes/soup/latency", "-p", "50", "-i", "20ms", "-f", "csv"});
  const auto table =
      meterbank({"get", "dishes/soup/latency", "-p", "50", "-i", "20ms", "-f", "table"});
  const auto plain = meterbank({"get", "dishes/soup/latency", "-p", "50", "-i", "20ms"});

  EXPECT_EQ(rows["latency"]["value"], 0);
  EXPECT_EQ(rows["latency"]["status"], "ok");
  EXPECT_TRUE(rows["latency.p99"]["value"].is_null());
  EXPECT_EQ(rows["latency.p99"]["status"], "no-value");
  EXPECT_EQ(rows["latency"]["distribution"]["count"], 0);
  EXPECT_TRUE(rows["latency"]["distribution"]["mean"].is_null());
  EXPECT_TRUE(rows["latency"]["distribution"]["percentiles"]["99"].is_null());
  EXPECT_NE(csv.out.find("soup,latency.p50,,s,no-value\r\n"), std::string::npos) << csv.out;
  EXPECT_NE(table.out.find("-  (no-value)"), std::string::npos) << table.out;
  EXPECT_NE(plain.out.find("latency.p50\t-\ts\n"), std::string::npos) << plain.out;
}

TEST_F(CliDistribution, PercentilesAreThoseThatWereAskedFor) {
  serve_a_hundred();

  auto chosen = first_rows_of({"get", "dishes/soup/latency", "-p", "0,12.5,100"});
  auto none = first_rows_of({"get", "dishes/soup/latency", "-p", "none"});
  auto last = first_rows_of({"get", "dishes/soup/latency", "-p", "50", "--percentiles=75"});

  ASSERT_EQ(chosen.size(), 4U);
  EXPECT_EQ(chosen["latency.p0"]["value"], 0.001);  // itself, not what its bucket stands for
  EXPECT_EQ(chosen["latency.p100"]["value"], 0.1);
  expect_near(chosen["latency.p12.5"]["value"], 0.013);
  EXPECT_EQ(none.size(), 1U);
  EXPECT_EQ(none["latency"]["distribution"]["percentiles"], Json::object());
  EXPECT_EQ(last.size(), 2U);
  EXPECT_TRUE(last.contains("latency.p75"));
}

TEST_F(CliDistribution, RefusesAMalformedListOfPercentiles) {
  expect_usage({"-p", "101"}, "-p: '101' is more than 100");
  expect_usage({"-p", "abc"}, "-p: 'abc' is not a percentile");
  expect_usage({"-p", ""}, "is empty");
  expect_usage({"-p", "50,50"}, "-p: 50 is there twice");
  expect_usage({"-p", "50,50.0"}, "-p: 50 is there twice");
  expect_usage({"-p", "50,,99"}, "-p: '' is not a percentile");
  expect_usage({"-p", "50,"}, "-p: '' is not a percentile");
  expect_usage({"-p", "50,none"}, "-p: 'none' is not a percentile");
  expect_usage({"-p", "nan"}, "-p: 'nan' is not a percentile");
  expect_usage({"-p", "5e1"}, "-p: '5e1' is not a percentile");
  expect_usage({"--percentiles=-1"}, "-p: '-1' is not a percentile");
  expect_usage({"-p", "99.9.9"}, "-p: '99.9.9' is not a percentile");
  expect_usage({"-p", "50 99"}, "-p: '50 99' is not a percentile");
  expect_usage({"-p", "100.0000001"}, "is more than 100");
  expect_usage({"-p", "\x1b[31m"}, "\\u{1b}");
  expect_usage({"--raw", "-p", "50"}, "--raw and --percentiles");
  std::string many = "0";
  for (int i = 1; i <= 32; ++i) many += "," + std::to_string(i);
  expect_usage({"-p", many}, "more than 32 percentiles");
}

TEST_F(CliDistribution, SuggestsTheOptionForThePathOfAPercentile) {
  serve_a_hundred();

  const auto outcome = meterbank({"get", "dishes/soup/latency.p99"});

  EXPECT_EQ(outcome.code, kExitNo);
  EXPECT_NE(outcome.err.find("dishes/soup/latency -p 99\n"), std::string::npos) << outcome.err;
}

TEST_F(CliDistribution, JsonHasAllThatIsKnown) {
  serve_a_hundred();
  Recorder latency = soup_.recorder(Dish::kLatency);
  for (const double odd : {0.0, -1.0, 1e6, std::nan("")}) latency.record(odd);

  auto rows = first_rows_of({"get", "dishes/soup/latency"});

  const auto& row = rows["latency"];
  const auto& seen = row["distribution"];
  EXPECT_EQ(row["kind"], "distribution");
  EXPECT_EQ(row["raw"], 103);
  EXPECT_EQ(row["unit"], "1/s");
  EXPECT_EQ(seen["unit"], "s");
  EXPECT_EQ(seen["count"], 103);
  EXPECT_NEAR(seen["sum"].get<double>(), 5.05 + 1000 - 0.001, 1e-6);
  EXPECT_NEAR(seen["mean"].get<double>(), seen["sum"].get<double>() / 103, 1e-9);
  EXPECT_EQ(seen["min"], -0.001);
  EXPECT_EQ(seen["max"], 1000);
  EXPECT_EQ(seen["below"], 2);
  EXPECT_EQ(seen["above"], 1);
  EXPECT_EQ(seen["refused"], 1);
  EXPECT_EQ(seen["scale"], 2);
  EXPECT_NEAR(seen["error"].get<double>(), 0.0864, 0.0001);
  EXPECT_EQ(seen["percentiles"].size(), 3U);
  expect_near(seen["percentiles"]["50"], 0.05);
  EXPECT_EQ(seen["percentiles"]["99.9"], 1000);
  EXPECT_FALSE(seen.contains("beyond"));
  EXPECT_FALSE(seen.contains("buckets"));
}

TEST_F(CliDistribution, AnIntervalHasNoLeastAndNoGreatestValue) {
  serve_a_hundred();

  auto rows = rows_of({"get", "dishes/soup/latency"});

  EXPECT_FALSE(rows["latency"]["distribution"].contains("min"));
  EXPECT_FALSE(rows["latency"]["distribution"].contains("max"));
}

TEST_F(CliDistribution, APercentileBeyondTheBucketsIsNotPassedOffAsOne) {
  Recorder latency = soup_.recorder(Dish::kLatency);
  for (const double value : {0.25, 0.5, 2000.0, 3000.0}) latency.record(value);

  auto rows = first_rows_of({"get", "dishes/soup/latency", "-p", "50,75,100"});

  EXPECT_EQ(rows["latency.p50"]["status"], "below-range");
  EXPECT_EQ(rows["latency.p75"]["status"], "above-range");
  EXPECT_NEAR(rows["latency.p75"]["value"].get<double>(), 1.024, 1e-9);
  EXPECT_EQ(rows["latency.p100"]["status"], "ok");
  EXPECT_EQ(rows["latency.p100"]["value"], 3);
  const auto& beyond = rows["latency"]["distribution"]["beyond"];
  EXPECT_EQ(beyond["50"], "below");
  EXPECT_EQ(beyond["75"], "above");
  EXPECT_FALSE(beyond.contains("100"));
}

TEST_F(CliDistribution, InfinityIsInTheJsonAsNoNumber) {
  soup_.recorder(Dish::kLatency).record(HUGE_VAL);

  auto rows = first_rows_of({"get", "dishes/soup/latency", "-p", "100"});

  EXPECT_EQ(rows["latency"]["distribution"]["above"], 1);
  EXPECT_FALSE(rows["latency"]["distribution"].contains("max"));
  EXPECT_TRUE(rows["latency.p100"]["value"].is_null());
  EXPECT_EQ(rows["latency.p100"]["status"], "not-finite");
}

TEST_F(CliDistribution, BucketsAreInJsonOnRequestWithoutEmptyOnes) {
  Recorder latency = soup_.recorder(Dish::kLatency);
  for (const double value : {2.0, 2.0, 500.0}) latency.record(value);

  auto rows = first_rows_of({"get", "dishes/soup/latency", "--hist"});
  auto strings = first_rows_of({"get", "dishes/soup/latency", "--hist", "--json-int=string"});

  const auto& buckets = rows["latency"]["distribution"]["buckets"];
  ASSERT_EQ(buckets.size(), 2U) << buckets;
  EXPECT_NEAR(buckets[0][0].get<double>(), 0.00168, 0.00001);
  EXPECT_EQ(buckets[0][1], 0.002);
  EXPECT_EQ(buckets[0][2], 2);
  EXPECT_EQ(buckets[1][2], 1);
  EXPECT_EQ(strings["latency"]["distribution"]["buckets"][0][2], "2");
}

TEST_F(CliDistribution, WindowsLogsHaveColumnsOfPercentilesAndABlankForATextThere) {
  serve_a_hundred();
  soup_.text(Dish::kState).set("hot");

  const auto log =
      meterbank({"get", "dishes/soup/*", "-p", "50", "-n", "1", "-f", "pdh-csv", "-i", "20ms"});
  const auto typeperf = meterbank({"typeperf", "\\Dishes(soup)\\Latency", "-sc", "1"});

  EXPECT_NE(log.out.find("\\Dishes(soup)\\Latency p50\""), std::string::npos) << log.out;
  EXPECT_NE(log.out.find(",\" \"\r\n"), std::string::npos) << log.out;
  EXPECT_EQ(typeperf.out.find("p50"), std::string::npos) << typeperf.out;
}

TEST_F(CliDistribution, StoredValuesHaveNoPercentiles) {
  serve_a_hundred();

  const auto rows = rows_of({"get", "dishes/soup/latency", "--raw"});

  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows.at("latency")["value"], 100);
  EXPECT_EQ(rows.at("latency")["unit"], "1");
}

TEST_F(CliDistribution, AnIdleDistributionLacksNothing) {
  EXPECT_EQ(meterbank({"get", "dishes/soup/latency", "--strict", "-i", "20ms"}).code, kExitDone);
}

TEST_F(CliDistribution, ExpressionsCountItsValuesAndCannotUseTexts) {
  serve_a_hundred();
  const auto outcome = meterbank({"get", "-e", "n = {dishes/soup/latency} + 1", "-e",
                                  "t = {dishes/soup/state} + 1", "-f", "csv", "-i", "20ms"});

  EXPECT_NE(outcome.out.find(",n,1,,ok\r\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find(",t,,,not-cookable\r\n"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("p99"), std::string::npos) << outcome.out;
}

TEST_F(CliDistribution, ListShowsKindAndErrorOfADistribution) {
  const auto details = meterbank({"list", "-l", "dishes/latency"});
  const auto counters = meterbank({"list", "dishes", "-f", "csv"});

  EXPECT_NE(details.out.find("kind      distribution: values recorded, per second"),
            std::string::npos)
      << details.out;
  EXPECT_NE(details.out.find("buckets, each value to within 8.64 %"), std::string::npos)
      << details.out;
  EXPECT_NE(details.out.find("unit      s, stored in ms"), std::string::npos) << details.out;
  EXPECT_NE(counters.out.find("text"), std::string::npos) << counters.out;
}

class CliText : public KitchenTest {};

TEST_F(CliText, IsShownAsItIs) {
  soup_.text(Dish::kState).set("boiling, \"hot\"");

  EXPECT_NE(meterbank({"get", "dishes/state", "-f", "table"}).out.find("boiling, \"hot\""),
            std::string::npos);
  EXPECT_NE(meterbank({"get", "dishes/state"}).out.find("/state\tboiling, \"hot\"\t\n"),
            std::string::npos);
  EXPECT_NE(meterbank({"get", "dishes/state", "-f", "csv"})
                .out.find(",state,\"boiling, \"\"hot\"\"\",,ok\r\n"),
            std::string::npos);
  const auto row = rows_of({"get", "dishes/state"}).at("state");
  EXPECT_EQ(row["text"], "boiling, \"hot\"");
  EXPECT_EQ(row["kind"], "text");
  EXPECT_TRUE(row["value"].is_null());
  EXPECT_TRUE(row["raw"].is_null());
  EXPECT_EQ(row["status"], "ok");
}

TEST_F(CliText, CannotSteerATerminal) {
  soup_.text(Dish::kState).set("\x1b[2J\u202egone\nnext\tcell");

  for (const char* const format : {"table", "plain", "csv", "tsv"}) {
    const auto out = meterbank({"get", "dishes/state", "-f", format}).out;
    EXPECT_NE(out.find("\\u{1b}[2J\\u{202e}gone\\u{a}next"), std::string::npos) << out;
    EXPECT_EQ(out.find('\x1b'), std::string::npos) << out;
  }
}

TEST_F(CliText, ALongOneIsCutInATableOnly) {
  const std::string text(128, 'x');
  soup_.text(Dish::kState).set(text);

  EXPECT_EQ(meterbank({"get", "dishes/state", "-f", "table"}).out.find(std::string(48, 'x')),
            std::string::npos);
  EXPECT_NE(meterbank({"get", "dishes/state", "-f", "table"}).out.find("x…"), std::string::npos);
  EXPECT_NE(meterbank({"get", "dishes/state"}).out.find(text), std::string::npos);
}

TEST_F(CliText, AnEmptyOneIsAValue) {
  EXPECT_NE(meterbank({"get", "dishes/state", "--strict"}).out.find("/state\t\t\n"),
            std::string::npos);
  EXPECT_EQ(rows_of({"get", "dishes/state"}).at("state")["text"], "");
}

class CliGauge : public KitchenTest {};

TEST_F(CliGauge, IsShownInTheFormItIsStoredIn) {
  soup_.gauge(Dish::kTemperature).set(-17.25);
  soup_.gauge(Dish::kBalance).set_signed(-9'007'199'254'740'993);

  for (const bool raw : {false, true}) {
    std::vector<std::string> arguments{"get", "dishes/soup/*"};
    if (raw) arguments.emplace_back("--raw");
    auto rows = rows_of(arguments);
    EXPECT_EQ(rows["temperature"]["value"], -17.25);
    EXPECT_EQ(rows["temperature"]["raw"], -17.25);
    EXPECT_EQ(rows["balance"]["raw"], -9'007'199'254'740'993);
  }
  const auto plain = meterbank({"get", "dishes/soup/*", "--raw"});
  EXPECT_NE(plain.out.find("/temperature\t-17.25\tCel\n"), std::string::npos) << plain.out;
  EXPECT_NE(plain.out.find("/balance\t-9007199254740993\t\n"), std::string::npos) << plain.out;
}

TEST_F(CliGauge, WithoutANumberSaysThatItHoldsNone) {
  soup_.gauge(Dish::kTemperature).set(std::nan(""));

  for (const bool raw : {false, true}) {
    std::vector<std::string> arguments{"get", "dishes/soup/temperature"};
    if (raw) arguments.emplace_back("--raw");
    const auto row = rows_of(arguments).at("temperature");
    EXPECT_TRUE(row["value"].is_null());
    EXPECT_TRUE(row["raw"].is_null());
    EXPECT_EQ(row["status"], "not-finite");
  }
}

TEST_F(CliGauge, ATimedGaugeHasAnAgeOnceItWasSet) {
  soup_.gauge(Dish::kTemperature).set(3);

  auto rows = rows_of({"get", "dishes/soup/*"});

  ASSERT_TRUE(rows["temperature"].contains("set_age_s"));
  EXPECT_GE(rows["temperature"]["set_age_s"], 0.0);
  EXPECT_FALSE(rows["state"].contains("set_age_s"));
  EXPECT_FALSE(rows["balance"].contains("set_age_s"));
}

}  // namespace
}  // namespace meterbank::cli
