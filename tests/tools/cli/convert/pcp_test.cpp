// SPDX-License-Identifier: Apache-2.0
//
// `log convert -f pcp`, as PCP's own library reads it.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "../../../support/file_size_limit.hpp"
#include "../../record/made_recording.hpp"
#include "../cli_fixture.hpp"
#include "cli/session/exit_code.hpp"

namespace meterbank::cli::pcp_test {
namespace {

using record::MadeRecording;

class CliPcp : public CliTest {
 protected:
  void SetUp() override {
    CliTest::SetUp();
    const bool has_library = std::filesystem::exists("/usr/lib/libpcp_import.so.1") &&
                             std::filesystem::exists("/usr/lib/python3/dist-packages/pcp/pmapi.py");
    if (!has_library) {
      GTEST_SKIP() << "needs the packages libpcp-import1 and python3-pcp";
    }
  }
  [[nodiscard]] Outcome convert(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"log", "convert", file("made.mbr"), "-f",
                                   "pcp", "-o",      file("made")};
    words.insert(words.end(), more.begin(), more.end());
    return run_plainly(words);
  }
  // What tests/tools/cli/convert/read_archive.py prints.
  [[nodiscard]] std::string read(const std::string& more = "") const {
    const std::string command = "/usr/bin/python3 -B " METERBANK_CONVERT_TESTS "/read_archive.py " +
                                file("made") + more + " 2>&1";
    std::FILE* const answer = ::popen(command.c_str(), "re");
    std::string text;
    std::array<char, 4096> piece{};
    while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), answer)) {
      text.append(piece.data(), count);
    }
    EXPECT_EQ(::pclose(answer), 0) << text;
    return text;
  }
  // The lines with this in them, without their times.
  [[nodiscard]] std::string lines_of(const std::string& part) const {
    std::istringstream text(read());
    std::string found;
    for (std::string line; std::getline(text, line);) {
      if (line.find(part) == std::string::npos) continue;
      found += line.substr(line.find(' ') + 1) + '\n';
    }
    return found;
  }
  [[nodiscard]] std::size_t files_made() const {
    std::size_t count = 0;
    for (const auto& one : std::filesystem::directory_iterator(directory_)) {
      const std::string name = one.path().filename().string();
      if (name.starts_with("made") && name != "made.mbr") ++count;
    }
    return count;
  }
};

TEST_F(CliPcp, KeepsStoredValuesAndTheirTimes) {
  MadeRecording made({});
  made.ticks(2, 9);
  made.write(file("made.mbr"));
  ASSERT_EQ(convert().code, kExitDone);
  const auto all = [](const std::string& metric, const std::vector<std::string>& values) {
    std::string lines;
    for (const auto& value : values) lines += metric + " 'shop@uid1000/eu' " + value + '\n';
    return lines;
  };
  EXPECT_EQ(lines_of(".count "),
            all("meterbank.queues.count", {"2", "3", "4", "5", "6", "7", "8"}));
  EXPECT_EQ(lines_of(".depth "), all("meterbank.queues.depth",
                                     {"14", "21", "28", "35", "42", "18446744073709551615", "56"}));
  EXPECT_EQ(lines_of(".load "),
            all("meterbank.queues.load", {"0.5", "nan", "inf", "-1e+300", "1.5", "1.75", "2.0"}));
  EXPECT_EQ(lines_of(".uptime_start_time "),
            all("meterbank.queues.uptime_start_time", std::vector<std::string>(7, "1699999995.0")));
  EXPECT_EQ(read().substr(0, 17), "1700000002000000 ");
}

TEST_F(CliPcp, HasTheMetricsOfTheAgent) {
  MadeRecording made({});
  made.ticks(0, 3);
  made.write(file("made.mbr"));
  ASSERT_EQ(convert().code, kExitDone);
  // Name, identifier, type, semantics, units, domain, help; 1 is a counter, 3 a level, 4 a fact.
  EXPECT_EQ(read(" metrics"),
            "'meterbank.queues.count' 2008594130 3 1 'count' 2007026469 'count'\n"
            "'meterbank.queues.depth' 2005756328 3 3 '' 2007026469 'depth'\n"
            "'meterbank.queues.load' 2007196677 5 3 '' 2007026469 'load'\n"
            "'meterbank.queues.uptime_start_time' 2005219399 5 4 'sec' 2007026469 'uptime'\n");
}

TEST_F(CliPcp, HasRowsThatComeLaterUnderNamesThatPcpTakes) {
  MadeRecording made({});
  made.ticks(0, 3);
  made.add_row("late 'one'\n\x1b[31m");
  made.add_row("late 'one'");
  made.ticks(3, 6);
  made.write(file("made.mbr"));
  ASSERT_EQ(convert().code, kExitDone);
  const std::string lines = lines_of(".count ");
  // A space is '_'. What is hidden is U+FFFD, which PCP's module for Python leaves out.
  EXPECT_NE(lines.find("meterbank.queues.count \"shop@uid1000/late_'one'\" 3\n"), std::string::npos)
      << lines;
  EXPECT_NE(lines.find("meterbank.queues.count \"shop@uid1000/late_'one'[31m\" 5\n"),
            std::string::npos)
      << lines;
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 12);
}

TEST_F(CliPcp, LeavesOutSamplesOfOneMicrosecondAndSaysSo) {
  MadeRecording made({});
  made.ticks(0, 3);
  made.tick(2, 500);
  made.tick(2, 900);
  made.ticks(3, 5);
  made.write(file("made.mbr"));
  const auto outcome = convert({"queues/*/count"});
  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_NE(outcome.err.find("left out 2 samples less than a microsecond after the one before"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("5 values of 5 samples in "), std::string::npos) << outcome.err;
}

TEST_F(CliPcp, MarksWhereSamplesAreMissing) {
  MadeRecording made({});
  made.ticks(0, 3);
  made.gap(2, 10);
  made.ticks(10, 12);
  made.write(file("made.mbr"));
  ASSERT_EQ(convert({"queues/*/count"}).code, kExitDone);
  const std::string text = read();
  EXPECT_LT(text.find("1700000002000000 "), text.find("<mark>"));
  EXPECT_LT(text.find("<mark>"), text.find("1700000010000000 "));
}

TEST_F(CliPcp, HasValuesAtTheMomentsAtWhichTheyWereSampled) {
  MadeRecording often({}), seldom({.recorder = 2, .set = "slow"});
  often.ticks(0, 7);
  for (const std::uint64_t second : {0U, 3U, 6U}) seldom.tick(second);
  often.write(file("often.mbr"));
  seldom.write(file("seldom.mbr"));
  ASSERT_EQ(
      run_plainly({"log", "merge", file("often.mbr"), file("seldom.mbr"), "-o", file("made.mbr")})
          .code,
      kExitDone);
  ASSERT_EQ(convert().code, kExitDone);
  const auto count_of = [&](const std::string& metric) {
    const std::string lines = lines_of(metric);
    return std::count(lines.begin(), lines.end(), '\n');
  };
  EXPECT_EQ(count_of("meterbank.queues.count "), 7);
  EXPECT_EQ(count_of("meterbank.slow.count "), 3);
}

TEST_F(CliPcp, OfNoCountersIsNoArchive) {
  ASSERT_EQ(meterbank({"record", "-o", file("made.mbr"), "-n", "3", "-i", "10ms"}).code, kExitDone);
  const auto outcome = convert();
  EXPECT_EQ(outcome.code, kExitNo);
  EXPECT_NE(outcome.err.find("nothing of these counters was recorded"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(files_made(), 0U);
}

TEST_F(CliPcp, RefusesSeveralHosts) {
  MadeRecording one({}), other({.host = "web2", .boot = std::string(32, '2'), .recorder = 2});
  one.ticks(0, 3);
  other.ticks(0, 3);
  one.write(file("one.mbr"));
  other.write(file("other.mbr"));
  ASSERT_EQ(
      run_plainly({"log", "merge", file("one.mbr"), file("other.mbr"), "-o", file("made.mbr")})
          .code,
      kExitDone);
  const auto refused = convert();
  EXPECT_EQ(refused.code, kExitUsage);
  EXPECT_NE(refused.err.find("web1 and web2"), std::string::npos) << refused.err;
  EXPECT_EQ(files_made(), 0U);
}

TEST_F(CliPcp, LeavesNothingOnAFullDiskAndReplacesNothing) {
  MadeRecording made({});
  made.ticks(0, 3000);
  made.write(file("made.mbr"));
  // Each of the three files may be the one that has no room.
  for (const rlim_t bytes : {100UL, 1000UL, 10000UL, 100000UL}) {
    SCOPED_TRACE(bytes);
    const test::FileSizeLimit full(bytes);
    const auto outcome = convert();
    EXPECT_EQ(outcome.code, kExitEnvironment);
    EXPECT_NE(outcome.err.find("cannot write"), std::string::npos) << outcome.err;
    EXPECT_EQ(files_made(), 0U);
  }
  EXPECT_EQ(convert({"queues/*/count"}).code, kExitDone);
  EXPECT_EQ(files_made(), 3U);
  EXPECT_EQ(convert().code, kExitEnvironment);
  EXPECT_EQ(files_made(), 3U);
  std::filesystem::remove(file("made.0"));
  std::filesystem::remove(file("made.meta"));
  EXPECT_EQ(convert().code, kExitEnvironment);
  EXPECT_EQ(files_made(), 1U);
  EXPECT_EQ(run_plainly({"log", "convert", file("made.mbr"), "-f", "pcp"}).code, kExitUsage);
}

}  // namespace
}  // namespace meterbank::cli::pcp_test
