// SPDX-License-Identifier: Apache-2.0
//
// Saving the last minutes of a recorder that goes on: what is saved is what it recorded, tick by
// tick and value by value.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "../../../support/comes_true.hpp"
#include "../../../support/file_size_limit.hpp"
#include "../cli_fixture.hpp"
#include "meterbank/recording/recording.hpp"

namespace meterbank::cli {
namespace {

struct SavedTick {
  std::uint64_t monotonic_ns = 0;
  std::uint64_t due = 0;
  std::vector<std::uint64_t> words;  // of all rows

  friend bool operator==(const SavedTick&, const SavedTick&) = default;
};

class LogSave : public CliTest {
 protected:
  ~LogSave() override { static_cast<void>(stop()); }

  // A process of its own. What it says is in the file "said".
  void start_recorder(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "record");
    arguments.insert(arguments.end(), {"--dir", directory_});
    recorder_ = ::fork();
    ASSERT_GE(recorder_, 0);
    if (recorder_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::ofstream said(file("said"));
    ::_exit(run(arguments, said, said));
  }
  [[nodiscard]] int stop() {
    if (recorder_ <= 0) return 0;
    ::kill(recorder_, SIGINT);
    int status = 0;
    ::waitpid(std::exchange(recorder_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  // Counts on until the recording has so many more ticks.
  void count_for(const std::string& recording, std::uint64_t ticks) {
    const std::uint64_t before = ticks_of(recording);
    EXPECT_TRUE(test::comes_true([&] {
      for (Instance& aisle : aisles_) aisle.set(Sales::kStock, ++stock_);
      return ticks_of(recording) >= before + ticks;
    }));
  }
  static std::uint64_t ticks_of(const std::string& path) {
    const auto opened = recording::Recording::open(path);
    std::uint64_t ticks = 0;
    if (!opened) return 0;
    for (const auto& one : opened->files()) {
      for (const auto& chunk : one.index.chunks()) ticks += chunk.ticks;
    }
    return ticks;
  }
  static std::vector<SavedTick> read_ticks(const std::string& path) {
    std::vector<SavedTick> ticks;
    auto opened = recording::Recording::open(path);
    EXPECT_TRUE(opened) << opened.error().message();
    if (!opened) return ticks;
    while (opened->next()) {
      auto query = Query::compile(opened->catalog(), {});
      Sample sample;
      query->collect(sample, opened->time());
      SavedTick tick{opened->time().monotonic_ns, opened->due(), {}};
      for (std::size_t row = 0; row < sample.statuses().size(); ++row) {
        const auto words = sample.stored(row).words();
        tick.words.insert(tick.words.end(), words.begin(), words.end());
      }
      ticks.push_back(std::move(tick));
    }
    EXPECT_TRUE(opened->damages().empty());
    return ticks;
  }
  // All ticks of the whole from the first to the last of the part, and no other.
  static void expect_part(const std::string& part, const std::string& whole) {
    const auto saved = read_ticks(part);
    const auto all = read_ticks(whole);
    ASSERT_FALSE(saved.empty());
    const auto begin = std::find(all.begin(), all.end(), saved.front());
    ASSERT_NE(begin, all.end());
    ASSERT_LE(saved.size(), static_cast<std::size_t>(all.end() - begin));
    EXPECT_TRUE(std::equal(saved.begin(), saved.end(), begin));
  }
  [[nodiscard]] std::vector<std::string> saved_files() const {
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(file("box/saved"), error)) {
      // One that is not complete has another name.
      if (entry.path().extension() == ".mbr") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
  }

  pid_t recorder_ = -1;
  std::uint64_t stock_ = 0;
};

TEST_F(LogSave, CopiesTheLastMinutesOfARecorderThatGoesOn) {
  open_shop();
  open_bakery();
  start_recorder({"-o", file("box/"), "-i", "20ms", "--rate", "bakery=3ms", "--size", "1M"});
  count_for(file("box"), 60);
  for (int round = 0; round < 5; ++round) {
    const std::string part = file("part" + std::to_string(round) + ".mbr");
    const auto outcome = meterbank({"log", "save", file("box"), "-o", part, "--last", "100ms"});
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find(" samples in "), std::string::npos) << outcome.err;
    count_for(file("box"), 20);
  }
  EXPECT_EQ(stop(), 0) << read(file("said"));
  for (int round = 0; round < 5; ++round) {
    const std::string part = file("part" + std::to_string(round) + ".mbr");
    expect_part(part, file("box"));
    const auto ticks = read_ticks(part);
    EXPECT_GE(ticks.back().monotonic_ns - ticks.front().monotonic_ns, 100'000'000U);
    EXPECT_EQ(ticks.front().due, 3U);
  }
}

TEST_F(LogSave, CopiesAllOfARecordingThatIsShorterThanAskedFor) {
  open_shop();
  ASSERT_EQ(meterbank({"record", "-o", file("a.mbr"), "-n", "700", "-i", "1ms"}).code, 0);
  const auto outcome = meterbank({"log", "save", file("a.mbr"), "-o", file("b.mbr"), "-q"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(read_ticks(file("a.mbr")), read_ticks(file("b.mbr")));
}

TEST_F(LogSave, OfARecorderHappensAtASignal) {
  open_shop();
  start_recorder({"-o", file("box/"), "-i", "5ms", "--last", "100ms"});
  count_for(file("box"), 30);
  // Twice fast: one more is made at most, and none is torn.
  ::kill(recorder_, SIGUSR1);
  ::kill(recorder_, SIGUSR1);
  EXPECT_TRUE(test::comes_true([this] { return !saved_files().empty(); }));
  count_for(file("box"), 30);
  const std::size_t before = saved_files().size();
  ::kill(recorder_, SIGUSR1);
  EXPECT_EQ(stop(), 0) << read(file("said"));
  const auto files = saved_files();
  EXPECT_GT(files.size(), before);
  EXPECT_LE(files.size(), before + 2);
  for (const auto& path : files) {
    EXPECT_TRUE(path.ends_with("Z.mbr")) << path;
    expect_part(path, file("box"));
  }
  EXPECT_NE(read(file("said")).find(" samples in " + file("box/saved/")), std::string::npos)
      << read(file("said"));
}

TEST_F(LogSave, EndsNoRecorderOfAFile) {
  open_shop();
  start_recorder({"-o", file("one.mbr"), "-i", "5ms"});
  count_for(file("one.mbr"), 3);
  ::kill(recorder_, SIGUSR1);
  count_for(file("one.mbr"), 3);
  EXPECT_EQ(stop(), 0);
  EXPECT_NE(read(file("said")).find("SIGUSR1 saves a part of a directory"), std::string::npos)
      << read(file("said"));
}

TEST_F(LogSave, OfARecorderStopsAtAHundredFilesAndSaysSo) {
  open_shop();
  std::filesystem::create_directories(file("box/saved"));
  for (int i = 0; i < 100; ++i) std::ofstream(file("box/saved/" + std::to_string(i) + ".mbr"));
  start_recorder({"-o", file("box/"), "-i", "5ms"});
  count_for(file("box"), 3);
  ::kill(recorder_, SIGUSR1);
  count_for(file("box"), 3);
  EXPECT_EQ(stop(), 0);
  EXPECT_EQ(saved_files().size(), 100U);
  EXPECT_NE(read(file("said")).find("has 100 recordings"), std::string::npos) << read(file("said"));
}

constexpr const char* kWhenLarge = "shop_sales/fruit/label_bytes > 2MiB";
constexpr std::uint64_t kLarge = 3 << 20U, kSmall = 1 << 20U;

TEST_F(LogSave, KeepsWhatIsAroundACondition) {
  open_shop();
  start_recorder({"-o", file("box/"), "-i", "5ms", "--when", kWhenLarge, "--before", "100ms",
                  "--after", "100ms"});
  count_for(file("box"), 60);
  EXPECT_TRUE(saved_files().empty());
  aisles_[0].set(Sales::kTurnover, kLarge);
  count_for(file("box"), 20);
  aisles_[0].set(Sales::kTurnover, kSmall);
  EXPECT_TRUE(test::comes_true([this] {
    for (Instance& aisle : aisles_) aisle.set(Sales::kStock, ++stock_);
    return !saved_files().empty();
  }));
  count_for(file("box"), 20);
  EXPECT_EQ(stop(), 0) << read(file("said"));
  const auto files = saved_files();
  ASSERT_EQ(files.size(), 1U);
  EXPECT_NE(files.front().find("/event-"), std::string::npos) << files.front();
  expect_part(files.front(), file("box"));
  const auto ticks = read_ticks(files.front());
  const auto is_large = [](const SavedTick& tick) {
    return std::find(tick.words.begin(), tick.words.end(), kLarge) != tick.words.end();
  };
  const auto first = std::find_if(ticks.begin(), ticks.end(), is_large);
  const auto last = std::find_if(ticks.rbegin(), ticks.rend(), is_large);
  ASSERT_NE(first, ticks.end());
  // The spans are of the other clock, and a sample is looked at again a moment after it was taken.
  EXPECT_GE(first->monotonic_ns - ticks.front().monotonic_ns, 90'000'000U);
  EXPECT_GE(ticks.back().monotonic_ns - last->monotonic_ns, 90'000'000U);
  EXPECT_NE(read(file("said")).find("it holds: " + std::string(kWhenLarge)), std::string::npos);
}

TEST_F(LogSave, KeepsAnEventThatTheRecorderEndsIn) {
  open_shop();
  aisles_[0].set(Sales::kTurnover, kLarge);
  start_recorder({"-o", file("box/"), "-i", "5ms", "--when", kWhenLarge});
  count_for(file("box"), 30);
  EXPECT_TRUE(saved_files().empty());
  EXPECT_EQ(stop(), 0) << read(file("said"));
  ASSERT_EQ(saved_files().size(), 1U);
  EXPECT_EQ(read_ticks(saved_files().front()), read_ticks(file("box")));
}

TEST_F(LogSave, WaitsForAConditionThatMatchesNothingAndSaysSo) {
  open_shop();
  start_recorder({"-o", file("box/"), "-i", "5ms", "--when", "shop_sales/*/stok > 1"});
  count_for(file("box"), 5);
  EXPECT_EQ(stop(), 0) << read(file("said"));
  EXPECT_TRUE(saved_files().empty());
  EXPECT_NE(read(file("said")).find("--when waits for a match: no "), std::string::npos)
      << read(file("said"));
}

TEST_F(LogSave, RefusesConditionsThatAreOfNoUse) {
  open_shop();
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"record", "-o", file("a.mbr"), "--when", kWhenLarge},
           {"record", "-o", file("box/"), "--when", "stock"},
           {"record", "-o", file("box/"), "--before", "1m"},
           {"record", "-o", file("box/"), "--when", kWhenLarge, "--after", "0s"}}) {
    const auto outcome = meterbank(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find("; try: "), std::string::npos) << outcome.err;
  }
}

TEST_F(LogSave, LeavesNothingOnAFullDisk) {
  open_shop();
  ASSERT_EQ(meterbank({"record", "-o", file("a.mbr"), "-n", "50", "-i", "1ms"}).code, 0);
  {
    const test::FileSizeLimit full(1000);
    const auto outcome = meterbank({"log", "save", file("a.mbr"), "-o", file("b.mbr")});
    EXPECT_EQ(outcome.code, 3) << outcome.err;
    EXPECT_NE(outcome.err.find("; try: "), std::string::npos) << outcome.err;
  }
  for (const auto& entry : std::filesystem::directory_iterator(directory_)) {
    EXPECT_EQ(entry.path().filename().string().find("b.mbr"), std::string::npos) << entry.path();
  }
}

TEST_F(LogSave, ReplacesNoFileAndNeedsARecording) {
  open_shop();
  ASSERT_EQ(meterbank({"record", "-o", file("a.mbr"), "-n", "5", "-i", "1ms"}).code, 0);
  std::ofstream(file("b.mbr")) << "mine";
  auto outcome = meterbank({"log", "save", file("a.mbr"), "-o", file("b.mbr")});
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_EQ(read(file("b.mbr")), "mine");
  outcome = meterbank({"log", "save", file("none"), "-o", file("c.mbr")});
  EXPECT_EQ(outcome.code, 1) << outcome.err;
  outcome = meterbank({"log", "save", file("b.mbr"), "-o", file("c.mbr")});
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"log", "save"},
           {"log", "save", file("a.mbr")},
           {"log", "save", file("a.mbr"), "-o", "x", "y"},
           {"log", "save", file("a.mbr"), "-o", "x", "--last", "0s"},
           {"record", "-o", file("box/"), "--last", "no"}}) {
    EXPECT_EQ(meterbank(arguments).code, 2);
  }
  EXPECT_FALSE(std::filesystem::exists(file("c.mbr")));
}

}  // namespace
}  // namespace meterbank::cli
