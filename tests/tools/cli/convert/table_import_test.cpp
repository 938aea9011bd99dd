// SPDX-License-Identifier: Apache-2.0
//
// A table of `get -f csv` or `typeperf` becomes a recording whose values are those of the table.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "../../record/made_recording.hpp"
#include "../cli_fixture.hpp"
#include "cli/session/exit_code.hpp"

namespace meterbank::cli::table_import_test {
namespace {

constexpr const char* kHeadings = "time,provider,set,instance,counter,value,unit,status\r\n";

using record::MadeRecording;

class CliTableImport : public CliTest {
 protected:
  [[nodiscard]] Outcome import(const std::string& table) const {
    std::ofstream(file("table.csv"), std::ios::binary) << table;
    std::filesystem::remove(file("new.mbr"));
    return run_plainly({"log", "convert", file("table.csv"), "-o", file("new.mbr")});
  }
  // The lines of a table that have a value, without the status and in any order.
  [[nodiscard]] static std::multiset<std::string> values_in(const std::string& table) {
    std::multiset<std::string> lines;
    for (const std::string& line : Outcome{0, table, ""}.lines()) {
      const auto status = line.rfind(',');
      const auto unit = line.rfind(',', status - 1);
      if (line[unit - 1] != ',') lines.insert(line.substr(0, status));
    }
    return lines;
  }
  [[nodiscard]] std::string table_of(const std::string& recording) const {
    return run_plainly({"log", "convert", file(recording), "-f", "csv", "--raw"}).out;
  }
};

TEST_F(CliTableImport, KeepsValuesTimesNamesAndUnits) {
  MadeRecording made({});
  made.ticks(0, 10);
  made.add_row("late \"one\", quoted");
  made.ticks(10, 20);
  made.write(file("made.mbr"));
  const std::string table = table_of("made.mbr");
  const auto imported = import(table);
  ASSERT_EQ(imported.code, kExitDone) << imported.err;
  EXPECT_EQ(values_in(table_of("new.mbr")), values_in(table));
  EXPECT_GT(values_in(table).size(), 100U);
  EXPECT_NE(imported.err.find(" B of "), std::string::npos) << imported.err;
  EXPECT_EQ(run_plainly({"log", "check", file("new.mbr")}).code, kExitDone);
}

TEST_F(CliTableImport, KeepsNumbersThatNoDoubleHasTextsAndWhatIsMissing) {
  const std::string table =
      std::string(kHeadings) +
      "2026-11-27T03:12:05.250Z,shop@7,s,a,big,18446744073709551615,{item},ok\r\n"
      "2026-11-27T03:12:05.250Z,shop@7,s,a,less,-9223372036854775808,,ok\r\n"
      "2026-11-27T03:12:05.250Z,shop@7,s,a,once,9007199254740993,,ok\r\n"
      "2026-11-27T03:12:05.250Z,shop@7,s,a,some,,By,no-rate-yet\r\n"
      "2026-11-27T03:12:05.250Z,shop@7,s,a,words,\"say \"\"x\"\", y\",,ok\r\n"
      "2026-11-27T03:12:06.250Z,shop@7,s,a,big,9007199254740993,{item},ok\r\n"
      "2026-11-27T03:12:06.250Z,shop@7,s,a,less,5,,ok\r\n"
      "2026-11-27T03:12:06.250Z,shop@7,s,a,some,0.1,By,ok\r\n"
      "2026-11-27T03:12:06.250Z,shop@7,s,a,words,z,,ok\r\n"
      "2026-11-27T03:12:06.250Z,shop@7,s,b,big,1,{item},ok\r\n"
      "2026-11-27T03:12:06.250Z,shop@7,s,b,less,2,,ok\r\n"
      "2026-11-27T03:12:06.250Z,shop@7,s,b,some,1e+300,By,ok\r\n"
      "2026-11-27T03:12:06.250Z,shop@7,s,b,words,w,,ok\r\n";
  ASSERT_EQ(import(table).code, kExitDone);
  EXPECT_EQ(values_in(table_of("new.mbr")), values_in(table));
}

TEST_F(CliTableImport, TakesAQuotedLineEndAndCountsTheLinesBehindIt) {
  const std::string two_lines = "2026-11-27T03:12:05Z,shop@7,s,a,c,\"one\ntwo\",,ok\r\n";
  ASSERT_EQ(import(kHeadings + two_lines).code, kExitDone);
  const auto shown = run_plainly({"log", "convert", file("new.mbr"), "-f", "jsonl", "--raw"});
  EXPECT_NE(shown.out.find("one\\ntwo"), std::string::npos) << shown.out;
  const auto failed = import(kHeadings + two_lines + "x\r\n");
  EXPECT_NE(failed.err.find("line 4: 1 columns"), std::string::npos) << failed.err;
}

TEST_F(CliTableImport, TakesQuotesThatAreDoubledInsideOfQuotes) {
  const auto imported = import(std::string(kHeadings) +
                               "2026-11-27T03:12:05Z,shop@7,s,\"a\"\"b\"\"\",\"\"\"c\",1,,ok\r\n");
  ASSERT_EQ(imported.code, kExitDone) << imported.err;
  const auto shown = run_plainly({"log", "convert", file("new.mbr"), "-f", "csv"});
  EXPECT_NE(shown.out.find("\"a\"\"b\"\"\",\"\"\"c\",1"), std::string::npos) << shown.out;
}

TEST_F(CliTableImport, LooksAtEachLineOnceWhereQuotesDoNotEnd) {
  const auto imported = import(kHeadings + std::string("2026-11-27T03:12:05Z,shop@7,s,\"a") +
                               std::string(400'000, '\n'));
  EXPECT_NE(imported.err.find("line 2: its quotes do not end"), std::string::npos) << imported.err;
}

TEST_F(CliTableImport, NamesTheLineThatIsMalformed) {
  const std::string good = "2026-11-27T03:12:05Z,shop@7,s,a,c,1,,ok\r\n";
  const std::vector<std::pair<std::string, std::string>> cases{
      {"2026-11-27T03:12:05Z,shop@7,s,a,c,1\r\n", "line 3: 6 columns, not 8"},
      {"yesterday,shop@7,s,a,c,1,,ok\r\n", "line 3: 'yesterday' is not a time in UTC"},
      {"2026-11-27T03:12:05,shop@7,s,a,c,1,,ok\r\n", "is not a time in UTC"},
      {"2026-11-27T03:12:05Z,shop@7,,a,c,1,,ok\r\n", "line 3: no set"},
      {"2026-11-27T03:12:05Z,shop@7,s,a,c," + std::string(1U << 20U, '7') + ",,ok\r\n",
       "line 3: it is longer than 1 MiB"},
      {"2026-11-27T03:12:05Z,shop@7,s,\"a,c,1,,ok\r\n", "line 3: its quotes do not end"},
      {"2026-11-27T03:12:05Z,shop@7,s,Z\"a,c,1,,ok\r\n2026-11-27T03:12:05Z,shop@7,s,b\"b,c,2,,"
       "ok\r\n",
       "line 3: a quote inside a field without quotes"},
      {"2026-11-27T03:12:05Z,shop@7,s,\"a\"b,c,1,,ok\r\n", "line 3: a quote inside a field"},
      {"2026-11-27T03:12:05Z,shop@7,s,a,d," + std::string(300, 'x') + ",,ok\r\n",
       "line 3: a text of 300 bytes"},
  };
  for (const auto& [line, expected] : cases) {
    const auto imported = import(kHeadings + good + line);
    EXPECT_NE(imported.code, kExitDone) << line;
    EXPECT_NE(imported.err.find(expected), std::string::npos) << imported.err;
    EXPECT_FALSE(std::filesystem::exists(file("new.mbr")));
  }
}

constexpr const char* kLogHead =
    "\"(PDH-CSV 4.0) (W. Europe Standard Time)(-60)\",\"\\\\BOX\\Disk(0 C:)\\% Idle Time\","
    "\"\\\\BOX\\Disk(0 C:#1)\\% Idle Time\",\"\\\\BOX\\Memory\\Pages/sec\",\"no path\"\r\n";

TEST_F(CliTableImport, KeepsTheValuesOfATextLogAndTheirTimes) {
  const auto imported = import(std::string(kLogHead) +
                               "\"11/27/2026 04:12:05.250\",\"99.5\",\" \",\"7\",\"-1\"\r\n"
                               "\"11/27/2026 04:12:06.250\",\"98\",\"1e+20\",\"8\",\"-2\"\r\n");
  ASSERT_EQ(imported.code, kExitDone) << imported.err;
  const std::string first = "2026-11-27T03:12:05.250Z,", second = "2026-11-27T03:12:06.250Z,";
  EXPECT_EQ(values_in(table_of("new.mbr")),
            (std::multiset<std::string>{
                "time,provider,set,instance,counter,value,unit",
                first + "BOX@0,Disk,0 C:,% Idle Time,99.5,", first + "BOX@0,Memory,,Pages/sec,7,",
                first + "log@0,columns,,no path,-1,", second + "BOX@0,Disk,0 C:,% Idle Time,98,",
                second + "BOX@0,Disk,0 C:#1,% Idle Time,1e+20,",
                second + "BOX@0,Memory,,Pages/sec,8,", second + "log@0,columns,,no path,-2,"}));
}

TEST_F(CliTableImport, TakesWhatItConvertedToATextLog) {
  MadeRecording made({});
  made.ticks(0, 20);
  made.write(file("made.mbr"));
  const auto log_of = [&](const std::string& name) {
    return run_plainly({"log", "convert", file(name), "-f", "pdh-csv", "*/*/count"}).out;
  };
  const std::string log = log_of("made.mbr");
  ASSERT_EQ(import(log).code, kExitDone);
  const auto lines = Outcome{0, log, ""}.lines(), again = Outcome{0, log_of("new.mbr"), ""}.lines();
  EXPECT_GT(lines.size(), 20U);
  EXPECT_TRUE(std::equal(lines.begin() + 1, lines.end(), again.begin() + 1, again.end()));
}

TEST_F(CliTableImport, NamesWhatIsWrongWithATextLog) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {std::string(kLogHead) + "\"11/27/2026 04:12:05.250\",\"1\"\r\n", ":2:"},
      {std::string(kLogHead) + "\"today\",\"1\",\"1\",\"1\",\"1\"\r\n", ":2:"},
      {std::string(kLogHead) + "\"1/1/1969 04:12:05\",\"1\",\"1\",\"1\",\"1\"\r\n", "before 1970"},
      {"\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\a\\b\\c\",\"\\\\a\\b\\c\"\r\n", "two columns are"},
  };
  for (const auto& [table, expected] : cases) {
    const auto imported = import(table);
    EXPECT_NE(imported.code, kExitDone) << table;
    EXPECT_NE(imported.err.find(expected), std::string::npos) << imported.err;
    EXPECT_FALSE(std::filesystem::exists(file("new.mbr")));
  }
  const auto imported =
      import("\"(PDH-CSV 4.0)\",\"\\\\a\\b\\c\"\r\n\"11/27/2026 04:12:05\",\"1\"\r\n");
  EXPECT_EQ(imported.code, kExitDone);
  EXPECT_NE(imported.err.find("taken for UTC"), std::string::npos) << imported.err;
}

TEST_F(CliTableImport, RefusesWhatIsNoTable) {
  for (const std::string table : {"", "a,b,c\n"}) {
    const auto imported = import(table);
    EXPECT_EQ(imported.code, kExitUsage) << table;
    EXPECT_NE(imported.err.find("neither a recording nor a table"), std::string::npos);
  }
  EXPECT_EQ(import(kHeadings).code, kExitNo);
}

}  // namespace
}  // namespace meterbank::cli::table_import_test
