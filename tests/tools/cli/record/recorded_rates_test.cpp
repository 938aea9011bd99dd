// SPDX-License-Identifier: Apache-2.0
//
// A recording whose counters were sampled at two rates, as the command line shows it.
#include <string>
#include <utility>
#include <vector>

#include "../../record/made_recording.hpp"
#include "../../record/made_shop.hpp"
#include "../cli_fixture.hpp"
#include "cli/session/exit_code.hpp"

namespace meterbank::cli::recorded_rates_test {
namespace {

class RecordedRates : public CliTest {
 protected:
  // The bakery is sampled several times between two samples of the shop.
  void record() {
    open_shop();
    open_bakery();
    const auto recorded = meterbank({"record", "-o", file("two.mbr"), "-i", "200ms", "--rate",
                                     "bakery/*=20ms", "--for", "700ms", "-q"});
    ASSERT_EQ(recorded.code, kExitDone) << recorded.err;
  }
  [[nodiscard]] Outcome get(const std::string& path) const {
    return run_plainly(
        {"get", path, "--log", file("two.mbr"), "--from", "@0", "--raw", "-f", "jsonl"});
  }
};

constexpr const char* kRemedy = "try: the paths of one rate";

TEST_F(RecordedRates, SaysHowManySamplesHaveSomeCountersOnly) {
  record();
  const auto both = get("*/*/*");
  ASSERT_EQ(both.code, kExitDone) << both.err;
  EXPECT_NE(both.err.find("left out "), std::string::npos) << both.err;
  EXPECT_NE(both.err.find(kRemedy), std::string::npos) << both.err;
  EXPECT_LT(both.lines().size(), get("bakery/*/*").lines().size());
}

TEST_F(RecordedRates, LeaveOutNothingThatHasNoneOfTheCounters) {
  record();
  for (const char* const path : {"bakery/*/*", "shop_sales/*/*"}) {
    const auto one = get(path);
    ASSERT_EQ(one.code, kExitDone) << one.err;
    EXPECT_EQ(one.err, "") << path;
    EXPECT_FALSE(one.out.empty()) << path;
  }
}

TEST_F(RecordedRates, ArePartOfWhatACutSays) {
  record();
  const auto cut =
      run_plainly({"log", "cut", file("two.mbr"), "-o", file("part.mbr"), "--from", "@0"});
  ASSERT_EQ(cut.code, kExitDone) << cut.err;
  EXPECT_NE(cut.err.find(kRemedy), std::string::npos) << cut.err;
}

TEST_F(RecordedRates, HaveNoRowsOfSetsThatWereNotRecorded) {
  open_shop();
  open_bakery();
  const auto recorded = meterbank(
      {"record", "-o", file("one.mbr"), "-i", "50ms", "--for", "200ms", "-q", "bakery/*/*"});
  ASSERT_EQ(recorded.code, kExitDone) << recorded.err;
  const auto others = run_plainly({"get", "shop_sales/*/*", "--log", file("one.mbr"), "--raw"});
  EXPECT_EQ(others.code, kExitNo);
  EXPECT_EQ(others.out, "");
  EXPECT_NE(others.err.find("try: meterbank list --log " + file("one.mbr")), std::string::npos)
      << others.err;
  const auto listed = run_plainly({"list", "--log", file("one.mbr")});
  EXPECT_NE(listed.out.find("bakery"), std::string::npos) << listed.out;
  EXPECT_EQ(listed.out.find("shop_sales"), std::string::npos) << listed.out;
  const auto own = run_plainly({"get", "bakery/*/*", "--log", file("one.mbr"), "--raw"});
  EXPECT_EQ(own.code, kExitDone) << own.err;
  EXPECT_NE(own.out, "");
}

TEST_F(RecordedRates, SayWhereToLookForAnInstanceThatIsNotThere) {
  record();
  const auto none = run_plainly({"get", "bakery/zzzzzzzz/*", "--log", file("two.mbr"), "--raw"});
  EXPECT_EQ(none.code, kExitNo);
  EXPECT_NE(none.err.find("the recording has no values of 'bakery/zzzzzzzz/*' at that time; try: "
                          "meterbank list --instances bakery --log " +
                          file("two.mbr")),
            std::string::npos)
      << none.err;
}

// Which second of a made recording the first row is of, and its value.
[[nodiscard]] std::string second_and_value(const Outcome& outcome) {
  if (outcome.lines().empty()) return "nothing";
  const std::string line = outcome.lines()[0];
  const auto at = line.find("T22:") + 4;
  const int second = 60 * std::stoi(line.substr(at, 2)) + std::stoi(line.substr(at + 3, 2));
  const auto value = line.find('\t', line.find('\t') + 1) + 1;
  return std::to_string(second - 13 * 60 - 20) + ": " +
         line.substr(value, line.find('\t', value) - value);
}

TEST_F(RecordedRates, OfOneMomentAreOfTheLastSampleByThen) {
  record::MadeRecording made({});
  made.ticks(1, 7);
  made.write(file("made.mbr"));
  const auto at = [&](const std::string& time, const char* counter, const char* interval) {
    return second_and_value(
        run_plainly({"get", std::string("queues/eu/") + counter, "--log", file("made.mbr"), "--at",
                     "@17000000" + time, "-i", interval}));
  };
  // A level needs no sample before, and the first rate has none.
  for (const char* const interval : {"500ms", "1s", "3s", "20s"}) {
    EXPECT_EQ(at("01", "depth", interval), "1: 7") << interval;
    EXPECT_EQ(at("02.9", "depth", interval), "2: 14") << interval;
    EXPECT_EQ(at("06", "depth", interval), "6: 42") << interval;
    EXPECT_EQ(at("01", "count", interval), "1: -") << interval;
    EXPECT_EQ(at("02", "count", interval), "2: 1") << interval;
    EXPECT_EQ(at("06", "count", interval), "6: 1") << interval;
  }
  EXPECT_EQ(second_and_value(run_plainly({"get", "queues/eu/depth", "--log", file("made.mbr")})),
            "6: 42");
  for (const auto& [threshold, code] : {std::pair{"34", 2}, std::pair{"35", 0}}) {
    const auto checked = run_plainly({"check", std::string("queues/eu/depth > ") + threshold,
                                      "--log", file("made.mbr"), "--at", "@1700000005"});
    EXPECT_EQ(checked.code, code) << checked.out;
  }
}

// Samples are some microseconds behind what is printed of their times.
TEST_F(RecordedRates, OfATimeThatWasPrintedAreOfItsSample) {
  record::MadeRecording made({});
  made.ticks(1, 7, 123'456);
  made.write(file("made.mbr"));
  const auto get = [&](const char* option, const std::string& fraction) {
    return run_plainly({"get", "queues/eu/depth", "--log", file("made.mbr"), option,
                        "2023-11-14T22:13:2" + fraction});
  };
  EXPECT_EQ(second_and_value(get("--at", "1.000Z")), "1: 7");
  EXPECT_EQ(second_and_value(get("--at", "2.000Z")), "2: 14");
  EXPECT_EQ(second_and_value(get("--at", "3Z")), "3: 21");
  EXPECT_EQ(second_and_value(get("--at", "6.000Z")), "6: 42");
  EXPECT_EQ(second_and_value(get("--at", "4.0001Z")), "3: 21");
  EXPECT_EQ(get("--to", "3.000Z").lines().size(), 3U);
  EXPECT_EQ(get("--to", "3.0001Z").lines().size(), 2U);
  EXPECT_EQ(get("--from", "3.000Z").lines().size(), 4U);
}

// The second sample is later than the first, the third earlier than that.
TEST_F(RecordedRates, AtEvenDistancesLackNoSampleThatCameALittleLate) {
  constexpr std::uint64_t kMillisecond = 1'000'000;
  record::MadeRecording made({});
  for (std::uint64_t second = 1; second < 20; ++second) {
    made.tick(second, (second * 7 % 5) * 40 * kMillisecond);
  }
  made.write(file("made.mbr"));
  const auto seconds_of = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"get", "queues/eu/count", "--log", file("made.mbr"), "--raw"};
    words.insert(words.end(), more.begin(), more.end());
    std::string seconds;
    for (const std::string& line : run_plainly(words).lines()) {
      seconds += second_and_value(Outcome{0, line, ""}).substr(0, 2);
    }
    return seconds;
  };
  EXPECT_EQ(seconds_of({"--from", "@1700000002", "--to", "@1700000009.9", "--every", "1s"}),
            "2:3:4:5:6:7:8:9:");
  EXPECT_EQ(seconds_of({"--from", "@1700000002", "--to", "@1700000009.9", "--every", "2s"}),
            "2:4:6:8:");
  EXPECT_EQ(seconds_of({"--at", "@1700000003.2", "-n", "4"}), "3:4:5:6:");
  const auto one = run_plainly(
      {"get", "queues/eu/count", "--log", file("made.mbr"), "--at", "@1700000005", "-f", "json"});
  EXPECT_NE(one.out.find("\"interval_s\":0.88,"), std::string::npos) << one.out;
  // The first one is what was asked for, and no later one.
  EXPECT_EQ(seconds_of({"--at", "@1700000003", "-n", "1"}), "2:");
}

// Every third and every seventh second.
TEST_F(RecordedRates, ThatSeldomFallTogetherShowTheLastSampleThatHadBoth) {
  record::MadeShop made(3, 7);
  for (std::uint64_t second = 0; second < 60; ++second) made.tick(second);
  made.write(file("made.mbr"));
  const auto at = [&](const char* time) {
    return second_and_value(run_plainly(
        {"get", "orders/*/balance", "aisles/*/depth", "--log", file("made.mbr"), "--at", time}));
  };
  EXPECT_EQ(at("@1700000000"), "0: -7");
  EXPECT_EQ(at("@1700000020"), "0: -7");
  EXPECT_EQ(at("@1700000021"), "21: -28");
  EXPECT_EQ(at("@1700000041.5"), "21: -28");
  EXPECT_EQ(at("-0s"), "42: -49");
}

TEST_F(RecordedRates, OfOneSampleOfARangeAreThoseSinceTheSampleBeforeIt) {
  record::MadeRecording made({});
  made.ticks(0, 10);
  made.write(file("made.mbr"));
  const auto one = run_plainly({"get", "queues/*/count", "--log", file("made.mbr"), "--from",
                                "@1700000004", "-n", "1", "--across-users"});
  ASSERT_EQ(one.code, kExitDone) << one.err;
  EXPECT_EQ(one.out, "2023-11-14T22:13:24.000Z\tqueues/eu/count\t1\t1/s\n");
}

TEST_F(RecordedRates, SayThatNoSampleIsInTheRange) {
  record::MadeShop made(3, 7);
  for (std::uint64_t second = 0; second < 60; ++second) made.tick(second);
  made.write(file("made.mbr"));
  const auto none = run_plainly(
      {"get", "*/*/*", "--log", file("made.mbr"), "--from", "@1700000022", "--to", "@1700000041"});
  EXPECT_EQ(none.code, kExitNo);
  EXPECT_EQ(none.out, "");
  EXPECT_NE(none.err.find("has no sample of all these counters in this range"), std::string::npos)
      << none.err;
}

TEST_F(RecordedRates, AreNotSaidToBeMissingWhereNothingCanBeWritten) {
  record::MadeShop made(1, 1);
  for (std::uint64_t second = 0; second < 60; ++second) made.tick(second);
  made.write(file("made.mbr"));
  const auto full =
      run_plainly({"log", "convert", file("made.mbr"), "-f", "csv", "-o", "/dev/full"});
  EXPECT_EQ(full.code, kExitEnvironment);
  EXPECT_EQ(full.err.find("has no sample"), std::string::npos) << full.err;
  EXPECT_NE(full.err.find("cannot write /dev/full"), std::string::npos) << full.err;
}

TEST_F(RecordedRates, AreNotOfARangeThatEndsBeforeItBegins) {
  record::MadeShop made(1, 1);
  for (std::uint64_t second = 0; second < 60; ++second) made.tick(second);
  made.write(file("made.mbr"));
  for (const std::vector<std::string>& verb :
       {std::vector<std::string>{"get", "*/*/*", "--log", file("made.mbr")},
        {"watch", "*/*/*", "--log", file("made.mbr"), "-f", "csv"},
        {"log", "convert", file("made.mbr"), "-f", "openmetrics"},
        {"typeperf", R"(\*\*)", "--log", file("made.mbr")}}) {
    auto words = verb;
    words.insert(words.end(), {"--from", "-10s", "--to", "-20s"});
    const auto refused = run_plainly(words);
    EXPECT_EQ(refused.code, kExitUsage) << verb.front();
    EXPECT_EQ(refused.err,
              "meterbank: the range ends before it begins: -10s is later than -20s; try: the "
              "earlier time first\n");
  }
}

TEST_F(RecordedRates, AreShownAtMoreThanOneMomentOnlyOfARange) {
  record::MadeShop made(1, 1);
  for (std::uint64_t second = 0; second < 60; ++second) made.tick(second);
  made.write(file("made.mbr"));
  for (const auto& [option, value] : std::vector<std::pair<std::string, std::string>>{
           {"-n", "3"}, {"-n", "0"}, {"--for", "3s"}, {"--every", "5s"}}) {
    std::vector<std::string> words{"get", "*/*/*", "--log", file("made.mbr"), option, value};
    const auto refused = run_plainly(words);
    EXPECT_EQ(refused.code, kExitUsage);
    EXPECT_EQ(refused.out, "");
    EXPECT_EQ(refused.err, "meterbank: " + option +
                               " of a recording is about a range of moments; try: --from TIME\n");
    words.insert(words.end(), {"--from", "-20s"});
    EXPECT_EQ(run_plainly(words).code, kExitDone) << option;
  }
}

}  // namespace
}  // namespace meterbank::cli::recorded_rates_test
