// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "../cli_fixture.hpp"
#include "cli/session/exit_code.hpp"
#include "log_fixture.hpp"

namespace meterbank::cli {
namespace {

class Relog : public CliTest {
 protected:
  // Records at 09:00:00, :01 ... on a fixed day; the values are the numbers of the records.
  std::string write_log(const std::string& name, int from, int records,
                        const std::vector<std::string>& paths = {R"(\\vm\Shop(a)\Sold)",
                                                                 R"(\\vm\Shop(b)\Sold)"},
                        LogZone zone = {"UTC", 0}) const {
    auto text = print_log_header({LogFormat::kCsv, zone, paths});
    for (int i = from; i < from + records; ++i) {
      LogRecord record;
      record.time = *parse_log_time("11/21/2026 09:00:00") + std::chrono::seconds(i);
      for (std::size_t column = 0; column < paths.size(); ++column) {
        record.values.push_back(std::to_string(i + static_cast<int>(column) * 100));
      }
      text += print_log_record(LogFormat::kCsv, record);
    }
    std::ofstream(file(name)) << text;
    return file(name);
  }

  // The values of the first column of what relog makes.
  std::vector<std::string> first_column(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "relog");
    arguments.insert(arguments.end(), {"-o", file("out"), "-y"});
    const auto outcome = run_plainly(arguments);
    EXPECT_EQ(outcome.code, kExitDone) << outcome.err;
    return read_whole_log(file("out")).column(0);
  }
};

using Texts = std::vector<std::string>;

TEST_F(Relog, CopiesALogByteForByte) {
  const auto log = write_log("x.csv", 0, 3);

  const auto outcome = run_plainly({"relog", log});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_EQ(outcome.out, read(log));
}

TEST_F(Relog, ConvertsThereAndBack) {
  const auto log = write_log("x.csv", 0, 3);

  const auto there = run_plainly({"relog", log, "-f", "TSV", "-o", file("x.tsv")});
  const auto back = run_plainly({"relog", file("x.tsv"), "-f", "csv"});

  ASSERT_EQ(there.code, kExitDone) << there.err;
  EXPECT_EQ(read_whole_log(file("x.tsv")).header.format, LogFormat::kTsv);
  EXPECT_EQ(back.out, read(log));
}

TEST_F(Relog, KeepsEveryNthRecord) {
  EXPECT_EQ(first_column({write_log("x.csv", 0, 7), "-t", "3"}), (Texts{"0", "3", "6"}));
}

TEST_F(Relog, CutsByTimeWithBothEndsIncluded) {
  const auto log = write_log("x.csv", 0, 9);

  EXPECT_EQ(first_column({log, "-b", "11/21/2026 9:00:03", "-e", "11/21/2026 9:00:05"}),
            (Texts{"3", "4", "5"}));
  EXPECT_EQ(first_column({log, "-b", "11/21/2026", "09:00:07"}), (Texts{"7", "8"}));
  EXPECT_EQ(first_column({log, "-b", "11/21/2026 9:00:03", "-t", "2"}), (Texts{"3", "5", "7"}));
}

TEST_F(Relog, SaysThatACutLeavesNothingAndWritesNothing) {
  const auto log = write_log("x.csv", 0, 3);

  const auto outcome = run_plainly({"relog", log, "-b", "1/1/2027", "-o", file("out.csv")});

  EXPECT_EQ(outcome.code, kExitNo);
  EXPECT_NE(outcome.err.find("try: -q"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(file("out.csv")));
}

TEST_F(Relog, TakesFilesCountersAndOptionsFromASettingsFile) {
  std::ofstream(file("s.ini")) << "[I]\n"
                               << write_log("x.csv", 0, 5) << "\n[c]\n\\Shop(b)\\Sold\n[t]\n2\n";

  EXPECT_EQ(first_column({"-config", file("s.ini")}), (Texts{"100", "102", "104"}));
  EXPECT_EQ(first_column({"-config", file("s.ini"), "-t", "4"}), (Texts{"100", "104"}));
}

TEST_F(Relog, KeepsTheCountersThatAreAskedFor) {
  const auto log = write_log("x.csv", 0, 2);
  std::ofstream(file("c.txt")) << "# the second\n\\Shop(b)\\*\n";

  EXPECT_EQ(first_column({log, "-c", R"(\Shop(b)\Sold)"}), (Texts{"100", "101"}));
  EXPECT_EQ(first_column({log, "-cf", file("c.txt")}), (Texts{"100", "101"}));
  const auto missing = run_plainly({"relog", log, "-c", R"(\Shop(a)\Sold)", R"(\Shop(z)\Sold)"});
  EXPECT_EQ(missing.code, kExitNo);
  EXPECT_NE(missing.err.find("Shop(z)"), std::string::npos) << missing.err;
  EXPECT_NE(missing.out.find("\"1\""), std::string::npos) << missing.out;
  const auto nothing = run_plainly({"relog", log, "-c", R"(\Shop(z)\*)", "-o", file("none.csv")});
  EXPECT_EQ(nothing.code, kExitNo);
  EXPECT_FALSE(std::filesystem::exists(file("none.csv")));
}

TEST_F(Relog, MergesLogsOfTheSameCountersInOrderOfTime) {
  const auto late = write_log("late.csv", 3, 2);
  const auto early = write_log("early.csv", 0, 2, {R"(\\VM\shop(b)\sold)", R"(\\vm\Shop(a)\Sold)"});

  const auto merged = first_column({late, early});

  EXPECT_EQ(merged, (Texts{"100", "101", "3", "4"}));
}

TEST_F(Relog, MovesTimesOfAnotherZoneToThatOfTheFirstFile) {
  const auto utc = write_log("utc.csv", 0, 1);
  const auto east =
      write_log("east.csv", 1, 1, {R"(\\vm\Shop(a)\Sold)", R"(\\vm\Shop(b)\Sold)"}, {"CET", -60});

  ASSERT_EQ(first_column({utc, east}), (Texts{"1", "0"}));

  const auto log = read_whole_log(file("out"));
  EXPECT_EQ(print_log_time(log.records[0].time), "11/21/2026 08:00:01.000");
  EXPECT_EQ(log.header.zone, (LogZone{"UTC", 0}));
}

TEST_F(Relog, RefusesToMergeDifferentCounters) {
  const auto one = write_log("one.csv", 0, 1);
  const auto other = write_log("other.csv", 0, 1, {R"(\\vm\Shop(a)\Sold)", R"(\\vm\Shop(c)\Sold)"});
  const auto fewer = write_log("fewer.csv", 0, 1, {R"(\\vm\Shop(a)\Sold)"});

  const auto outcome = run_plainly({"relog", one, other});

  EXPECT_EQ(outcome.code, kExitUsage);
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("different counters"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("Shop(c)"), std::string::npos) << outcome.err;
  EXPECT_EQ(run_plainly({"relog", one, fewer}).code, kExitUsage);
  EXPECT_EQ(run_plainly({"relog", fewer, one}).code, kExitUsage);
}

TEST_F(Relog, ListsCountersAndTheRangeOfTime) {
  const auto log = write_log("x.csv", 0, 3);

  const auto outcome = run_plainly({"relog", log, "-q"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_EQ(outcome.out, fmt::format("Files:\n     {} (CSV)\n"
                                     "Begin:    11/21/2026 09:00:00.000\n"
                                     "End:      11/21/2026 09:00:02.000\n"
                                     "Samples:  3\n\n"
                                     "\\\\vm\\Shop(a)\\Sold\n\\\\vm\\Shop(b)\\Sold\n",
                                     log));
}

TEST_F(Relog, ListsTheFormatOfEachFile) {
  const auto log = write_log("x.csv", 0, 3);
  ASSERT_EQ(run_plainly({"relog", log, "-f", "tsv", "-o", file("x.tsv")}).code, kExitDone);

  const auto outcome = run_plainly({"relog", log, file("x.tsv"), "-q"});

  EXPECT_NE(outcome.out.find("x.csv (CSV)\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("x.tsv (TSV)\n"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("Samples:  6\n"), std::string::npos) << outcome.out;
}

TEST_F(Relog, CopiesALogWithoutCounters) {
  std::ofstream(file("none.csv")) << "\"(PDH-CSV 4.0) (UTC)(0)\"\r\n";

  const auto outcome = run_plainly({"relog", file("none.csv")});

  EXPECT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_EQ(outcome.out, read(file("none.csv")));
  EXPECT_EQ(run_plainly({"relog", file("none.csv"), "-c", R"(\*\*)"}).code, kExitNo);
}

TEST_F(Relog, WritesAListThatItCanReadAsAFilter) {
  const auto log = write_log("x.csv", 0, 3);

  ASSERT_EQ(run_plainly({"relog", log, "-q", "-o", file("c.txt")}).code, kExitDone);

  EXPECT_EQ(run_plainly({"relog", log, "-cf", file("c.txt")}).out, read(log));
}

TEST_F(Relog, WorksOnWhatTypeperfWrites) {
  open_shop();
  ASSERT_EQ(
      meterbank({"typeperf", R"(\Shop Sales(*)\*)", "-sc", "3", "-si", "0.01", "-o", file("x.csv")})
          .code,
      kExitDone);

  const auto outcome =
      run_plainly({"relog", file("x.csv"), "-c", R"(\Shop Sales(fruit)\S*)", "-t", "2"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_EQ(outcome.lines().size(), 3U);
  EXPECT_NE(outcome.out.find(",\" \",\"17\"\r\n"), std::string::npos) << outcome.out;
}

TEST_F(Relog, LeavesNothingBehindWhenALogIsBroken) {
  const auto log = write_log("x.csv", 0, 3);
  std::ofstream(log, std::ios::app) << "\"11/21/2026 09:00:03.000\",\"1";

  const auto outcome = run_plainly({"relog", log, "-o", file("out.csv")});

  EXPECT_EQ(outcome.code, kExitUsage);
  EXPECT_NE(outcome.err.find("x.csv:5:29: missing-quote"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("try: head -n 4 " + log), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(file("out.csv")));
}

TEST_F(Relog, ReplacesAFileOnlyIfToldTo) {
  const auto log = write_log("x.csv", 0, 3);

  const auto outcome = run_plainly({"relog", log, "-t", "2", "-o", log});
  const auto replaced = run_plainly({"relog", log, "-t", "2", "-o", log, "-y"});

  EXPECT_EQ(outcome.code, kExitUsage);
  EXPECT_NE(outcome.err.find("-y"), std::string::npos) << outcome.err;
  EXPECT_EQ(replaced.code, kExitDone) << replaced.err;
  EXPECT_EQ(read_whole_log(log).column(0), (Texts{"0", "2"}));
}

TEST_F(Relog, ReportsInvalidOptions) {
  const auto log = write_log("x.csv", 0, 1);
  struct Case {
    std::vector<std::string> arguments;
    const char* expected;
  };
  const std::vector<Case> cases{{{"relog"}, "no file"},
                                {{"relog", log, "-a"}, "its columns are fixed"},
                                {{"relog", log, "-f", "bin"}, "binary logs are not written"},
                                {{"relog", log, "-f", "SQL"}, "databases"},
                                {{"relog", log, "-o", "x.blg"}, "binary logs are not written"},
                                {{"relog", log, "-t", "0"}, "'0' is not a number"},
                                {{"relog", log, "-b", "yesterday"}, "'yesterday' is not a time"},
                                {{"relog", log, "-b", "2/30/2026"}, "'2/30/2026' is not a time"},
                                {{"relog", log, "-b", "1/2/2026", "-e", "1/1/2026"}, "before -b"},
                                {{"relog", log, "-c"}, "-c needs a value"},
                                {{"relog", log, "-c", R"(\Shop()"}, "column"},
                                {{"relog", log, "-z"}, "no option '-z'"},
                                {{"relog", "/no/such.csv"}, "cannot read /no/such.csv"},
                                {{"relog", directory_}, "cannot read"}};
  for (const auto& bad : cases) {
    const auto outcome = run_plainly(bad.arguments);
    EXPECT_EQ(outcome.code, kExitUsage) << bad.expected;
    EXPECT_EQ(outcome.out, "") << bad.expected;
    EXPECT_NE(outcome.err.find(bad.expected), std::string::npos) << outcome.err;
  }
}

}  // namespace
}  // namespace meterbank::cli
