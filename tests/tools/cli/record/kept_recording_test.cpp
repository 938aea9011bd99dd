// SPDX-License-Identifier: Apache-2.0
//
// Recordings stay what they are, whatever is to be written over them.
#include <filesystem>
#include <fstream>

#include "../../record/made_recording.hpp"
#include "../cli_fixture.hpp"
#include "cli/session/exit_code.hpp"

namespace meterbank::cli::kept_recording_test {
namespace {

using record::MadeRecording;

class CliKeptRecording : public CliTest {
 protected:
  CliKeptRecording() {
    MadeRecording made({});
    made.ticks(0, 20);
    std::filesystem::create_directory(file("ring"));
    for (const char* const name : {"all.mbr", "other.mbr", "ring/00000001.mbr"}) {
      made.write(file(name));
    }
    bytes_ = read(file("all.mbr"));
  }
  void expect_refused(const std::vector<std::string>& words, const std::string& target) const {
    const auto refused = run_plainly(words);
    EXPECT_EQ(refused.code, kExitEnvironment) << words.front();
    EXPECT_EQ(refused.out, "");
    EXPECT_NE(refused.err.find(target + " is a recording and is not replaced"), std::string::npos)
        << refused.err;
    EXPECT_NE(refused.err.find("; try: another place with -o FILE\n"), std::string::npos)
        << refused.err;
    EXPECT_TRUE(read(target) == bytes_) << words.front();
  }

  std::string bytes_;
};

TEST_F(CliKeptRecording, IsNotReplacedByWhatIsReadFromIt) {
  const auto all = file("all.mbr");
  expect_refused({"get", "--log", all, "queues/eu", "-o", all}, all);
  expect_refused({"list", "--log", all, "-o", all}, all);
  for (const char* const format : {"csv", "openmetrics", "jsonl"}) {
    expect_refused({"log", "convert", all, "-f", format, "-o", all}, all);
  }
  expect_refused({"diff", all, file("other.mbr"), "-o", all}, all);
  expect_refused({"typeperf", "--log", all, "queues/eu", "-o", all}, all);
  expect_refused({"typeperf", "--log", all, "queues/eu", "-o", all, "-y"}, all);
}

TEST_F(CliKeptRecording, IsNotReplacedByWhatIsReadFromAnother) {
  const auto other = file("other.mbr");
  expect_refused({"get", "--log", file("all.mbr"), "queues/eu", "-o", other}, other);
}

TEST_F(CliKeptRecording, IsNotReplacedAsAFileOfTheRingThatIsRead) {
  const auto part = file("ring/00000001.mbr");
  expect_refused({"log", "convert", file("ring"), "-f", "csv", "-o", part}, part);
}

TEST_F(CliKeptRecording, IsNotReplacedByAnotherNameOfIt) {
  std::filesystem::create_symlink(file("all.mbr"), file("soft.txt"));
  std::filesystem::create_hard_link(file("all.mbr"), file("hard.txt"));
  for (const auto& name : {file("soft.txt"), file("hard.txt")}) {
    expect_refused({"get", "--log", file("all.mbr"), "queues/eu", "-o", name}, name);
  }
}

TEST_F(CliKeptRecording, IsReadIntoAFileThatIsReplaced) {
  std::ofstream(file("rows.csv")) << "what was there";
  const auto done =
      run_plainly({"log", "convert", file("all.mbr"), "-f", "csv", "-o", file("rows.csv")});
  EXPECT_EQ(done.code, kExitDone) << done.err;
  EXPECT_EQ(read(file("rows.csv")).find("what was there"), std::string::npos);
}

}  // namespace
}  // namespace meterbank::cli::kept_recording_test
