// SPDX-License-Identifier: Apache-2.0
//
// `log convert -f openmetrics`: the text that Prometheus' own tool makes blocks of.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "../../../support/most_memory.hpp"
#include "../../../support/sanitizers.hpp"
#include "../../record/made_recording.hpp"
#include "../cli_fixture.hpp"
#include "cli/session/exit_code.hpp"

namespace meterbank::cli::openmetrics_test {
namespace {

using record::MadeRecording;

class CliOpenMetrics : public CliTest {
 protected:
  [[nodiscard]] Outcome convert(const std::string& name,
                                const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"log", "convert", file(name), "-f", "openmetrics"};
    words.insert(words.end(), more.begin(), more.end());
    return run_plainly(words);
  }
};

// The values of each series, by their time as it is written.
std::map<std::string, std::map<std::string, std::string>> series_of(const Outcome& outcome) {
  std::map<std::string, std::map<std::string, std::string>> series;
  for (const std::string& line : outcome.lines()) {
    if (line.starts_with('#')) continue;
    const auto time = line.rfind(' ');
    const auto value = line.rfind(' ', time - 1);
    auto& values = series[line.substr(0, value)];
    const bool is_new =
        values.emplace(line.substr(time + 1), line.substr(value + 1, time - value - 1)).second;
    EXPECT_TRUE(is_new) << line;
  }
  return series;
}

TEST_F(CliOpenMetrics, NoTextReplacesAFileWhereTheRangeHasNoSample) {
  MadeRecording made({});
  made.ticks(0, 10);
  made.write(file("made.mbr"));
  std::ofstream(file("kept")) << "precious";
  for (const char* format : {"openmetrics", "csv", "json", "table"}) {
    const auto outcome =
        run_plainly({"log", "convert", file("made.mbr"), "-f", format, "-o", file("kept"), "--from",
                     "@1700000002.2", "--to", "@1700000002.3"});
    EXPECT_EQ(outcome.code, kExitNo) << outcome.err;
    std::string text;
    std::getline(std::ifstream(file("kept")), text);
    EXPECT_EQ(text, "precious") << format;
  }
}

TEST_F(CliOpenMetrics, HasEachValueWithItsTime) {
  MadeRecording made({});
  made.ticks(0, 30);
  made.write(file("made.mbr"));
  const auto outcome = convert("made.mbr");
  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto lines = outcome.lines();
  ASSERT_FALSE(lines.empty());
  EXPECT_EQ(lines.back(), "# EOF");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "# EOF"), 1);
  const auto series = series_of(outcome);
  const std::string name =
      R"(meterbank_queues_count_total{provider="shop",uid="1000",instance_name="eu"})";
  ASSERT_TRUE(series.contains(name)) << outcome.out.substr(0, 3000);
  const auto& counts = series.at(name);
  ASSERT_EQ(counts.size(), 30U);
  EXPECT_EQ(counts.at("1700000000.000"), "0");
  EXPECT_EQ(counts.at("1700000029.000"), "29");
}

TEST_F(CliOpenMetrics, HasTheNamesOfThePage) {
  MadeRecording made({});
  made.ticks(0, 3);
  made.write(file("made.mbr"));
  const auto page = run_plainly({"get", "--log", file("made.mbr"), "-f", "openmetrics"});
  std::set<std::string> names, paged;
  for (const auto& [name, values] : series_of(convert("made.mbr", {"queues/*/*"}))) {
    names.insert(name);
  }
  for (const std::string& line : page.lines()) {
    if (!line.starts_with('#')) paged.insert(line.substr(0, line.rfind(' ')));
  }
  EXPECT_FALSE(names.empty());
  EXPECT_EQ(names, paged);
}

TEST_F(CliOpenMetrics, DescribesAFamilyOnceAlsoOfRowsThatComeLater) {
  MadeRecording made({});
  made.ticks(0, 10);
  made.add_row("late \"one\"\n\x1b[31m");
  made.ticks(10, 20);
  made.write(file("made.mbr"));
  const auto outcome = convert("made.mbr");
  const auto lines = outcome.lines();
  EXPECT_EQ(std::count(lines.begin(), lines.end(), "# TYPE meterbank_queues_count counter"), 1);
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
  std::size_t late = 0;
  for (const auto& [name, values] : series_of(outcome)) {
    if (name.find(R"(instance_name="late \"one\")") == std::string::npos) continue;
    ++late;
    EXPECT_EQ(values.size(), 10U) << name;
    EXPECT_EQ(values.begin()->first, "1700000010.000");
  }
  EXPECT_EQ(late, 4U) << outcome.out.substr(outcome.out.size() - 2000);
}

// A recorder may begin before the service does.
TEST_F(CliOpenMetrics, FindsAPathThatMatchesNothingAtFirst) {
  MadeRecording made({});
  made.ticks(0, 10);
  made.add_row("late");
  made.ticks(10, 20);
  made.write(file("made.mbr"));
  const auto outcome = convert("made.mbr", {"queues/late/count", "queues/never/count"});
  EXPECT_EQ(outcome.code, kExitDone);
  EXPECT_EQ(outcome.err.find("late"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("queues/never/count"), std::string::npos) << outcome.err;
  const auto series = series_of(outcome);
  ASSERT_EQ(series.size(), 1U);
  EXPECT_EQ(series.begin()->second.size(), 10U);
  const auto never = convert("made.mbr", {"queues/never/count"});
  EXPECT_EQ(never.code, kExitNo);
  EXPECT_NE(never.err.find("queues/never/count"), std::string::npos) << never.err;
  // One moment is what it is.
  const auto moment = run_plainly(
      {"get", "--log", file("made.mbr"), "--at", "2023-11-14T22:13:20Z", "queues/late/count"});
  EXPECT_EQ(moment.code, kExitNo) << moment.out;
}

// Prometheus multiplies by 1000 and truncates.
TEST_F(CliOpenMetrics, HasTimesThatBecomeTheRightMilliseconds) {
  MadeRecording made({});
  for (std::uint64_t ms = 0; ms < 1000; ++ms) made.tick(0, ms * 1'000'000 + 999'999);
  made.write(file("made.mbr"));
  const auto series = series_of(convert("made.mbr", {"queues/*/count"}));
  ASSERT_EQ(series.size(), 1U);
  std::set<std::uint64_t> times;
  for (const auto& [time, value] : series.begin()->second) {
    times.insert(static_cast<std::uint64_t>(std::strtod(time.c_str(), nullptr) * 1000));
  }
  ASSERT_EQ(times.size(), 1000U);
  EXPECT_EQ(*times.begin(), 1'700'000'000'000U);
  EXPECT_EQ(*times.rbegin(), 1'700'000'000'999U);
}

TEST_F(CliOpenMetrics, LeavesOutSamplesBeforeTheOneBeforeAndSaysSo) {
  MadeRecording made({});
  made.ticks(0, 10);
  made.tick(10, 0, -5'000'000'000);
  made.tick(20);
  made.write(file("made.mbr"));
  const auto outcome = convert("made.mbr", {"queues/*/count"});
  EXPECT_EQ(series_of(outcome).begin()->second.size(), 11U);
  EXPECT_NE(outcome.err.find("left out 1 sample whose time"), std::string::npos) << outcome.err;
}

TEST_F(CliOpenMetrics, HasOnlyWhatWasSampledAtEachTime) {
  open_shop();
  open_bakery();
  ASSERT_EQ(meterbank({"record", "-o", file("two.mbr"), "-i", "200ms", "--rate", "bakery/*=20ms",
                       "--for", "500ms", "-q"})
                .code,
            kExitDone);
  const auto series = series_of(convert("two.mbr"));
  std::size_t loaves = 0, sold = 0;
  for (const auto& [name, values] : series) {
    if (name.starts_with("meterbank_bakery_loaves")) loaves = std::max(loaves, values.size());
    if (name.starts_with("meterbank_shop_sales_sold")) sold = std::max(sold, values.size());
  }
  const auto recorded = [&](const std::string& path) {
    return run_plainly({"log", "convert", file("two.mbr"), "-f", "jsonl", path}).lines().size();
  };
  EXPECT_GT(sold, 0U);
  EXPECT_LT(sold, recorded("bakery/*/*"));
  EXPECT_EQ(sold, recorded("shop_sales/*/*"));
  close_shop();
}

TEST_F(CliOpenMetrics, OfNothingIsAnEmptyPage) {
  const auto recorded = meterbank({"record", "-o", file("empty.mbr"), "-n", "2", "-i", "10ms"});
  ASSERT_EQ(recorded.code, kExitDone) << recorded.err;
  const auto outcome = convert("empty.mbr");
  EXPECT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_EQ(outcome.out, "# EOF\n");
}

TEST_F(CliOpenMetrics, SaysThatARecordingIsDamaged) {
  MadeRecording made({});
  made.ticks(0, 10);
  made.unreadable_ticks(10, 20);
  made.ticks(20, 30);
  made.write(file("made.mbr"));
  const auto outcome = convert("made.mbr", {"queues/*/count"});
  EXPECT_EQ(outcome.code, kExitNo);
  EXPECT_EQ(series_of(outcome).begin()->second.size(), 20U);
}

TEST_F(CliOpenMetrics, TakesNoMoreMemoryForALongerRecording) {
  if (test::kHasSanitizer) GTEST_SKIP() << "a sanitizer keeps memory that was freed";
  const auto most_kib_for = [&](std::uint64_t seconds) {
    {
      MadeRecording made({});
      made.ticks(0, seconds);
      made.write(file("made.mbr"));
    }
    return test::most_kib_of([&] {
      return run_plainly(
                 {"log", "convert", file("made.mbr"), "-f", "openmetrics", "-o", file("om")})
          .code;
    });
  };
  const long first = most_kib_for(700);
  EXPECT_LT(most_kib_for(7000), first + 2 * 1024);
}

TEST_F(CliOpenMetrics, TakesBucketsAndNoStoredValues) {
  MadeRecording made({});
  made.ticks(0, 3);
  made.write(file("made.mbr"));
  EXPECT_EQ(convert("made.mbr", {"--buckets", "0.1,1"}).code, kExitDone);
  EXPECT_EQ(convert("made.mbr", {"--buckets", "1,x"}).code, kExitUsage);
  EXPECT_EQ(convert("made.mbr", {"--raw"}).code, kExitUsage);
  const auto page = run_plainly({"log", "convert", file("made.mbr"), "-f", "prometheus"});
  EXPECT_EQ(page.code, kExitUsage);
  EXPECT_TRUE(
      page.err.ends_with(" jsonl, pdh-csv, pdh-tsv, influx, statsd, collectd, openmetrics, "
                         "pcp, perfetto, sqlite\n"))
      << page.err;
}

}  // namespace
}  // namespace meterbank::cli::openmetrics_test
