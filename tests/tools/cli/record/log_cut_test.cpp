// SPDX-License-Identifier: Apache-2.0
//
// `log cut`: what it leaves of a file where it cannot do all that was asked for, and what it says.
#include <filesystem>

#include "../../../support/file_size_limit.hpp"
#include "../../record/made_recording.hpp"
#include "../cli_fixture.hpp"
#include "cli/session/exit_code.hpp"

namespace meterbank::cli::log_cut_test {
namespace {

using record::MadeRecording;

class CliLogCut : public CliTest {
 protected:
  CliLogCut() {
    MadeRecording made({});
    made.ticks(0, 200);
    made.write(file("all.mbr"));
  }
  [[nodiscard]] Outcome cut(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words{"log", "cut", file("all.mbr"), "-o", file("part.mbr")};
    words.insert(words.end(), more.begin(), more.end());
    return run_plainly(words);
  }
  [[nodiscard]] std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(directory_), {});
  }
};

TEST_F(CliLogCut, IsARecordingOfItsOwn) {
  const auto done = cut();
  ASSERT_EQ(done.code, kExitDone) << done.err;
  EXPECT_NE(done.err.find("200 samples in " + file("part.mbr")), std::string::npos) << done.err;
  EXPECT_EQ(run_plainly({"log", "check", file("part.mbr")}).code, kExitDone);
  EXPECT_EQ(files(), 2);
}

TEST_F(CliLogCut, LeavesNothingOnAFullDisk) {
  ASSERT_EQ(cut().code, kExitDone);
  const auto whole = std::filesystem::file_size(file("part.mbr"));
  std::filesystem::remove(file("part.mbr"));
  // At the beginning of the file, and in its samples. An index at its end is not needed to read it.
  for (const auto bytes : {std::uintmax_t{100}, whole / 2}) {
    const test::FileSizeLimit full(bytes);
    const auto done = cut();
    EXPECT_EQ(done.code, kExitEnvironment) << bytes;
    EXPECT_NE(done.err.find("cannot write to " + file("part.mbr") + ": "), std::string::npos)
        << done.err;
    EXPECT_NE(done.err.find("try: more room\n"), std::string::npos) << done.err;
    EXPECT_EQ(files(), 1) << bytes;
  }
}

TEST_F(CliLogCut, LeavesNothingOfARangeWithoutSamples) {
  const auto done = cut({"--from", "@1700000010.2", "--to", "@1700000010.4"});
  EXPECT_EQ(done.code, kExitNo) << done.err;
  EXPECT_NE(done.err.find("has no sample of all these counters in this range; try: "),
            std::string::npos)
      << done.err;
  EXPECT_EQ(files(), 1);
}

TEST_F(CliLogCut, RefusesARangeThatEndsBeforeItBegins) {
  const auto done = cut({"--from", "@1700000020", "--to", "@1700000010"});
  EXPECT_EQ(done.code, kExitUsage) << done.err;
  EXPECT_EQ(done.err,
            "meterbank: the range ends before it begins: @1700000020 is later than @1700000010; "
            "try: the earlier time first\n");
  EXPECT_EQ(files(), 1);
}

TEST_F(CliLogCut, SaysThatItWasTooSlowAndLeavesNothing) {
  const auto done = cut({"--timeout", "1ns"});
  EXPECT_EQ(done.code, kExitTimeout) << done.err;
  EXPECT_NE(done.err.find("timed out"), std::string::npos) << done.err;
  EXPECT_EQ(files(), 1);
}

TEST_F(CliLogCut, ReplacesNothing) {
  ASSERT_EQ(cut().code, kExitDone);
  const auto again = cut();
  EXPECT_EQ(again.code, kExitEnvironment) << again.err;
  EXPECT_NE(again.err.find("exists"), std::string::npos) << again.err;
}

TEST_F(CliLogCut, SaysWhatCouldNotBeRead) {
  MadeRecording torn({});
  torn.ticks(0, 10);
  torn.unreadable_ticks(10, 20);
  torn.ticks(20, 30);
  torn.write(file("all.mbr"));
  const auto done = cut();
  EXPECT_EQ(done.code, kExitNo) << done.err;
  EXPECT_NE(done.err.find("cannot be read in 1 place"), std::string::npos) << done.err;
  EXPECT_EQ(run_plainly({"log", "check", file("part.mbr")}).code, kExitDone);
  for (const char* format : {"csv", "jsonl", "openmetrics"}) {
    const auto converted = run_plainly({"log", "convert", file("all.mbr"), "-f", format});
    EXPECT_EQ(converted.code, kExitNo) << format;
    EXPECT_NE(converted.err.find("cannot be read in 1 place"), std::string::npos) << format;
  }
}

}  // namespace
}  // namespace meterbank::cli::log_cut_test
