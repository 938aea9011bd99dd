// SPDX-License-Identifier: Apache-2.0
//
// `watch --batch`: screens as text and as objects.
#include <cstdlib>

#include "../cli_json.hpp"
#include "../distribution/kitchen_fixture.hpp"
#include "cli/session/exit_code.hpp"

namespace meterbank::cli {
namespace {

class WatchBatch : public KitchenTest {
 protected:
  void expect_usage(std::vector<std::string> options, const std::string& what) const {
    options.insert(options.begin(), "watch");
    const auto outcome = meterbank(options);
    EXPECT_EQ(outcome.code, kExitUsage) << what;
    EXPECT_EQ(outcome.out, "");
    EXPECT_NE(outcome.err.find(what), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("; try: "), std::string::npos) << outcome.err;
  }
};

TEST_F(WatchBatch, PrintsAScreenOfTheSizeThatIsAskedFor) {
  ASSERT_EQ(::setenv("COLUMNS", "70", 1), 0);
  ASSERT_EQ(::setenv("LINES", "20", 1), 0);

  const auto outcome = meterbank({"watch", "-b", "-n", "1", "-i", "10ms"});

  ::unsetenv("COLUMNS");
  ::unsetenv("LINES");
  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_NE(outcome.out.find("kitchen@"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("dishes"), std::string::npos) << outcome.out;
  EXPECT_LE(outcome.lines().size(), 21U);
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos);
}

TEST_F(WatchBatch, PrintsAnObjectAMomentForPrograms) {
  const auto outcome = meterbank({"watch", "-b", "-n", "3", "-i", "10ms", "-f", "json", "--place",
                                  "screen=instance&set=dishes&instance=soup&counter=balance"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  const auto lines = outcome.lines();
  ASSERT_EQ(lines.size(), 3U);
  double last = 0;
  for (const auto& line : lines) {
    const auto picture = parse_json(line);
    EXPECT_GT(picture["time"].get<double>(), last);
    last = picture["time"];
    EXPECT_EQ(picture["sections"][0]["title"], "dishes");
    EXPECT_EQ(picture["plots"][0]["title"], "balance");
  }
}

TEST_F(WatchBatch, OfARecordingPrintsOneMoment) {
  const auto log = file("kitchen.mbr");
  ASSERT_EQ(meterbank({"record", "-o", log, "-i", "20ms", "--for", "100ms"}).code, kExitDone);

  const auto outcome = meterbank({"watch", "-b", "--log", log, "--place", "screen=set&set=dishes"});

  ASSERT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_NE(outcome.out.find("soup"), std::string::npos) << outcome.out;
}

TEST_F(WatchBatch, RefusesWhatScreensDoNotDo) {
  expect_usage({"--batch", "-p", "75"}, "--batch and --percentiles");
  expect_usage({"--place", "screen=set", "-p", "75"}, "--place and --percentiles");
  expect_usage({"--batch", "-o", "file"}, "--batch and --output");
  expect_usage({"--batch", "-f", "csv"}, "--batch: not in this format");
  expect_usage({"--place", "screen=set", "-f", "json"}, "--place: not in this format");
  expect_usage({"--place", "screen=attic"}, "--place: screen=attic");
  expect_usage({"--ring", "a", "--log", "b"}, "--ring and --log");
}

TEST_F(WatchBatch, OptionsOfRowsStillMeanRows) {
  serve_a_hundred();

  const auto outcome = meterbank({"watch", "-n", "1", "-p", "75", "-f", "plain"});

  EXPECT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_NE(outcome.out.find("latency.p75"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace meterbank::cli
