// SPDX-License-Identifier: Apache-2.0
//
// `meterbank diff`, as people and gates call it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "../cli_fixture.hpp"
#include "../cli_json.hpp"
#include "../distribution/kitchen_fixture.hpp"
#include "cli/session/exit_code.hpp"
#include "diff_recording.hpp"

namespace meterbank::cli::diff_test {
namespace {

class CliDiff : public CliTest {
 protected:
  // A recording of a minute in which each instance counts this often a second.
  std::string made(const std::string& name, std::uint64_t rate,
                   std::uint64_t begin_s = kDiffBegin) const {
    DiffRecording recording(begin_s);
    recording.ticks(61, rate);
    recording.save(file(name));
    return file(name);
  }
  static Outcome diff(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "diff");
    return run_plainly(arguments);
  }
};

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_F(CliDiff, SaysThatNothingChanged) {
  const auto outcome = diff({made("a", 1000), made("b", 1001, kDiffBegin + 100)});
  EXPECT_EQ(outcome.code, kExitDone) << outcome.out << outcome.err;
  EXPECT_TRUE(has(outcome.out, "4 compared, 0 changed\n")) << outcome.out;
  EXPECT_EQ(outcome.err, "");
}

TEST_F(CliDiff, ShowsWhatChangedWithItsRange) {
  const auto outcome = diff({made("a", 1000), made("b", 1300, kDiffBegin + 100)});
  EXPECT_EQ(outcome.code, kExitNo) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "CHANGE")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "queues/eu/count")) << outcome.out;
  EXPECT_FALSE(has(outcome.out, "queues/eu/depth")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "4 compared, 2 changed\n")) << outcome.out;
}

TEST_F(CliDiff, SaysThatANumberFellBelowZeroFromAMeanOfZero) {
  const auto made_with = [&](const std::string& name, std::int64_t level, std::uint64_t begin_s) {
    Counterset set = test::two_counters();
    set.counters[1].form = ValueForm::kSigned;
    DiffRecording recording(begin_s, set);
    for (int second = 0; second < 60; ++second) {
      recording.each_row([&](std::span<std::uint64_t> words) {
        words[1] = static_cast<std::uint64_t>(level + (second % 2 == 0 ? 1 : -1));
      });
      recording.write();
    }
    recording.save(file(name));
    return file(name);
  };
  const auto outcome = diff(
      {made_with("a", 0, kDiffBegin), made_with("b", -50, kDiffBegin + 100), "queues/*/depth"});
  EXPECT_EQ(outcome.code, kExitNo) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "less than 0")) << outcome.out;
}

TEST_F(CliDiff, ShowsAllIfAsked) {
  const auto outcome = diff({made("a", 1000), made("b", 1300, kDiffBegin + 100), "--all"});
  EXPECT_TRUE(has(outcome.out, "queues/eu/depth")) << outcome.out;
}

class CliDiffKitchen : public KitchenTest {};

TEST_F(CliDiffKitchen, NamesNoChangeOfATextThatIsTheSame) {
  soup_.text(Dish::kState).set("warm");
  for (const char* const name : {"a.mbr", "b.mbr"}) {
    ASSERT_EQ(meterbank({"record", "-o", file(name), "-n", "14", "-i", "2ms"}).code, kExitDone);
  }
  const auto outcome =
      run_plainly({"diff", file("a.mbr"), file("b.mbr"), "dishes/soup/state", "--all"});
  EXPECT_EQ(outcome.code, kExitDone) << outcome.out << outcome.err;
  EXPECT_TRUE(has(outcome.out, " -  dishes/soup/state  warm  warm")) << outcome.out;
}

TEST_F(CliDiff, ComparesThePathsThatItIsGiven) {
  const auto outcome = diff({made("a", 1000), made("b", 1300, kDiffBegin + 100), "queues/*/depth"});
  EXPECT_EQ(outcome.code, kExitDone) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "2 compared, 0 changed")) << outcome.out;
}

TEST_F(CliDiff, ComparesTwoRangesOfOneRecording) {
  DiffRecording recording;
  recording.ticks(60, 1000);
  recording.ticks(60, 1500);
  recording.save(file("one"));
  const auto range = [](std::uint64_t from, std::uint64_t to) {
    return fmt::format("@{}..@{}", kDiffBegin + from, kDiffBegin + to);
  };
  const auto other = diff({file("one"), "--a", range(0, 58), "--b", range(61, 119)});
  EXPECT_EQ(other.code, kExitNo) << other.out << other.err;
  const auto same = diff({file("one"), "--a", range(0, 28), "--b", range(29, 58)});
  EXPECT_EQ(same.code, kExitDone) << same.out << same.err;
  const auto paths =
      diff({file("one"), "--a", range(0, 58), "--b", range(61, 119), "queues/eu/count"});
  EXPECT_TRUE(has(paths.out, "1 compared, 1 changed")) << paths.out << paths.err;
}

TEST_F(CliDiff, NamesTheProviderWhereSeveralHaveTheSamePath) {
  for (const std::string side : {"a", "b"}) {
    for (const std::string provider : {"orders", "orders2"}) {
      DiffRecording recording(kDiffBegin + (side == "a" ? 0 : 100), test::two_counters(), {"eu"},
                              {""}, provider);
      recording.ticks(60, side == "b" && provider == "orders2" ? 1500 : 1000);
      recording.save(file(provider));
    }
    const auto merged =
        meterbank({"log", "merge", file("orders"), file("orders2"), "-o", file(side)});
    ASSERT_EQ(merged.code, kExitDone) << merged.err;
  }
  const auto text = diff({file("a"), file("b")});
  EXPECT_TRUE(has(text.out, "  orders2:queues/eu/count  ")) << text.out << text.err;
  const auto json = diff({file("a"), file("b"), "-f", "json"});
  EXPECT_TRUE(has(json.out, R"("path":"queues/eu/count","provider":"orders2")")) << json.out;
}

TEST_F(CliDiff, LeavesOutChangesThatAreSmallerThanAskedFor) {
  const auto outcome = diff({made("a", 1000), made("b", 1300, kDiffBegin + 100), "--least", "40%"});
  EXPECT_EQ(outcome.code, kExitDone) << outcome.out;
}

TEST_F(CliDiff, PrintsADocument) {
  const auto outcome = diff({made("a", 1000), made("b", 1300, kDiffBegin + 100), "-f", "json"});
  ASSERT_EQ(outcome.code, kExitNo) << outcome.err;
  const Json document = parse_json(outcome.out);
  EXPECT_EQ(document["schema"], "meterbank.diff/1");
  EXPECT_EQ(document["changed"], 2);
  EXPECT_EQ(document["compared"], 4);
  ASSERT_EQ(document["findings"].size(), 2U);
  const Json& first = document["findings"][0];
  EXPECT_EQ(first["kind"], "number");
  EXPECT_GT(first["low"].get<double>(), 0.2);
  EXPECT_NEAR(first["change"].get<double>(), 0.3, 0.05);
  EXPECT_LT(first["high"].get<double>(), 0.4);
}

TEST_F(CliDiff, MakesNoNegativeRateOfARestart) {
  made("a", 1000);
  DiffRecording recording(kDiffBegin + 100);
  recording.ticks(30, 1000);
  recording.restart();
  recording.ticks(31, 1000);
  recording.save(file("b"));
  const auto outcome = diff({file("a"), file("b")});
  EXPECT_EQ(outcome.code, kExitNo) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "restarted  orders")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "5 compared, 1 changed")) << outcome.out;
}

TEST_F(CliDiff, NamesProvidersThatDisappeared) {
  made("a", 1000);
  DiffRecording recording(kDiffBegin + 100);
  recording.ticks(3, 1000);
  open_shop();
  EXPECT_EQ(meterbank({"record", "-o", file("shop"), "-n", "14", "-i", "10ms", "-q"}).code, 0);
  const auto outcome = diff({file("a"), file("shop"), "--all"});
  EXPECT_TRUE(has(outcome.out, "disappeared  orders")) << outcome.out << outcome.err;
  EXPECT_TRUE(has(outcome.out, "4 only in A")) << outcome.out;
}

TEST_F(CliDiff, NamesInstancesThatCameAndWent) {
  made("a", 1000);
  DiffRecording recording(kDiffBegin + 100, test::two_counters(), {"eu", "asia"});
  recording.ticks(61, 1000);
  recording.save(file("b"));
  const auto outcome = diff({file("a"), file("b")});
  EXPECT_EQ(outcome.code, kExitNo);
  EXPECT_TRUE(has(outcome.out, "went  queues/us")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "came  queues/asia")) << outcome.out;
}

TEST_F(CliDiff, KnowsNothingOfInstancesThatARecorderWasNotAskedFor) {
  DiffRecording all, part(kDiffBegin + 100, test::two_counters(), {"eu"}, {"queues/eu/*"});
  all.ticks(61, 1000);
  part.ticks(61, 1000);
  all.save(file("all"));
  part.save(file("part"));
  auto outcome = diff({file("all"), file("part"), "--all"});
  EXPECT_EQ(outcome.code, kExitDone) << outcome.out << outcome.err;
  EXPECT_TRUE(has(outcome.out, "2 compared, 0 changed, 2 could not be compared: 2 only in A\n"))
      << outcome.out;
  outcome = diff({file("part"), file("all")});
  EXPECT_EQ(outcome.code, kExitDone) << outcome.out << outcome.err;
  EXPECT_TRUE(has(outcome.out, "2 only in B\n")) << outcome.out;
}

TEST_F(CliDiff, KnowsThatASetBelongsToTheFirstRateThatSelectsIt) {
  DiffRecording all, part(kDiffBegin + 100, test::two_counters(), {"eu"}, {"queues/eu/*", ""});
  all.ticks(61, 1000);
  part.ticks(61, 1000);
  all.save(file("all"));
  part.save(file("part"));
  const auto outcome = diff({file("all"), file("part"), "--all"});
  EXPECT_EQ(outcome.code, kExitDone) << outcome.out << outcome.err;
}

TEST_F(CliDiff, SaysThatAUnitIsAnotherOne) {
  made("a", 1000);
  Counterset set = test::two_counters();
  set.counters[1].unit = "By";
  DiffRecording recording(kDiffBegin + 100, set);
  recording.ticks(61, 1000);
  recording.save(file("b"));
  const auto outcome = diff({file("a"), file("b")});
  EXPECT_EQ(outcome.code, kExitNo);
  EXPECT_TRUE(has(outcome.out, "unit  queues/eu/depth")) << outcome.out;
}

TEST_F(CliDiff, ShowsNumbersThatStoodStillAndAreOthers) {
  for (const std::uint64_t level : {5U, 7U}) {
    DiffRecording recording(kDiffBegin + level * 100);
    for (int tick = 0; tick < 40; ++tick) {
      recording.each_row([&](std::span<std::uint64_t> words) { words[1] = level; });
      recording.write();
    }
    recording.save(file(level == 5 ? "a" : "b"));
  }
  const auto outcome = diff({file("a"), file("b")});
  EXPECT_EQ(outcome.code, kExitNo);
  EXPECT_TRUE(has(outcome.out, "stood still")) << outcome.out;
  EXPECT_TRUE(has(outcome.out, "4 compared, 2 changed")) << outcome.out;
}

TEST_F(CliDiff, SaysThatRecordingsAreTooShort) {
  made("a", 1000);
  DiffRecording recording(kDiffBegin + 100);
  recording.ticks(5, 1000);
  recording.save(file("b"));
  const auto outcome = diff({file("a"), file("b")});
  EXPECT_EQ(outcome.code, kExitEnvironment);
  EXPECT_TRUE(has(outcome.err, "B has 5 samples, too few to compare")) << outcome.err;
}

TEST_F(CliDiff, SaysThatThereAreNoCommonCounters) {
  made("a", 1000);
  DiffRecording recording(kDiffBegin + 100, test::two_counters("others"));
  recording.ticks(61, 1000);
  recording.save(file("b"));
  const auto outcome = diff({file("a"), file("b")});
  EXPECT_EQ(outcome.code, kExitEnvironment);
  EXPECT_TRUE(has(outcome.err, "no counters that can be compared")) << outcome.err;
  EXPECT_TRUE(has(outcome.out, "4 only in A, 4 only in B")) << outcome.out;
}

TEST_F(CliDiff, SaysHowAAndBLieInTime) {
  const auto a = made("a", 1000), b = made("b", 1000, kDiffBegin + 100);
  EXPECT_TRUE(has(diff({a, a}).err, "A and B are of the same time"));
  EXPECT_EQ(diff({a, a}).code, kExitDone);
  EXPECT_TRUE(has(diff({b, a}).err, "A is later than B"));
  const auto overlapping = diff({a, "--a", fmt::format("..@{}", kDiffBegin + 40), "--b",
                                 fmt::format("@{}..", kDiffBegin + 20)});
  EXPECT_TRUE(has(overlapping.err, "A and B overlap")) << overlapping.err;
  EXPECT_EQ(diff({b, a, "-q"}).err, "");
}

TEST_F(CliDiff, SaysThatTheClockWasSetBack) {
  made("a", 1000);
  DiffRecording recording(kDiffBegin + 200);
  recording.ticks(30, 1000);
  recording.move_clock(-10);
  recording.ticks(31, 1000);
  recording.save(file("b"));
  const auto outcome = diff({file("a"), file("b")});
  EXPECT_EQ(outcome.code, kExitDone) << outcome.out;
  EXPECT_TRUE(has(outcome.err, "the clock was set back in B")) << outcome.err;
}

TEST_F(CliDiff, SaysHowManySamplesAreMissing) {
  made("a", 1000);
  DiffRecording recording(kDiffBegin + 200);
  recording.ticks(30, 1000);
  recording.add_gap(7);
  recording.ticks(31, 1000);
  recording.save(file("b"));
  const auto outcome = diff({file("a"), file("b")});
  EXPECT_TRUE(has(outcome.err, "B lacks 7 samples")) << outcome.err;
}

TEST_F(CliDiff, ComparesWhatIsWholeOfATornRecording) {
  made("a", 1000);
  DiffRecording recording(kDiffBegin + 100);
  recording.ticks(61, 1000);
  std::string bytes = recording.bytes();
  std::ofstream(file("torn"), std::ios::binary) << bytes.substr(0, bytes.size() - 5);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  std::ofstream(file("damaged"), std::ios::binary) << bytes;
  const auto torn = diff({file("a"), file("torn")});
  EXPECT_EQ(torn.code, kExitDone) << torn.err;
  EXPECT_TRUE(has(torn.out, "60 samples")) << torn.out;
  const auto damaged = diff({file("a"), file("damaged")});
  EXPECT_TRUE(has(damaged.err, "cannot be read in 1 place")) << damaged.err << damaged.out;
  std::ofstream(file("text")) << "no recording";
  EXPECT_EQ(diff({file("a"), file("text")}).code, kExitEnvironment);
}

TEST_F(CliDiff, RefusesWhatItDoesNotUnderstand) {
  const auto a = made("a", 1000), b = made("b", 1000, kDiffBegin + 100);
  const auto reversed = fmt::format("@{}..@{}", kDiffBegin + 20, kDiffBegin + 10);
  for (const std::vector<std::string>& words : {std::vector<std::string>{},
                                                {a},
                                                {a, file("none")},
                                                {a, b, "--a", "03:00"},
                                                {a, b, "--a", ".."},
                                                {a, b, "--a", reversed},
                                                {a, b, "--a", "noon..03:00"},
                                                {a, b, "--least", "5"},
                                                {a, b, "--least", "nan%"},
                                                {a, b, "--least", "-1%"},
                                                {a, b, "-f", "csv"},
                                                {a, b, "--bogus"}}) {
    const auto outcome = diff(words);
    EXPECT_EQ(outcome.code, kExitUsage) << fmt::format("{}", fmt::join(words, " ")) << outcome.err;
    EXPECT_TRUE(has(outcome.err, "try: ")) << outcome.err;
  }
}

TEST_F(CliDiff, EndsWithAnotherCodeThanThatOfAChangeIfNothingCanBeCompared) {
  const auto a = made("a", 1000), b = made("b", 1000, kDiffBegin + 100);
  EXPECT_EQ(diff({file("none"), b}).code, kExitEnvironment);
  EXPECT_EQ(diff({a, b, "--a", fmt::format("@{}..", kDiffBegin + 5000)}).code, kExitEnvironment);
  EXPECT_EQ(diff({a, b, "bakery/*"}).code, kExitEnvironment);
  EXPECT_EQ(diff({a, b, "-o", "/nowhere/at/all"}).code, kExitEnvironment);
}

TEST_F(CliDiff, SaysThatItsDiskIsFull) {
  const auto outcome =
      diff({made("a", 1000), made("b", 1000, kDiffBegin + 100), "-o", "/dev/full"});
  EXPECT_EQ(outcome.code, kExitEnvironment);
  EXPECT_TRUE(has(outcome.err, "/dev/full")) << outcome.err;
  EXPECT_TRUE(has(outcome.err, "try: ")) << outcome.err;
}

TEST_F(CliDiff, PrintsNamesWithControlCharactersEscaped) {
  for (const char* const name : {"a", "b"}) {
    DiffRecording recording(kDiffBegin + (*name == 'b' ? 100U : 0U), test::two_counters(),
                            {"e\x1b[31mu\"", "us"});
    recording.ticks(61, *name == 'b' ? 1300 : 1000);
    recording.save(file(name));
  }
  const auto text = diff({file("a"), file("b")});
  EXPECT_EQ(text.code, kExitNo);
  EXPECT_FALSE(has(text.out, "\x1b")) << text.out;
  EXPECT_TRUE(is_json(diff({file("a"), file("b"), "-f", "json", "--all"}).out));
}

}  // namespace
}  // namespace meterbank::cli::diff_test
