// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "cli/distribution/percentile_rows.hpp"
#include "cli/format/table.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/watch/live_table.hpp"
#include "kitchen_fixture.hpp"

namespace meterbank::cli {
namespace {

class CliHistogram : public KitchenTest {
 protected:
  CliHistogram() { speak("C.UTF-8"); }
  ~CliHistogram() override {
    if (before_) {
      ::setenv("LC_ALL", before_->c_str(), 1);
    } else {
      ::unsetenv("LC_ALL");
    }
  }

  void speak(const char* locale) { ::setenv("LC_ALL", locale, 1); }
  // The picture behind the table of a first sample.
  [[nodiscard]] std::vector<std::string> picture(
      const std::vector<std::string>& options = {}) const {
    std::vector<std::string> arguments{"get", "dishes/soup/latency", "--hist", "-n", "2", "-i",
                                       "20ms"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const auto outcome = meterbank(arguments);
    EXPECT_EQ(outcome.code, kExitDone) << outcome.err;
    const auto lines = outcome.lines();
    const auto begin = std::find(lines.begin(), lines.end(), "");
    if (begin == lines.end()) return {};
    return {begin + 1, std::find(begin + 1, lines.end(), "")};
  }

  std::optional<std::string> before_ = std::getenv("LC_ALL") == nullptr
                                           ? std::nullopt
                                           : std::optional<std::string>(std::getenv("LC_ALL"));
};

TEST_F(CliHistogram, HasMicrosecondsOfATerminalWithoutUtf8) {
  speak("C");
  soup_.recorder(Dish::kLatency).record(0.95);
  const std::vector<std::string> arguments{
      "get",     "dishes/soup/latency", "--hist", "-f", "table", "-n", "2", "-i", "20ms", "--dir",
      directory_};
  std::ostringstream out, err;
  Console terminal{out, err, true, true, 120};

  EXPECT_EQ(run(arguments, terminal), kExitDone) << err.str();

  // In the table, in front of the bars, and beside one.
  for (const std::string text : {" 950 us", "mean 950 us", "841 us - "}) {
    EXPECT_TRUE(holds(out.str(), text)) << out.str();
  }
  EXPECT_FALSE(holds(out.str(), "\\u{")) << out.str();
}

TEST_F(CliHistogram, BeginsWithTheNumbersAndHasABarForEachRange) {
  Recorder latency = soup_.recorder(Dish::kLatency);
  for (int i = 0; i < 30; ++i) latency.record(15);
  for (int i = 0; i < 10; ++i) latency.record(30);

  const auto lines = picture();

  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0],
            "dishes/soup/latency  40 values since the beginning  mean 18.8 ms  p50 15 ms  "
            "p99 30 ms  p99.9 30 ms  ±8.6 %");
  std::string whole;
  for (int i = 0; i < 40; ++i) whole += "█";
  EXPECT_EQ(lines[1], "  13.5 ms –   16 ms  30   75.0 %  " + whole);
  EXPECT_EQ(lines[2], "    16 ms – 19.0 ms   0");
  EXPECT_NE(lines[5].find("10   25.0 %  █████████████▍"), std::string::npos) << lines[5];
}

TEST_F(CliHistogram, JoinsNeighboursUntilTheyFitAScreen) {
  Recorder latency = soup_.recorder(Dish::kLatency);
  for (int i = 2; i <= 1000; ++i) latency.record(i);

  const auto lines = picture();

  ASSERT_GE(lines.size(), 10U);
  EXPECT_LE(lines.size(), 21U);
  std::uint64_t sum = 0;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    std::istringstream words(lines[i]);
    std::string low, low_unit, to, high, high_unit;
    std::uint64_t count = 0;
    words >> low >> low_unit >> to >> high >> high_unit >> count;
    sum += count;
  }
  EXPECT_EQ(sum, 999U) << lines[1];
}

TEST_F(CliHistogram, HasLinesForWhatLiesOutsideAllBuckets) {
  Recorder latency = soup_.recorder(Dish::kLatency);
  for (const double value : {-1.0, 0.0, 15.0, 1e6, std::nan("")}) latency.record(value);

  const auto lines = picture({"-p", "none"});

  ASSERT_EQ(lines.size(), 4U);
  EXPECT_NE(lines[0].find("  1 were no number"), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("≤ 841 µs  2   50.0 %"), std::string::npos) << lines[1];
  EXPECT_NE(lines[3].find("> 1.02 s  1   25.0 %"), std::string::npos) << lines[3];
}

TEST_F(CliHistogram, APercentileBeyondTheBucketsHasASignInFront) {
  Recorder latency = soup_.recorder(Dish::kLatency);
  for (const double value : {0.25, 0.5, 15.0, 2000.0, 3000.0}) latency.record(value);

  const auto lines = picture({"-p", "30,80"});

  EXPECT_NE(lines[0].find("  p30 ≤ 841 µs  p80 > 1.02 s"), std::string::npos) << lines[0];
}

TEST_F(CliHistogram, SaysThatThereWasNothing) {
  const auto lines = picture();

  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0], "dishes/soup/latency  no values since the beginning");
}

TEST_F(CliHistogram, AnIdleIntervalMentionsEarlierValues) {
  serve_a_hundred();

  const auto outcome = meterbank({"get", "dishes/soup/latency", "--hist", "-i", "20ms"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto at = outcome.out.find("dishes/soup/latency  no values in ");
  ASSERT_NE(at, std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("  100 before\n", at), std::string::npos) << outcome.out;
}

TEST_F(CliHistogram, NeverHidesTheFewBehindTheMany) {
  Recorder latency = soup_.recorder(Dish::kLatency);
  for (int i = 0; i < 100'000; ++i) latency.record(15);
  latency.record(30);

  const auto lines = picture();

  EXPECT_NE(lines[1].find("99.9 %"), std::string::npos) << lines[1];
  EXPECT_NE(lines.back().find(" 1   <0.1 %  ▏"), std::string::npos) << lines.back();
}

TEST_F(CliHistogram, IsDrawnInAsciiWhereNothingElseIsSpoken) {
  speak("C");
  Recorder latency = soup_.recorder(Dish::kLatency);
  for (const double value : {-1.0, 15.0, 15.0, 1e6}) latency.record(value);

  const auto lines = picture({"-p", "none", "--units=base"});

  ASSERT_EQ(lines.size(), 4U);
  for (const auto& line : lines) {
    EXPECT_TRUE(std::all_of(line.begin(), line.end(), [](char c) { return c >= ' ' && c < 127; }))
        << line;
  }
  EXPECT_NE(lines[0].find("+-8.6 %"), std::string::npos) << lines[0];
  EXPECT_NE(lines[2].find("########"), std::string::npos) << lines[2];
}

TEST_F(CliHistogram, IsRefusedWhereLinesAreRows) {
  for (const char* const format : {"csv", "tsv", "plain", "pdh-csv", "pdh-tsv"}) {
    const auto outcome = meterbank({"get", "dishes", "--hist", "-f", format});
    EXPECT_EQ(outcome.code, kExitUsage) << format;
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find("--hist: -f " + std::string(format)), std::string::npos)
        << outcome.err;
    EXPECT_NE(outcome.err.find("; try: -f table for bars, -f json for buckets"), std::string::npos)
        << outcome.err;
  }
  EXPECT_EQ(meterbank({"watch", "dishes", "--hist"}).code, kExitUsage);
}

TEST_F(CliHistogram, IsThereForEachDistributionAndNothingElse) {
  auto salad = *dishes_.create_instance("salad");
  soup_.recorder(Dish::kLatency).record(2);
  salad.recorder(Dish::kLatency).record(3);

  const auto all = meterbank({"get", "dishes", "--hist", "-n", "2", "-i", "20ms"});
  const auto without = meterbank({"get", "dishes/soup/served", "--hist", "-i", "20ms"});

  EXPECT_NE(all.out.find("dishes/soup/latency  1 value since"), std::string::npos) << all.out;
  EXPECT_NE(all.out.find("dishes/salad/latency  1 value since"), std::string::npos) << all.out;
  EXPECT_EQ(without.out.find("\n\n"), std::string::npos) << without.out;
}

// ---- watch ----

class LiveKitchen : public KitchenTest {
 protected:
  void look() {
    if (!selection_) {
      Waiter waiter({});
      SelectionOptions options;
      options.directory = directory_;
      options.paths = {"dishes"};
      selection_.emplace(std::move(*Selection::open(options, waiter)));
      sampler_.emplace(*selection_);
    }
    sampler_->take();
    const RowWalk stored = [this](ValueSink take) { sampler_->each_row(take); };
    const RowWalk shown = [&](ValueSink take) { percentiles_.each(stored, take); };
    table_.update(view_.raw ? stored : shown, selection_->query.version(), view_, Clock::now());
  }
  // The line of a row, without what stands around it.
  [[nodiscard]] std::string line(const std::string& counter, std::size_t width = 120) {
    for (const auto& drawn : table_.render(view_, {}, width, 40)) {
      if (drawn.text.find(" " + counter + " ") != std::string::npos) return drawn.text;
    }
    return {};
  }

  std::optional<Selection> selection_;
  std::optional<Sampler> sampler_;
  PercentileRows percentiles_{*parse_percentiles("50,99")};
  LiveTable table_;
  View view_;
};

TEST_F(LiveKitchen, EachPercentileHasAHistoryOfItsOwn) {
  serve_a_hundred();
  look();

  EXPECT_NE(line("dishes/latency.p50").find("49.2 ms"), std::string::npos);
  EXPECT_NE(line("dishes/latency.p99").find("98.3 ms"), std::string::npos);
}

TEST_F(LiveKitchen, AnIntervalWithoutValuesKeepsTheGreatestBefore) {
  serve_a_hundred();
  look();
  look();

  const auto text = line("dishes/latency.p50");
  EXPECT_NE(text.find("no-value"), std::string::npos) << text;
  EXPECT_NE(text.find("49.2 ms"), std::string::npos) << text;
}

TEST_F(LiveKitchen, AShortTextStandsAmongTheNumbersAndALongOneHasTheRestOfTheLine) {
  soup_.text(Dish::kState).set("hot");
  look();
  const auto brief = line("dishes/state");
  soup_.text(Dish::kState).set("boiling over and onto the floor");
  look();
  const auto wide = line("dishes/state");
  const auto narrow = line("dishes/state", 60);

  EXPECT_NE(brief.find(" hot "), std::string::npos) << brief;
  EXPECT_NE(wide.find(" boiling over and onto the floor "), std::string::npos) << wide;
  EXPECT_LE(display_width(narrow), 60U);
  EXPECT_NE(narrow.find(" boiling"), std::string::npos) << narrow;
}

TEST_F(LiveKitchen, ATextIsSanitised) {
  soup_.text(Dish::kState).set("\x1b[2Jx");
  look();

  EXPECT_NE(line("dishes/state").find("\\u{1b}[2Jx"), std::string::npos) << line("dishes/state");
}

TEST_F(LiveKitchen, TextsAreSortedBehindTheNumbers) {
  auto salad = *dishes_.create_instance("salad");
  auto bread = *dishes_.create_instance("bread");
  soup_.text(Dish::kState).set("c");
  salad.text(Dish::kState).set("b");
  soup_.gauge(Dish::kBalance).set_signed(5);
  look();
  view_.sorting = Sorting::kByValue;

  const auto shown = table_.shown(view_);
  std::vector<std::string> texts;
  for (const LiveRow* const row : shown) {
    if (row->text) texts.push_back(*row->text);
  }
  EXPECT_EQ(shown[0]->counter, "dishes/balance");
  EXPECT_EQ(texts, (std::vector<std::string>{"", "b", "c"}));

  view_.hide_zeros = true;
  EXPECT_EQ(table_.shown(view_).size(), 3U);
}

TEST_F(LiveKitchen, StoredValuesKeepTheirSignsAndTexts) {
  view_.raw = true;
  soup_.gauge(Dish::kTemperature).set(-17.25);
  soup_.gauge(Dish::kBalance).set_signed(-3);
  soup_.text(Dish::kState).set("hot");
  look();

  EXPECT_NE(line("dishes/temperature").find(" -17.25 "), std::string::npos);
  EXPECT_NE(line("dishes/balance").find(" -3 "), std::string::npos);
  EXPECT_NE(line("dishes/state").find(" hot "), std::string::npos);
  EXPECT_EQ(line("dishes/latency.p50"), "");
}

}  // namespace
}  // namespace meterbank::cli
