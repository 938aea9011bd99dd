// SPDX-License-Identifier: Apache-2.0
//
// `log convert -f sqlite`, as Python's module reads it.
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "../../../support/file_size_limit.hpp"
#include "../../../support/most_memory.hpp"
#include "../../../support/sanitizers.hpp"
#include "../../record/made_recording.hpp"
#include "../cli_fixture.hpp"
#include "cli/session/exit_code.hpp"

namespace meterbank::cli::sqlite_test {
namespace {

using record::MadeRecording;

class CliSqlite : public CliTest {
 protected:
  [[nodiscard]] Outcome convert(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"log",    "convert", file("made.mbr"), "-f",
                                   "sqlite", "-o",      file("made.db")};
    words.insert(words.end(), more.begin(), more.end());
    return run_plainly(words);
  }
  // The rows of an answer as Python prints them.
  [[nodiscard]] std::string ask(const std::string& question) const {
    std::ofstream(file("ask.py")) << "import sqlite3\nfor row in sqlite3.connect('"
                                  << file("made.db") << "').execute(\"\"\"" << question
                                  << "\"\"\"): print(*map(repr, row))\n";
    std::FILE* const answer = ::popen(("/usr/bin/python3 -B " + file("ask.py")).c_str(), "re");
    std::string text;
    std::array<char, 4096> piece{};
    while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), answer)) {
      text.append(piece.data(), count);
    }
    EXPECT_EQ(::pclose(answer), 0) << question;
    return text;
  }
  [[nodiscard]] std::string values_of(const std::string& counter) const {
    return ask("SELECT value FROM reading WHERE counter = '" + counter + "' ORDER BY time_ns");
  }
};

TEST_F(CliSqlite, KeepsOddNumbers) {
  MadeRecording made({});
  made.ticks(2, 9);
  made.write(file("made.mbr"));
  ASSERT_EQ(convert().code, kExitDone) << convert().err;
  EXPECT_EQ(values_of("count"), "2\n3\n4\n5\n6\n7\n8\n");
  // NaN is NULL, and what is beyond 2^63 a text that SQLite computes with.
  EXPECT_EQ(values_of("load"), "0.5\nNone\ninf\n-1e+300\n1.5\n1.75\n2.0\n");
  EXPECT_EQ(values_of("depth"), "14\n21\n28\n35\n42\n'18446744073709551615'\n56\n");
  EXPECT_EQ(ask("SELECT count(*) FROM sample"), "7\n");
}

TEST_F(CliSqlite, KeepsNamesAsTheyAreAlsoOfRowsThatComeLater) {
  MadeRecording made({});
  made.ticks(0, 3);
  made.add_row("late 'one'\n\x1b[31m");
  made.ticks(3, 6);
  made.write(file("made.mbr"));
  ASSERT_EQ(convert().code, kExitDone);
  EXPECT_EQ(ask("SELECT instance.name, count(*) FROM value JOIN instance ON instance.id = "
                "value.instance JOIN counter ON counter.id = value.counter WHERE symbol = 'count' "
                "GROUP BY 1"),
            "'eu' 6\n\"late 'one'\\n\\x1b[31m\" 3\n");
}

TEST_F(CliSqlite, AnswersWhatARateWasBetweenTwoTimes) {
  MadeRecording made({});
  made.ticks(0, 30);
  made.write(file("made.mbr"));
  ASSERT_EQ(convert().code, kExitDone);
  EXPECT_EQ(
      ask("SELECT count(*), min(rate), max(rate), min(time) FROM rate WHERE counter = 'count' "
          "AND time BETWEEN '2023-11-14T22:13:30' AND '2023-11-14T22:13:40'"),
      "10 1.0 1.0 '2023-11-14T22:13:30.000Z'\n");
}

TEST_F(CliSqlite, OfNoCountersHasTheSamples) {
  ASSERT_EQ(meterbank({"record", "-o", file("made.mbr"), "-n", "3", "-i", "10ms"}).code, kExitDone);
  ASSERT_EQ(convert().code, kExitDone);
  EXPECT_EQ(ask("SELECT count(*) FROM sample"), "3\n");
  EXPECT_EQ(ask("SELECT count(*) FROM value"), "0\n");
}

TEST_F(CliSqlite, LeavesNothingOnAFullDiskAndReplacesNothing) {
  MadeRecording made({});
  made.ticks(0, 3000);
  made.write(file("made.mbr"));
  {
    const test::FileSizeLimit full(90'000);
    const auto outcome = convert();
    EXPECT_EQ(outcome.code, kExitEnvironment);
    EXPECT_NE(outcome.err.find("cannot write"), std::string::npos) << outcome.err;
  }
  for (const auto& one : std::filesystem::directory_iterator(directory_)) {
    EXPECT_EQ(one.path().string().find("made.db"), std::string::npos) << one.path();
  }
  EXPECT_EQ(convert({"queues/*/count"}).code, kExitDone);
  EXPECT_EQ(convert().code, kExitEnvironment);
  EXPECT_EQ(run_plainly({"log", "convert", file("made.mbr"), "-f", "sqlite"}).code, kExitUsage);
}

TEST_F(CliSqlite, TakesNoMoreMemoryForALongerRecording) {
  if (test::kHasSanitizer) GTEST_SKIP() << "a sanitizer keeps memory that was freed";
  const auto most_kib_for = [&](std::uint64_t seconds) {
    {
      MadeRecording made({});
      made.ticks(0, seconds);
      made.write(file("made.mbr"));
    }
    std::filesystem::remove(file("made.db"));
    return test::most_kib_of([&] { return convert().code; });
  };
  // By then SQLite has the 2 MB of pages that it keeps.
  const long first = most_kib_for(20'000);
  EXPECT_LT(most_kib_for(60'000), first + 2 * 1024);
}

}  // namespace
}  // namespace meterbank::cli::sqlite_test
