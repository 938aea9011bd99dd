// SPDX-License-Identifier: Apache-2.0
//
// `meterbank check` against a shop and a kitchen, live and recorded.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "../../record/made_recording.hpp"
#include "../diff/diff_recording.hpp"
#include "../distribution/kitchen_fixture.hpp"

namespace meterbank::cli {
namespace {

constexpr int kOk = 0, kWarning = 1, kCritical = 2, kUnknown = 3;

class CliCheck : public CliTest {
 protected:
  [[nodiscard]] Outcome check(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "check");
    arguments.insert(arguments.end(), {"-i", "10ms"});
    return meterbank(std::move(arguments));
  }
  void record_three_samples() {
    ASSERT_EQ(meterbank({"record", "-o", file("shop.mbr"), "-n", "3", "-i", "10ms"}).code, 0);
  }
};

TEST_F(CliCheck, IsFineWhileNoConditionHolds) {
  open_shop();
  const auto outcome = check({"shop_sales/*/stock > 17"});
  EXPECT_EQ(outcome.code, kOk) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.lines().at(0),
            "OK: 2 rows are within limits | 'shop:shop_sales/fruit/stock'=17;;~:17 "
            "'shop:shop_sales/bread/stock'=17;;~:17");
  EXPECT_EQ(outcome.lines().size(), 1U) << outcome.out;
}

TEST_F(CliCheck, IsCriticalWhenABareConditionHolds) {
  open_shop();
  aisles_[1].set(Sales::kStock, 3);
  const auto outcome = check({"shop_sales/*/stock < 5"});
  EXPECT_EQ(outcome.code, kCritical);
  EXPECT_EQ(outcome.lines().at(0),
            "CRITICAL: stock of shop:shop_sales/bread is 3, below 5 (1 of 2 rows) | "
            "'shop:shop_sales/bread/stock'=3;;5: 'shop:shop_sales/fruit/stock'=17;;5:");
}

TEST_F(CliCheck, WarnsWhenACounterIsAboveItsThreshold) {
  open_shop();
  const auto outcome =
      check({"-w", "shop_sales/fruit/stock > 10", "-c", "shop_sales/fruit/stock > 20"});
  EXPECT_EQ(outcome.code, kWarning);
  EXPECT_EQ(outcome.lines().at(0),
            "WARNING: stock of shop:shop_sales/fruit is 17, above 10 | "
            "'shop:shop_sales/fruit/stock'=17;~:10;~:20");
}

TEST_F(CliCheck, ShowsAValueThatIsJustAboveItsThresholdWithAllItsDigits) {
  open_shop();
  aisles_[0].set(Sales::kStock, 100'001);
  const auto outcome = check({"{shop_sales/fruit/stock} / 1000 > 100"});
  EXPECT_EQ(outcome.code, kCritical);
  EXPECT_TRUE(holds(outcome.lines().at(0), " is 100.001, above 100")) << outcome.out;
}

TEST_F(CliCheck, PutsCriticalBeforeWarningAndWarningBeforeUnknown) {
  open_shop();
  auto outcome = check({"-w", "shop_sales/fruit/stock > 10", "-c", "shop_sales/bread/stock > 16",
                        "-c", "nothing/here > 1"});
  EXPECT_EQ(outcome.code, kCritical) << outcome.out;
  ASSERT_EQ(outcome.lines().size(), 3U) << outcome.out;
  EXPECT_TRUE(outcome.lines()[0].starts_with("CRITICAL: stock of shop:shop_sales/bread"));
  EXPECT_TRUE(outcome.lines()[1].starts_with("WARNING: stock of shop:shop_sales/fruit"));
  EXPECT_TRUE(outcome.lines()[2].starts_with("UNKNOWN: no counterset matches 'nothing/here'"));
  outcome = check({"-w", "shop_sales/fruit/stock > 10", "-c", "nothing/here > 1"});
  EXPECT_EQ(outcome.code, kWarning) << outcome.out;
  outcome = check({"shop_sales/fruit/stock > 100", "nothing/here > 1"});
  EXPECT_EQ(outcome.code, kUnknown) << outcome.out;
}

TEST_F(CliCheck, DoesNotKnowWithoutARowAndSaysWhy) {
  open_shop();
  auto outcome = check({"shop_sales/*/stok > 1"});
  EXPECT_EQ(outcome.code, kUnknown);
  EXPECT_TRUE(outcome.lines().at(0).starts_with("UNKNOWN: no counter")) << outcome.out;
  EXPECT_TRUE(holds(outcome.out, "try: shop_sales/*/stock")) << outcome.out;
  close_shop();
  outcome = check({"shop_sales/*/stock > 1"});
  EXPECT_EQ(outcome.code, kUnknown);
  EXPECT_TRUE(holds(outcome.out, "no provider found")) << outcome.out;
}

TEST_F(CliCheck, ComparesOnlyValuesOfAFittingUnit) {
  open_shop();
  EXPECT_EQ(check({"shop_sales/fruit/label_bytes > 1MiB"}).code, kCritical);
  EXPECT_EQ(check({"shop_sales/fruit/label_bytes > 2MiB"}).code, kOk);
  EXPECT_EQ(check({"shop_sales/fruit/label_bytes > 1M"}).code, kCritical);
  EXPECT_EQ(check({"shop_sales/fruit/sold > 10k/s"}).code, kOk);
  for (const char* const condition :
       {"shop_sales/fruit/label_bytes > 5ms", "shop_sales/fruit/label_bytes > 5MiB/s",
        "shop_sales/fruit/stock > 80%"}) {
    const auto outcome = check({condition});
    EXPECT_EQ(outcome.code, kUnknown) << condition;
    EXPECT_TRUE(holds(outcome.out, "cannot be compared with")) << outcome.out;
    EXPECT_TRUE(holds(outcome.out, "its unit is")) << outcome.out;
  }
}

TEST_F(CliCheck, ChecksExpressionsByInstance) {
  open_shop();
  aisles_[0].set(Sales::kStock, 40);
  const auto outcome = check({"2 * {shop_sales/*/stock} > 50"});
  EXPECT_EQ(outcome.code, kCritical) << outcome.out;
  EXPECT_TRUE(outcome.lines().at(0).starts_with(
      "CRITICAL: 2 * {shop_sales/*/stock} of shop/fruit is 80, above 50 (1 of 2 rows) | "))
      << outcome.out;
  EXPECT_EQ(check({"sum({shop_sales/*/stock}) > 57"}).code, kOk);
  EXPECT_EQ(check({"sum({shop_sales/*/stock}) > 56"}).code, kCritical);
  const auto none = check({"{shop_sales/*/stock} / 0 > 56"});
  EXPECT_EQ(none.code, kUnknown);
  EXPECT_TRUE(holds(none.out, "has no value: zero base")) << none.out;
}

TEST_F(CliCheck, NeedsAConditionToHoldInEachOfTheSamples) {
  open_shop();
  const auto outcome = check({"shop_sales/fruit/stock > 10", "-n", "3"});
  EXPECT_EQ(outcome.code, kCritical);
  EXPECT_TRUE(holds(outcome.out, "in each of 3 samples")) << outcome.out;
}

TEST_F(CliCheck, KeepsNamesFromBreakingItsLines) {
  open_shop({"a|b='c'"});
  const auto outcome = check({"shop_sales/*/stock > 10"});
  EXPECT_EQ(outcome.code, kCritical);
  ASSERT_EQ(outcome.lines().size(), 1U) << outcome.out;
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '|'), 1) << outcome.out;
  const auto data = outcome.out.substr(outcome.out.find('|'));
  EXPECT_TRUE(holds(data, "a\\x7cb\\x3d''c''")) << data;
  EXPECT_TRUE(is_json(check({"shop_sales/*/stock > 10", "-f", "json"}).out));
}

TEST_F(CliCheck, BoundsItsLinesAndSaysHowManyMoreThereAre) {
  std::vector<std::string> aisles;
  for (int i = 0; i < 60; ++i) aisles.push_back("a" + std::to_string(i));
  open_shop(aisles);
  const auto outcome = check({"shop_sales/*/stock > 10"});
  EXPECT_EQ(outcome.code, kCritical);
  EXPECT_TRUE(holds(outcome.out, "(60 of 60 rows)"));
  ASSERT_EQ(outcome.lines().size(), 23U) << outcome.out;
  EXPECT_EQ(outcome.lines()[21], "and 39 more");
  EXPECT_EQ(outcome.lines()[22], "performance data leaves out 20 rows");
}

TEST_F(CliCheck, FindsLiveProvidersFreshAndNothingUnknown) {
  open_shop();
  auto outcome = check({"--stale", "10m"});
  EXPECT_EQ(outcome.code, kOk) << outcome.out;
  EXPECT_EQ(outcome.out, "OK: 1 provider with a heartbeat within 10m\n");
  outcome = check({"--stale", "1ns"});
  EXPECT_EQ(outcome.code, kCritical) << outcome.out;
  EXPECT_TRUE(holds(outcome.out, "has had no heartbeat for")) << outcome.out;
  outcome = check({"--stale", "10m", "--provider", "bakery"});
  EXPECT_EQ(outcome.code, kUnknown) << outcome.out;
}

TEST_F(CliCheck, PrintsJsonWithRowsAndState) {
  open_shop();
  const auto outcome = check({"-w", "shop_sales/fruit/stock > 10", "-f", "json"});
  EXPECT_EQ(outcome.code, kWarning);
  const auto document = parse_json(outcome.out);
  EXPECT_EQ(document["schema"], "meterbank.check/1");
  EXPECT_EQ(document["state"], "WARNING");
  EXPECT_EQ(document["code"], 1);
  EXPECT_EQ(document["rows"][0]["value"], 17);
  EXPECT_EQ(document["rows"][0]["condition"], "shop_sales/fruit/stock > 10");
}

TEST_F(CliCheck, IsSilentWhenAskedTo) {
  open_shop();
  auto outcome = check({"shop_sales/fruit/stock > 10", "-q"});
  EXPECT_EQ(outcome.code, kCritical);
  EXPECT_EQ(outcome.out + outcome.err, "");
  outcome = run_plainly({"check", "a/b > 1", "-q", "--dir", file("nowhere")});
  EXPECT_EQ(outcome.code, kUnknown);
  EXPECT_EQ(outcome.out, "");
  EXPECT_TRUE(holds(outcome.err, "nowhere")) << outcome.err;
}

TEST_F(CliCheck, EndsWithUnknownIfItIsUsedWrongly) {
  open_shop();
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"--bogus"},
                                             {"stock"},
                                             {"a/b > 1", "-n", "0"},
                                             {"a/b > 1", "--stale", "0s"},
                                             {"a/b > 1", "--from", "-5m"},
                                             {"a/b > 1", "-f", "csv"},
                                             {"{a/b > 1"},
                                             {"{stock > 1"},
                                             {"a/b > 1", "-n", "2", "--log", "x"}}) {
    const auto outcome = check(arguments);
    EXPECT_EQ(outcome.code, kUnknown) << outcome.out;
    EXPECT_TRUE(holds(outcome.err, "; try: ")) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  }
}

TEST_F(CliCheck, SaysWhenAConditionHeldInARecording) {
  open_shop();
  record_three_samples();
  const std::string log = file("shop.mbr");
  auto outcome = check({"shop_sales/*/stock > 10", "--log", log, "--from", "@0"});
  EXPECT_EQ(outcome.code, kCritical) << outcome.out;
  EXPECT_TRUE(holds(outcome.out, "in 3 of 3 samples, first at ")) << outcome.out;
  outcome = check({"shop_sales/*/stock > 20", "--log", log, "--from", "@0"});
  EXPECT_EQ(outcome.code, kOk) << outcome.out;
  outcome = check({"shop_sales/*/stock > 10", "--log", log});
  EXPECT_EQ(outcome.code, kCritical) << outcome.out;
  EXPECT_FALSE(holds(outcome.out, "samples")) << outcome.out;
  outcome = check({"shop_sales/*/stock > 10", "--log", log, "--from", "@0", "-n", "4"});
  EXPECT_EQ(outcome.code, kOk) << outcome.out;
}

TEST_F(CliCheck, HasRatesOfTheFirstSampleOfARangeThatAnotherIsBefore) {
  record::MadeRecording made({});
  made.ticks(0, 10);
  made.write(file("made.mbr"));
  const auto range = [this](const std::string& from) {
    const auto outcome = check({"queues/*/count > 2", "--log", file("made.mbr"), "--from", from,
                                "--across-users", "-f", "json"});
    const Json row = parse_json(outcome.out)["rows"][0];
    return std::pair(row["samples"].get<int>(), row["without_value"].get<int>());
  };
  EXPECT_EQ(range("@1700000004"), std::pair(6, 0));
  EXPECT_EQ(range("@1700000003.5"), std::pair(6, 0));
  EXPECT_EQ(range("@1700000009"), std::pair(1, 0));
  EXPECT_EQ(range("@0"), std::pair(10, 1));
  EXPECT_EQ(range("@1700000000"), std::pair(10, 1));
}

TEST_F(CliCheck, FindsARecordingStaleThatEndedBeforeItsRange) {
  open_shop();
  record_three_samples();
  const std::string log = file("shop.mbr");
  auto outcome = check({"--stale", "10m", "--log", log});
  EXPECT_EQ(outcome.code, kOk) << outcome.out;
  outcome = check({"--stale", "1ns", "--log", log});
  EXPECT_EQ(outcome.code, kCritical) << outcome.out;
  EXPECT_TRUE(holds(outcome.out, "the last sample of")) << outcome.out;
}

TEST_F(CliCheck, NamesTheRecordingThatLacksProviders) {
  DiffRecording recording;
  recording.ticks(3, 1000);
  recording.save(file("all.mbr"));
  const auto outcome =
      check({"--stale", "10m", "--log", file("all.mbr"), "-X", "*", "--to", "-0s"});
  EXPECT_TRUE(holds(outcome.out, "try: meterbank list --log " + file("all.mbr"))) << outcome.out;
}

TEST_F(CliCheck, DoesNotKnowWhatAnUnreadableRecordingHolds) {
  const auto outcome = check({"a/b > 1", "--log", file("none.mbr")});
  EXPECT_EQ(outcome.code, kUnknown);
  EXPECT_TRUE(outcome.out.starts_with("UNKNOWN: ")) << outcome.out;
}

class CliCheckKitchen : public KitchenTest {};

TEST_F(CliCheckKitchen, ChecksPercentilesOfAnInterval) {
  // Recorded before the first sample, so that the interval has none of it.
  serve_a_hundred();
  const auto outcome = meterbank({"check", "dishes/*/latency.p99 > 50ms", "-i", "10ms"});
  EXPECT_EQ(outcome.code, kUnknown) << outcome.out;
  EXPECT_TRUE(
      outcome.lines().at(0).starts_with("UNKNOWN: latency.p99 of kitchen:dishes/soup has no value"))
      << outcome.out;
  EXPECT_EQ(meterbank({"check", "dishes/*/balance.p99 > 5", "-i", "10ms"}).code, kUnknown);
}

TEST_F(CliCheckKitchen, SaysWhereAConditionTakesAPercentile) {
  serve_a_hundred();
  const auto outcome = meterbank({"check", "{dishes/soup/latency.p99} > 50ms", "-i", "10ms"});
  EXPECT_EQ(outcome.code, kUnknown) << outcome.out;
  EXPECT_TRUE(holds(outcome.out, "has no value; no counter")) << outcome.out;
  EXPECT_TRUE(holds(outcome.out, "try: dishes/soup/latency.p99 alone, without braces"))
      << outcome.out;
}

TEST_F(CliCheckKitchen, HasPercentilesOfNoFirstSampleOfARecording) {
  serve_a_hundred();
  ASSERT_EQ(meterbank({"record", "-o", file("dishes.mbr"), "-n", "3", "-i", "10ms"}).code, 0);
  auto outcome = meterbank(
      {"check", "dishes/*/latency.p99 > 50ms", "--log", file("dishes.mbr"), "--from", "@0"});
  EXPECT_EQ(outcome.code, kUnknown) << outcome.out;
  outcome = meterbank({"check", "dishes/*/latency.p99 > 50ms", "--log", file("dishes.mbr"),
                       "--from", "@0", "-f", "json"});
  EXPECT_EQ(parse_json(outcome.out)["rows"][0]["without_value"], 3) << outcome.out;
}

constexpr std::array kWaits{CounterSpec{.id = 1,
                                        .name = "Wait",
                                        .symbol = "wait",
                                        .type = CounterType::kLargeRawCount,
                                        .unit = "ms",
                                        .form = ValueForm::kDistribution,
                                        .buckets = {.scale = 2, .least = 1, .most = 1024}}};
constexpr CountersetSpec kQueues{.name = "Queues", .symbol = "queues", .counters = kWaits};

TEST_F(CliCheckKitchen, ChecksPercentilesOfAnIntervalWhereNoRateIsInTheWay) {
  const Registration queues = *provider_->add(kQueues);
  const Instance door = *queues.create_instance("door");
  Recorder wait = door.recorder(0);
  for (int i = 1; i <= 100; ++i) wait.record(i);
  const auto outcome = meterbank({"check", "queues/*/wait.p99 > 50ms", "-i", "10ms"});
  EXPECT_EQ(outcome.code, kUnknown) << outcome.out;
}

TEST_F(CliCheckKitchen, ChecksTexts) {
  soup_.text(Dish::kState).set("burnt");
  const auto outcome = meterbank({"check", "dishes/soup/state == 'burnt'", "-i", "10ms"});
  EXPECT_EQ(outcome.code, kCritical) << outcome.out;
  EXPECT_EQ(outcome.out, "CRITICAL: state of kitchen:dishes/soup is 'burnt', equal to 'burnt'\n");
  EXPECT_EQ(meterbank({"check", "dishes/soup/state != 'burnt'", "-i", "10ms"}).code, kOk);
  EXPECT_EQ(meterbank({"check", "dishes/soup/state > 5", "-i", "10ms"}).code, kUnknown);
  EXPECT_EQ(meterbank({"check", "dishes/soup/balance == 'x'", "-i", "10ms"}).code, kUnknown);
}

}  // namespace
}  // namespace meterbank::cli
