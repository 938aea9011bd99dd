// SPDX-License-Identifier: Apache-2.0
//
// `log convert -f sqlite`, as Python's module reads it.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "../../../support/file_size_limit.hpp"
#include "../../../support/most_memory.hpp"
#include "../../../support/sanitizers.hpp"
#include "../../record/made_recording.hpp"
#include "../../record/made_shop.hpp"
#include "../distribution/kitchen_fixture.hpp"
#include "cli/session/exit_code.hpp"

namespace meterbank::cli::sqlite_test {
namespace {

using record::MadeRecording;
using record::MadeShop;

class CliSqlite : public KitchenTest {
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

TEST_F(CliSqlite, KeepsWhatARowIsOfAndWhatItCouldNotSay) {
  MadeShop made(1, 2);
  for (std::uint64_t second = 0; second < 6; ++second) {
    if (second == 3) made.begin_orders();
    made.tick(second, second == 2 ? RowStatus::kBusy : RowStatus::kFresh);
  }
  made.write(file("made.mbr"));
  ASSERT_EQ(convert().code, kExitDone) << convert().err;
  EXPECT_EQ(ask("SELECT name, pid, uid, container, pod, unit FROM provider"),
            "'shop' 42 " + std::to_string(::getuid()) + " '" + std::string(64, 'c') +
                "' None 'shop.service'\n");
  EXPECT_EQ(values_of("balance"), "-7\n-8\n-10\n-11\n-12\n");
  EXPECT_EQ(ask("SELECT value.value, base FROM value JOIN counter ON counter.id = value.counter "
                "WHERE counter.symbol = 'count' AND base IS NOT NULL ORDER BY sample"),
            "3 100\n4 101\n6 103\n7 104\n8 105\n");
  EXPECT_EQ(ask("SELECT sample, name, status FROM status JOIN instance ON instance.id = instance"),
            "3 'of 1' 'busy'\n");
  const auto shown = meterbank({"get", "--log", file("made.mbr")});
  EXPECT_NE(shown.out.find("_Total"), std::string::npos) << shown.out << shown.err;
  // A total is stored nowhere, and a slower set has no values at the samples between its own.
  EXPECT_EQ(ask("SELECT instance.name, count(*), group_concat(DISTINCT sample) FROM value JOIN "
                "instance ON instance.id = instance GROUP BY instance.id ORDER BY 1"),
            "'bread' 6 '1,3,5'\n'fruit' 6 '1,3,5'\n'of 1' 4 '1,2'\n'of 2' 6 '4,5,6'\n");
  EXPECT_EQ(ask("SELECT count(*), count(DISTINCT counterset || symbol) FROM counter"), "4 4\n");
}

TEST_F(CliSqlite, HasNoRatesOfADeadProvider) {
  MadeShop made(1, 10);
  for (std::uint64_t second = 1; second < 7; ++second) {
    made.tick(second, second < 4 ? RowStatus::kFresh : RowStatus::kDead,
              static_cast<std::int64_t>(10 * second));
  }
  made.write(file("made.mbr"));
  ASSERT_EQ(convert({"orders/*"}).code, kExitDone);
  EXPECT_EQ(ask("SELECT count(*), count(rate) FROM rate WHERE counter = 'balance'"), "5 2\n");
}

TEST_F(CliSqlite, KeepsDistributionsAndTexts) {
  serve_a_hundred();
  soup_.recorder(Dish::kLatency).record(0.25);
  soup_.recorder(Dish::kLatency).record(5000);
  soup_.text(Dish::kState).set("open \"late\"");
  ASSERT_EQ(meterbank({"record", "-o", file("made.mbr"), "-n", "2", "-i", "10ms"}).code, kExitDone);
  ASSERT_EQ(convert({"dishes/*"}).code, kExitDone);
  EXPECT_EQ(ask("SELECT DISTINCT sum, least, most, below, above, refused FROM distribution"),
            "10050.25 0.25 5000.0 1 1 0\n");
  EXPECT_EQ(ask("SELECT DISTINCT value FROM text"), "'open \"late\"'\n");
  // Four buckets double: (64, 76.1] holds 65 to 76, and (1, 1.19] nothing.
  EXPECT_EQ(ask("SELECT round(high, 1), count FROM bucket WHERE low = 64 AND sample = 1"),
            "76.1 12\n");
  EXPECT_EQ(ask("SELECT count(*) FROM bucket WHERE low = 1"), "0\n");
  EXPECT_EQ(ask("SELECT sum(count) FROM bucket WHERE sample = 2"), "100\n");
}

TEST_F(CliSqlite, OfNoCountersHasTheSamples) {
  provider_.reset();
  ASSERT_EQ(meterbank({"record", "-o", file("made.mbr"), "-n", "3", "-i", "10ms"}).code, kExitDone);
  ASSERT_EQ(convert().code, kExitDone);
  EXPECT_EQ(ask("SELECT count(*) FROM sample"), "3\n");
  EXPECT_EQ(ask("SELECT count(*) FROM value"), "0\n");
}

TEST_F(CliSqlite, IsNotMadeOfARangeWithoutSamples) {
  MadeRecording made({});
  made.ticks(0, 9);
  made.write(file("made.mbr"));
  for (const std::string& target : {file("made.db"), file("made.pftrace")}) {
    const char* const format = target.ends_with("db") ? "sqlite" : "perfetto";
    const auto none = run_plainly({"log", "convert", file("made.mbr"), "-f", format, "-o", target,
                                   "--from", "@1700000003.2", "--to", "@1700000003.4"});
    EXPECT_FALSE(std::filesystem::exists(target)) << format;
    if (none.err.find("without protozero") != std::string::npos) continue;
    EXPECT_EQ(none.code, kExitNo) << none.err;
    EXPECT_NE(none.err.find("has no sample of all these counters in this range"), std::string::npos)
        << none.err;
  }
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
      MadeShop made(1, 2);
      for (std::uint64_t second = 0; second < seconds; ++second) {
        made.begin_orders();
        made.tick(second);
      }
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
