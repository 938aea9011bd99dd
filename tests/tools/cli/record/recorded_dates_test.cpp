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
              "begins at 2023-11-14 22:13:20");
  expect_said({"get", "--log", made_, "queues/eu/*", "--from", "@1800000000"},
              "ends at 2023-11-14 22:13:39");
  expect_said({"check", "--log", made_, "--stale", "10s"}, "was at 2023-11-14 22:13:39");
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
