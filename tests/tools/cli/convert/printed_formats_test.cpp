// SPDX-License-Identifier: Apache-2.0
//
// `log convert` to the formats that get prints.
#include <cerrno>
#include <sstream>

#include "../../record/made_recording.hpp"
#include "../../record/made_shop.hpp"
#include "../cli_fixture.hpp"
#include "cli/session/exit_code.hpp"

namespace meterbank::cli::printed_formats_test {
namespace {

using record::MadeRecording;
using record::MadeShop;

class PrintedFormats : public CliTest {
 protected:
  [[nodiscard]] Outcome convert(const std::vector<std::string>& more) const {
    std::vector<std::string> words{"log", "convert", file("made.mbr")};
    words.insert(words.end(), more.begin(), more.end());
    return run_plainly(words);
  }
  // The shop was dead in the last two samples.
  void make_dead_shop() const {
    MadeShop made(1, 10);
    for (std::uint64_t second = 1; second < 6; ++second) {
      made.tick(second, second < 4 ? RowStatus::kFresh : RowStatus::kDead);
    }
    made.write(file("made.mbr"));
  }
};

TEST_F(PrintedFormats, AreWholeWhereAProviderEndedBeforeTheRecording) {
  make_dead_shop();
  const auto converted = convert({"-f", "csv", "orders/*"});
  EXPECT_EQ(converted.code, kExitDone) << converted.err;
  EXPECT_EQ(converted.err, "");
  EXPECT_NE(converted.out.find(",dead\r\n"), std::string::npos) << converted.out;
}

TEST_F(PrintedFormats, TellCollectdHowFarApartTheSamplesLie) {
  MadeRecording made({});
  made.ticks(0, 7);
  made.write(file("made.mbr"));
  const auto lines = convert({"-f", "collectd", "--every", "3s", "queues/eu/depth"}).lines();
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[0].find(" interval="), std::string::npos) << lines[0];
  EXPECT_NE(lines[1].find("\" interval=3.000 1700000003.000:"), std::string::npos) << lines[1];
  EXPECT_NE(lines[2].find("\" interval=3.000 1700000006.000:"), std::string::npos) << lines[2];
}

TEST_F(PrintedFormats, SayHowManyCountersHaveNoColumnInALog) {
  MadeRecording made({});
  made.tick(0);
  made.add_row("us");
  made.ticks(1, 4);
  made.write(file("made.mbr"));
  const auto converted = convert({"-f", "pdh-csv", "queues/*/depth"});
  EXPECT_EQ(converted.code, kExitDone);
  EXPECT_EQ(converted.err,
            "meterbank: 1 counter came after the first sample, whose counters are the columns; "
            "try: -f csv, or a later beginning\n");
}

TEST_F(PrintedFormats, EndQuietlyWhenTheReaderOfAPipeHasSeenEnough) {
  make_dead_shop();
  FlushTrap trap([] {
    errno = EPIPE;
    return -1;
  });
  std::ostream out(&trap);
  std::ostringstream err;
  const std::vector<std::string> arguments{"get",  "--log",      file("made.mbr"), "--from",
                                           "@0",   "-f",         "pdh-csv",        "orders/*",
                                           "--to", "@1700000004"};
  EXPECT_EQ(run(arguments, out, err), kExitDone);
  EXPECT_EQ(err.str(), "");
}

}  // namespace
}  // namespace meterbank::cli::printed_formats_test
