// SPDX-License-Identifier: Apache-2.0
//
// The text logs themselves: what is written is read back, and what is no log is refused by name.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "meterbank/pdh_log/log_filter.hpp"
#include "meterbank/pdh_log/log_reader.hpp"

namespace meterbank {
namespace {

constexpr const char* kHeader = "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\vm\\Shop(a)\\Sold\"";

struct ReadLog {
  LogHeader header;
  std::vector<LogRecord> records;
};

Result<ReadLog> read_log(const std::string& text) {
  auto reader = LogReader::read(std::make_unique<std::istringstream>(text), "x.csv");
  if (!reader) return tl::make_unexpected(reader.error());
  ReadLog log{reader->header(), {}};
  for (LogRecord record;;) {
    const auto more = reader->next(record);
    if (!more) return tl::make_unexpected(more.error());
    if (!*more) return log;
    log.records.push_back(record);
  }
}

LogTime time_of(const std::string& text) { return parse_log_time(text).value(); }

TEST(PdhLogTime, ReadsWhatItPrints) {
  for (const char* text : {"11/21/2026 09:04:39.002", "01/01/1970 00:00:00.000",
                           "02/29/2024 23:59:59.999", "12/31/9998 12:00:00.500"}) {
    const auto time = parse_log_time(text);
    ASSERT_TRUE(time) << text;
    EXPECT_EQ(print_log_time(*time), text);
  }
}

TEST(PdhLogTime, TakesDatesWithoutLeadingNoughtsAndWithoutATime) {
  EXPECT_EQ(print_log_time(time_of("1/2/2026 3:04:05")), "01/02/2026 03:04:05.000");
  EXPECT_EQ(print_log_time(time_of("1/2/2026")), "01/02/2026 00:00:00.000");
}

TEST(PdhLogTime, RefusesDaysAndHoursThatDoNotExist) {
  for (const char* text : {"", "x", "2/30/2026", "13/1/2026", "0/1/2026", "2/29/2026", "1/1/26",
                           "1/1/2026 ", "1/1/2026 24:00:00", "1/1/2026 12:60:00", "1/1/2026 12:00",
                           "1/1/2026 12:00:00.5", "1/1/2026 12:00:00.0000", "1/1/2026 12:00:00 x",
                           "1/1/1600", "1/1/9999", "-1/1/2026", "1/1/2026T12:00:00"}) {
    EXPECT_FALSE(parse_log_time(text)) << text;
  }
}

TEST(PdhLog, NamesAreCleanedWhenTheyAreRead) {
  const auto log = read_log("\"(PDH-CSV 4.0) (\xFF)(0)\",\"\\\\vm\\S\\a\xFF\"\r\n");
  ASSERT_TRUE(log) << log.error().what;
  ASSERT_EQ(log->header.paths.size(), 1U);
  EXPECT_EQ(log->header.paths[0], "\\\\vm\\S\\a\\x{ff}");
  EXPECT_EQ(log->header.zone->name, "\\x{ff}");
  EXPECT_EQ(read_log(print_log_header(log->header))->header.paths, log->header.paths);
}

TEST(PdhLog, ANameThatWouldBeTooLongWhenItIsWrittenIsRefused) {
  const auto text = "\"(PDH-CSV 4.0)\",\"\\\\vm\\S\\" + std::string(3000, '\xFF') + "\"\r\n";
  const auto reader = LogReader::read(std::make_unique<std::istringstream>(text), "log");
  ASSERT_FALSE(reader);
  EXPECT_NE(reader.error().what.find("field-too-long"), std::string::npos) << reader.error().what;
}

TEST(PdhLog, ReadsBackWhatItWrites) {
  for (const auto format : {LogFormat::kCsv, LogFormat::kTsv}) {
    const LogHeader header{format,
                           LogZone{"Mitteleuropa (MEZ)", -60},
                           {R"(\\vm\Shop(a "quoted", comma)\Sold/sec)", "\\\\vm\\Memory\\% Used"}};
    const LogRecord first{time_of("11/21/2026 09:04:39.002"), {"", "1.5"}};
    const LogRecord second{time_of("11/21/2026 09:04:40.002"), {"7.4120356", "1e+22"}};
    const auto text = print_log_header(header) + print_log_record(format, first) +
                      print_log_record(format, second);

    const auto log = read_log(text);

    ASSERT_TRUE(log) << log.error().message();
    EXPECT_EQ(log->header.format, format);
    EXPECT_EQ(log->header.zone, header.zone);
    EXPECT_EQ(log->header.paths, header.paths);
    ASSERT_EQ(log->records.size(), 2U);
    EXPECT_EQ(log->records[0].time, first.time);
    EXPECT_EQ(log->records[0].values, first.values);
    EXPECT_EQ(log->records[1].values, second.values);
  }
}

TEST(PdhLog, WritesTheBytesOfTheWindowsForm) {
  const LogHeader header{LogFormat::kCsv, LogZone{"EST", 300}, {R"(\\vm\Shop(a)\Sold)"}};

  EXPECT_EQ(print_log_header(header), "\"(PDH-CSV 4.0) (EST)(300)\",\"\\\\vm\\Shop(a)\\Sold\"\r\n");
  EXPECT_EQ(print_log_record(LogFormat::kTsv, {time_of("11/21/2026 09:04:39.002"), {"", "2"}}),
            "\"11/21/2026 09:04:39.002\"\t\" \"\t\"2\"\r\n");
}

TEST(PdhLog, LineEndsAByteOrderMarkAndEmptyLinesAreNoMatter) {
  const std::string record = "\"11/21/2026 09:04:39.002\",\"17\"";
  for (const auto& text :
       {kHeader + std::string("\n") + record + "\n", kHeader + std::string("\r\n") + record,
        "\r\n" + std::string(kHeader) + "\r\n\r\n" + record + "\r\n\r\n",
        "\xEF\xBB\xBF" + std::string(kHeader) + "\r\n" + record + "\r\n"}) {
    const auto log = read_log(text);
    ASSERT_TRUE(log) << log.error().message();
    ASSERT_EQ(log->records.size(), 1U);
    EXPECT_EQ(log->records[0].values, std::vector<std::string>{"17"});
  }
}

TEST(PdhLog, AHeaderMayHaveNoZoneAndNoCounters) {
  const auto log = read_log("\"(PDH-TSV 4.0)\"\n\"11/21/2026 09:04:39.002\"\n");

  ASSERT_TRUE(log) << log.error().message();
  EXPECT_EQ(log->header.format, LogFormat::kTsv);
  EXPECT_FALSE(log->header.zone);
  EXPECT_EQ(log->records.size(), 1U);
}

struct Hostile {
  const char* name;
  std::string text;
  const char* error;  // begins the message
};

const std::vector<Hostile>& hostile_logs() {
  const std::string header = std::string(kHeader) + "\n";
  const std::string time = "\"11/21/2026 09:04:39.002\"";
  static const std::vector<Hostile> logs{
      {"empty", "", "x.csv:1:1: no-header"},
      {"prose", "time,value\n1,2\n", "x.csv:1:1: no-header"},
      {"no quotes", "(PDH-CSV 4.0) (UTC)(0)\n", "x.csv:1:1: no-header"},
      {"another version", "\"(PDH-CSV 5.0) (UTC)(0)\"\n", "x.csv:1:1: no-header"},
      {"half a zone", "\"(PDH-CSV 4.0) (UTC)\"\n", "x.csv:1:15: no-header"},
      {"a bias of years", "\"(PDH-CSV 4.0) (UTC)(999999999999)\"\n", "x.csv:1:15: no-header"},
      {"binary", std::string("MZ\0\0", 4), "x.csv:1:3: binary"},
      {"NUL later", header + time + std::string(",\"\0\"\n", 5), "x.csv:2:28: binary"},
      {"header cut off", "\"(PDH-CSV 4.0) (UTC)(0)\",\"\\\\vm", "x.csv:1:31: missing-quote"},
      {"wrong separator", "\"(PDH-CSV 4.0) (UTC)(0)\"\t\"x\"\n", "x.csv:1:25: missing-quote"},
      {"bare value", header + time + ",17\n", "x.csv:2:27: missing-quote"},
      {"record cut off", header + time + ",\"17", "x.csv:2:30: missing-quote"},
      {"text behind a quote", header + time + ",\"17\"x\n", "x.csv:2:31: missing-quote"},
      {"comma at the end", header + time + ",\"17\",\n", "x.csv:2:32: column-count"},
      {"too few", header + time + "\n", "x.csv:2:26: column-count"},
      {"too many", header + time + ",\"1\",\"2\"\n", "x.csv:2:31: column-count"},
      {"no time", header + "\"yesterday\",\"1\"\n", "x.csv:2:2: bad-time"},
      {"no such day", header + "\"02/30/2026 00:00:00.000\",\"1\"\n", "x.csv:2:2: bad-time"},
      {"word", header + time + ",\"many\"\n", "x.csv:2:28: bad-value"},
      {"nan", header + time + ",\"nan\"\n", "x.csv:2:28: bad-value"},
      {"infinity", header + time + ",\"-inf\"\n", "x.csv:2:28: bad-value"},
      {"out of range", header + time + ",\"1e999\"\n", "x.csv:2:28: bad-value"},
      {"long value", header + time + ",\"" + std::string(65, '1') + "\"\n",
       "x.csv:2:28: field-too-long"},
      {"long path", "\"(PDH-CSV 4.0)\",\"" + std::string(kLogPathBytesMax + 1, 'x') + "\"\n",
       "x.csv:1:18: field-too-long"},
      {"long zone", "\"(PDH-CSV 4.0) (" + std::string(kLogZoneBytesMax + 1, 'x') + ")(0)\"\n",
       "x.csv:1:15: field-too-long"},
      {"long line", std::string(kLogLineBytesMax + 1, '"'), "x.csv:1:16777217: line-too-long"}};
  return logs;
}

TEST(PdhLog, RefusesHostileFilesByNameLineAndColumn) {
  for (const auto& hostile : hostile_logs()) {
    const auto log = read_log(hostile.text);
    ASSERT_FALSE(log) << hostile.name;
    EXPECT_EQ(log.error().what.substr(0, std::string(hostile.error).size()), hostile.error)
        << hostile.name;
    EXPECT_LT(log.error().what.size(), 500U) << hostile.name;
  }
}

TEST(PdhLog, HasABoundForColumns) {
  std::string text = "\"(PDH-CSV 4.0)\"";
  for (std::size_t i = 0; i <= kLogColumnsMax; ++i) text += ",\"x\"";

  const auto log = read_log(text);

  ASSERT_FALSE(log);
  EXPECT_NE(log.error().what.find("too-many-columns"), std::string::npos) << log.error().what;
}

TEST(PdhLog, EveryPrefixOfALogEndsWithRecordsOrAFault) {
  const std::string text = std::string(kHeader) + "\r\n\"11/21/2026 09:04:39.002\",\"17\"\r\n";
  for (std::size_t length = 0; length < text.size(); ++length) {
    const auto log = read_log(text.substr(0, length));
    if (log) {
      EXPECT_LE(log->records.size(), 1U) << length;
    } else {
      EXPECT_EQ(log.error().what.substr(0, 6), "x.csv:") << length;
    }
  }
}

// ---- Choosing columns ----

const std::vector<std::string>& columns() {
  static const std::vector<std::string> paths{
      R"(\\vm\Shop Sales(fruit)\Stock)", R"(\\vm\Shop Sales(fruit#1)\Stock)",
      R"(\\vm\Shop Sales(bread)\Stock)", R"(\\vm\Shop Sales(bread)\Sold/sec)",
      R"(\\vm\Memory\Available Bytes)",  "not a path"};
  return paths;
}

struct Choice {
  const char* pattern;
  std::vector<std::size_t> expected;
};

TEST(PdhLogFilter, UnderstandsPathsAsEverywhereElse) {
  const std::vector<Choice> choices{{R"(\\vm\Shop Sales(fruit)\Stock)", {0}},
                                    {R"(\shop sales(FRUIT)\stock)", {0}},
                                    {R"(\Shop Sales(fruit#1)\Stock)", {1}},
                                    {R"(\Shop Sales(fruit#*)\Stock)", {0, 1}},
                                    {R"(\Shop Sales(*)\Stock)", {0, 1, 2}},
                                    {R"(\Shop Sales(b*)\*)", {2, 3}},
                                    {R"(\*\Available Bytes)", {4}},
                                    {R"(\\v?\Memory\*)", {4}},
                                    {"Shop Sales/bread/Stock", {2}},
                                    {"Shop Sales/Stock", {0, 1, 2}},
                                    {"Shop Sales/bread", {2, 3}},
                                    {"not a path", {5}}};
  for (const auto& choice : choices) {
    const auto chosen = choose_log_columns(columns(), {choice.pattern});
    ASSERT_TRUE(chosen) << choice.pattern;
    EXPECT_EQ(chosen->columns, choice.expected) << choice.pattern;
    EXPECT_TRUE(chosen->unmatched.empty()) << choice.pattern;
  }
}

TEST(PdhLogFilter, NamesWhatMatchesNothingAndKeepsTheOrderOfTheLog) {
  const auto chosen = choose_log_columns(
      columns(), {R"(\Memory\*)", R"(\Cache\*)", R"(\\other\Memory\*)", R"(\Shop Sales(bread)\*)"});

  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->columns, (std::vector<std::size_t>{2, 3, 4}));
  EXPECT_EQ(chosen->unmatched, (std::vector<std::string>{R"(\Cache\*)", R"(\\other\Memory\*)"}));
}

TEST(PdhLogFilter, IsAnErrorForAPatternThatIsNoPath) {
  EXPECT_FALSE(choose_log_columns(columns(), {R"(\Shop Sales()"}));
}

}  // namespace
}  // namespace meterbank
