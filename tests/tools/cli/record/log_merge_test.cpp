// SPDX-License-Identifier: Apache-2.0
//
// `log merge`: what it says, and what it leaves of a file.
#include <filesystem>

#include "../../../support/file_size_limit.hpp"
#include "../../record/made_recording.hpp"
#include "../cli_fixture.hpp"
#include "cli/session/exit_code.hpp"

namespace meterbank::cli::log_merge_test {
namespace {

using record::Machine;
using record::MadeRecording;

class CliLogMerge : public CliTest {
 protected:
  void record(const std::string& name, const Machine& machine, std::uint64_t from,
              std::uint64_t to) const {
    MadeRecording made(machine);
    made.ticks(from, to);
    made.write(file(name));
  }
  void record_two_hosts() const {
    record("web.mbr", {}, 0, 30);
    record("db.mbr", {.host = "db", .boot = "2", .recorder = 2}, 10, 40);
  }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& one : std::filesystem::directory_iterator(directory_)) {
      names.push_back(one.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(CliLogMerge, SaysWhatItDid) {
  record_two_hosts();
  const auto merged =
      run_plainly({"log", "merge", file("web.mbr"), file("db.mbr"), "-o", file("both.mbr")});
  EXPECT_EQ(merged.code, kExitDone) << merged.err;
  EXPECT_NE(merged.err.find("40 samples of 2 files and 2 hosts in "), std::string::npos);
  EXPECT_NE(merged.err.find("20 samples written together"), std::string::npos) << merged.err;
  EXPECT_EQ(run_plainly({"log", "check", file("both.mbr")}).code, kExitDone);
}

TEST_F(CliLogMerge, LabelsProvidersWithTheirHost) {
  record_two_hosts();
  ASSERT_EQ(
      run_plainly({"log", "merge", file("web.mbr"), file("db.mbr"), "-o", file("both.mbr")}).code,
      kExitDone);
  const auto listed = run_plainly(
      {"list", "--log", file("both.mbr"), "--at", "@1700000015", "--providers", "-f", "json"});
  EXPECT_NE(listed.out.find("\"host\":\"db\""), std::string::npos) << listed.out;
  EXPECT_NE(listed.out.find("\"host\":\"web1\""), std::string::npos) << listed.out;
  const auto one = run_plainly({"get", "--log", file("both.mbr"), "--at", "@1700000015", "--where",
                                "host=db", "queues/*/depth", "-f", "jsonl"});
  EXPECT_EQ(one.code, kExitDone) << one.err;
  EXPECT_EQ(one.lines().size(), 1U) << one.out;
}

TEST_F(CliLogMerge, DoesNotReplaceAFile) {
  record_two_hosts();
  record("both.mbr", {}, 0, 3);
  const std::string before = read(file("both.mbr"));
  const auto merged =
      run_plainly({"log", "merge", file("web.mbr"), file("db.mbr"), "-o", file("both.mbr")});
  EXPECT_EQ(merged.code, kExitEnvironment);
  EXPECT_NE(merged.err.find("exists"), std::string::npos) << merged.err;
  EXPECT_EQ(read(file("both.mbr")), before);
}

TEST_F(CliLogMerge, LeavesNothingOnAFullDisk) {
  record_two_hosts();
  const auto before = files();
  const test::FileSizeLimit full(1200);
  const auto merged =
      run_plainly({"log", "merge", file("web.mbr"), file("db.mbr"), "-o", file("both.mbr")});
  EXPECT_EQ(merged.code, kExitEnvironment);
  EXPECT_NE(merged.err.find("cannot write"), std::string::npos) << merged.err;
  EXPECT_EQ(files(), before);
}

TEST_F(CliLogMerge, LeavesNothingOfWhatItRefuses) {
  record("web.mbr", {}, 0, 30);
  record("unknown.mbr", {.host = "db", .boot = "", .recorder = 2}, 0, 30);
  const auto before = files();
  const auto merged =
      run_plainly({"log", "merge", file("web.mbr"), file("unknown.mbr"), "-o", file("both.mbr")});
  EXPECT_EQ(merged.code, kExitUsage) << merged.err;
  EXPECT_EQ(files(), before);
}

TEST_F(CliLogMerge, FailsWhereAnInputIsDamagedAndKeepsTheRest) {
  record_two_hosts();
  MadeRecording torn({.host = "cache", .boot = "3", .recorder = 3});
  torn.ticks(0, 10);
  torn.unreadable_ticks(10, 20);
  torn.ticks(20, 30);
  torn.write(file("cache.mbr"));
  const auto merged = run_plainly(
      {"log", "merge", file("web.mbr"), file("db.mbr"), file("cache.mbr"), "-o", file("all.mbr")});
  EXPECT_EQ(merged.code, kExitNo);
  EXPECT_NE(merged.err.find("not merged: "), std::string::npos) << merged.err;
  EXPECT_EQ(run_plainly({"log", "check", file("all.mbr")}).code, kExitDone);
}

TEST_F(CliLogMerge, RefusesWhatIsNoRecording) {
  record_two_hosts();
  std::filesystem::create_directory(file("empty"));
  for (const std::string& other : {file("missing.mbr"), file("empty")}) {
    const auto merged =
        run_plainly({"log", "merge", file("web.mbr"), other, "-o", file("both.mbr")});
    EXPECT_NE(merged.code, kExitDone);
    EXPECT_FALSE(std::filesystem::exists(file("both.mbr")));
  }
  EXPECT_EQ(run_plainly({"log", "merge", "-o", file("both.mbr")}).code, kExitUsage);
  EXPECT_EQ(run_plainly({"log", "merge", file("web.mbr")}).code, kExitUsage);
}

}  // namespace
}  // namespace meterbank::cli::log_merge_test
