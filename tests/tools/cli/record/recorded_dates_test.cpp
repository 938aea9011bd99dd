// SPDX-License-Identifier: Apache-2.0
//
// Times of a recording of another day have their date, wherever people read them.
#include <string>

#include "../../record/made_recording.hpp"
#include "../cli_fixture.hpp"
#include "../logs/log_fixture.hpp"
#include "cli/session/exit_code.hpp"

namespace meterbank::cli::recorded_dates_test {
namespace {

class RecordedDates : public CliTest {
 protected:
  RecordedDates() {
    record::MadeRecording made({});
    made.ticks(0, 20);
    made.write(file("made.mbr"));
  }
  static void expect_said(const std::vector<std::string>& words, const std::string& text) {
    const auto outcome = run_plainly(words);
    EXPECT_NE((outcome.out + outcome.err).find(text), std::string::npos)
        << outcome.out << outcome.err;
  }

  const std::string made_ = file("made.mbr");
  const ScopedTimeZone zone_{"UTC"};
};

TEST_F(RecordedDates, AreInTables) {
  expect_said({"get", "--log", made_, "queues/eu/*", "-f", "table", "--from", "@0"},
              "2023-11-14 22:13:20  ");
  expect_said({"get", "--log", made_, "queues/eu/*", "-f", "table"}, "2023-11-14 22:13:39  ");
}

TEST_F(RecordedDates, AreInWhatIsSaidOfARecording) {
  expect_said({"log", "info", made_, "-f", "table"}, "2023-11-14 22:13:20  2023-11-14 22:13:39");
  expect_said({"log", "save", made_, "-o", file("part.mbr")},
              "from 2023-11-14 22:13:20 to 2023-11-14 22:13:39");
  expect_said({"diff", made_, made_}, "2023-11-14 22:13:20 to 2023-11-14 22:13:39");
  expect_said({"check", "--log", made_, "--from", "@0", "queues/eu/count >= 0"},
              "first at 2023-11-14 22:13:2");
}

TEST_F(RecordedDates, AreInWhatIsSaidOfWhatIsNotThere) {
  expect_said({"get", "--log", made_, "queues/eu/*", "--at", "@1600000000"},
              "begins at 2023-11-14 22:13:20, later than 2020-09-13 12:26:40");
  expect_said({"get", "--log", made_, "queues/eu/*", "--from", "@1800000000"},
              "ends at 2023-11-14 22:13:39, earlier than 2027-01-15 08:00:00");
  // The last 23:59 at or before the end is that of the day before.
  expect_said({"get", "--log", made_, "queues/eu/*", "--at", "23:59"},
              "begins at 2023-11-14 22:13:20, later than 2023-11-13 23:59:00");
  expect_said({"check", "--log", made_, "--stale", "10s"}, "was at 2023-11-14 22:13:39");
}

TEST_F(RecordedDates, ARangeMayEndAtATimeAfterTheRecordingHasEnded) {
  const std::vector<std::string> get{"get", "--log", made_,  "queues/eu/count",
                                     "-f",  "csv",   "--raw"};
  const auto with = [&](const std::string& from, const std::string& to) {
    auto words = get;
    words.insert(words.end(), {"--from", from, "--to", to});
    return run_plainly(words);
  };
  EXPECT_EQ(with("22:13:35", "22:14").out, with("22:13:35", "22:13:39").out);
  EXPECT_EQ(with("22:13:35", "22:14").lines().size(), 1 + 5U);
  for (const char* to : {"22:13:25", "2023-11-13 22:14"}) {
    const auto refused = with("22:13:35", to);
    EXPECT_EQ(refused.code, kExitUsage) << to;
    EXPECT_NE(refused.err.find("the range ends before it begins"), std::string::npos) << to;
  }
}

TEST_F(RecordedDates, AreLeftOutToday) {
  open_shop();
  ASSERT_EQ(meterbank({"record", "-o", file("today.mbr"), "-n", "2", "-i", "1ms"}).code, kExitDone);
  const auto shown =
      run_plainly({"get", "--log", file("today.mbr"), "shop_sales/fruit/stock", "-f", "table"});
  EXPECT_EQ(with_nines(shown.lines().at(1)).find("99:99:99  "), 0U) << shown.out;
}

}  // namespace
}  // namespace meterbank::cli::recorded_dates_test
