// SPDX-License-Identifier: Apache-2.0
//
// A recording whose counters were sampled at two rates, as the command line shows it.
#include <string>

#include "../cli_fixture.hpp"
#include "cli/session/exit_code.hpp"

namespace meterbank::cli::recorded_rates_test {
namespace {

class RecordedRates : public CliTest {
 protected:
  // The bakery is sampled several times between two samples of the shop.
  void record() {
    open_shop();
    open_bakery();
    const auto recorded = meterbank({"record", "-o", file("two.mbr"), "-i", "200ms", "--rate",
                                     "bakery/*=20ms", "--for", "700ms", "-q"});
    ASSERT_EQ(recorded.code, kExitDone) << recorded.err;
  }
  [[nodiscard]] Outcome get(const std::string& path) const {
    return run_plainly(
        {"get", path, "--log", file("two.mbr"), "--from", "@0", "--raw", "-f", "jsonl"});
  }
};

constexpr const char* kRemedy = "try: the paths of one rate";

TEST_F(RecordedRates, SaysHowManySamplesHaveSomeCountersOnly) {
  record();
  const auto both = get("*/*/*");
  ASSERT_EQ(both.code, kExitDone) << both.err;
  EXPECT_NE(both.err.find("left out "), std::string::npos) << both.err;
  EXPECT_NE(both.err.find(kRemedy), std::string::npos) << both.err;
  EXPECT_LT(both.lines().size(), get("bakery/*/*").lines().size());
}

TEST_F(RecordedRates, LeaveOutNothingThatHasNoneOfTheCounters) {
  record();
  for (const char* const path : {"bakery/*/*", "shop_sales/*/*"}) {
    const auto one = get(path);
    ASSERT_EQ(one.code, kExitDone) << one.err;
    EXPECT_EQ(one.err, "") << path;
    EXPECT_FALSE(one.out.empty()) << path;
  }
}

TEST_F(RecordedRates, ArePartOfWhatACutSays) {
  record();
  const auto cut =
      run_plainly({"log", "cut", file("two.mbr"), "-o", file("part.mbr"), "--from", "@0"});
  ASSERT_EQ(cut.code, kExitDone) << cut.err;
  EXPECT_NE(cut.err.find(kRemedy), std::string::npos) << cut.err;
}

TEST_F(RecordedRates, HaveNoRowsOfSetsThatWereNotRecorded) {
  open_shop();
  open_bakery();
  const auto recorded = meterbank(
      {"record", "-o", file("one.mbr"), "-i", "50ms", "--for", "200ms", "-q", "bakery/*/*"});
  ASSERT_EQ(recorded.code, kExitDone) << recorded.err;
  const auto others = run_plainly({"get", "shop_sales/*/*", "--log", file("one.mbr"), "--raw"});
  EXPECT_EQ(others.code, kExitNo);
  EXPECT_EQ(others.out, "");
  EXPECT_NE(others.err.find("try: meterbank list --log " + file("one.mbr")), std::string::npos)
      << others.err;
  const auto listed = run_plainly({"list", "--log", file("one.mbr")});
  EXPECT_NE(listed.out.find("bakery"), std::string::npos) << listed.out;
  EXPECT_EQ(listed.out.find("shop_sales"), std::string::npos) << listed.out;
  const auto own = run_plainly({"get", "bakery/*/*", "--log", file("one.mbr"), "--raw"});
  EXPECT_EQ(own.code, kExitDone) << own.err;
  EXPECT_NE(own.out, "");
}

TEST_F(RecordedRates, SayWhereToLookForAnInstanceThatIsNotThere) {
  record();
  const auto none = run_plainly({"get", "bakery/zzzzzzzz/*", "--log", file("two.mbr"), "--raw"});
  EXPECT_EQ(none.code, kExitNo);
  EXPECT_NE(none.err.find("the recording has no values of 'bakery/zzzzzzzz/*' at that time; try: "
                          "meterbank list --instances bakery --log " +
                          file("two.mbr")),
            std::string::npos)
      << none.err;
}

}  // namespace
}  // namespace meterbank::cli::recorded_rates_test
