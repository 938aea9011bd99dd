// SPDX-License-Identifier: Apache-2.0
//
// Files that end anywhere, as after the death of a recorder or in the middle of a write.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "../../support/depth.hpp"
#include "made_recording.hpp"

namespace meterbank::recording {
namespace {

// How many ticks end at or before this offset of the last file.
std::size_t whole_ticks(const MadeRecording& made, std::uint64_t bytes) {
  std::size_t count = 0;
  const std::size_t last = made.ticks.back().file;
  for (const MadeTick& tick : made.ticks) count += tick.file < last || tick.end <= bytes ? 1 : 0;
  return count;
}

// Where the last whole frame ends.
std::uint64_t whole_bytes(std::string_view bytes) {
  MemoryBytes source(std::as_bytes(std::span(bytes)));
  FrameWalk walk(source);
  while (walk.next()) {
  }
  return walk.whole();
}

void expect_whole_ticks(const std::string& path, const MadeRecording& made,
                        std::string_view bytes) {
  ShownRecording shown(path);
  ASSERT_TRUE(shown.is_open()) << shown.error().what;
  const bool is_ended = bytes.size() == made.files.all_of_last().size();
  const RecordingFile& file = shown.recording().files().back();
  EXPECT_EQ(file.is_ended, is_ended);
  EXPECT_EQ(file.unfinished, bytes.size() - whole_bytes(bytes));
  EXPECT_EQ(shown_ticks(shown, made.ticks).size(), whole_ticks(made, bytes.size()));
  EXPECT_EQ(shown.recording().damages().size(), 0U)
      << (shown.recording().damages().empty() ? "" : shown.recording().damages()[0].what);
}

TEST(TornRecording, ShowsAllWholeTicksWhereverItsFileEnds) {
  const MadeRecording made({.ticks = 9, .chunk_ticks = 4});
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/torn.mbr";
  const std::string& bytes = made.files.all_of_last();
  // All of the last two ticks and of the index, and some of what was before.
  const std::uint64_t part = made.ticks[made.ticks.size() - 3].end;
  const std::uint64_t step = 20 / test::tries(20);
  for (std::uint64_t end = made.ticks[0].begin; end <= bytes.size();
       end += end < part ? 97 : step) {
    SCOPED_TRACE("the first " + std::to_string(end) + " bytes");
    const std::string_view cut(bytes.data(), end);
    write_file(path, cut);
    expect_whole_ticks(path, made, cut);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(TornRecording, OfARingIsReadOnInTheNextFile) {
  const MadeRecording made({.files = 3, .ticks = 5, .chunk_ticks = 2});
  const test::TemporaryDirectory directory;
  made.files.write_to(directory.path());
  const MadeTick& torn = made.ticks[7];
  std::filesystem::resize_file(directory.path() + '/' + numbered_name(1), torn.end - 1);
  ShownRecording shown(directory.path());
  ASSERT_TRUE(shown.is_open());
  const auto numbers = shown_ticks(shown, made.ticks);
  EXPECT_EQ(numbers, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 14}));
  // The recorder had ended this file.
  EXPECT_EQ(shown.recording().damages().size(), 1U);
  EXPECT_EQ(shown.recording().files()[1].unfinished, torn.end - 1 - torn.begin);
}

TEST(TornRecording, WithoutAHeadIsRefused) {
  const MadeRecording made({.ticks = 1});
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/torn.mbr";
  for (std::size_t end = 0; end < made.ticks[0].begin; ++end) {
    const std::string& bytes = made.files.all_of_last();
    std::uint64_t head = kFrameHead;
    head += static_cast<unsigned char>(bytes[0]);
    if (end >= head) break;
    write_file(path, std::string_view(bytes.data(), end));
    const auto opened = Recording::open(path);
    ASSERT_FALSE(opened) << end;
    EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
  }
}

TEST(TornRecording, LosesWhatIsCutWhileItIsRead) {
  const MadeRecording made({.ticks = 12, .chunk_ticks = 3});
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/cut.mbr";
  write_file(path, made.files.all_of_last());
  ShownRecording shown(path);
  ASSERT_TRUE(shown.is_open());
  ASSERT_TRUE(shown.recording().next());
  std::filesystem::resize_file(path, made.ticks[5].end - 2);
  const auto numbers = shown_ticks(shown, made.ticks);
  ASSERT_GE(numbers.size(), 4U);  // and more that were in memory already
  for (std::size_t number = 0; number < made.ticks.size(); ++number) {
    const std::uint64_t time = made.ticks[number].time.realtime_ns;
    const bool is_found = shown.recording().seek(time);
    if (number <= 4) {
      EXPECT_TRUE(is_found && shown.shows(made.ticks[number])) << number;
    } else if (is_found) {
      EXPECT_LE(shown.recording().time().realtime_ns, time);
    }
  }
  std::filesystem::resize_file(path, 0);
  EXPECT_FALSE(shown.recording().seek(made.ticks[2].time.realtime_ns));
  EXPECT_FALSE(shown.recording().next());
  EXPECT_NE(shown.recording().damages().size(), 0U);
}

TEST(TornRecording, MayBeEvictedWhileItIsRead) {
  const MadeRecording made({.files = 3, .ticks = 4});
  const test::TemporaryDirectory directory;
  made.files.write_to(directory.path());
  ShownRecording shown(directory.path());
  ASSERT_TRUE(shown.is_open());
  ASSERT_TRUE(shown.recording().next());
  EXPECT_TRUE(shown.shows(made.ticks[0]));
  for (std::size_t file = 0; file < 3; ++file) {
    std::filesystem::remove(directory.path() + '/' + numbered_name(file));
  }
  EXPECT_EQ(shown_ticks(shown, made.ticks).size(), made.ticks.size() - 1);
  EXPECT_EQ(shown.recording().damages().size(), 0U);
}

TEST(TornRecording, IsReadWhileItIsWritten) {
  const MadeRecording made({.ticks = 12, .chunk_ticks = 3});
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/grows.mbr";
  const std::string& bytes = made.files.all_of_last();
  write_file(path, std::string_view(bytes.data(), made.ticks[4].end));
  ShownRecording shown(path);
  ASSERT_TRUE(shown.is_open());
  std::ofstream(path, std::ios::binary | std::ios::app) << bytes.substr(made.ticks[4].end);
  EXPECT_GE(shown_ticks(shown, made.ticks).size(), 5U);
  EXPECT_TRUE(shown.recording().seek(made.ticks[1].time.realtime_ns));
  EXPECT_TRUE(shown.shows(made.ticks[1]));
  EXPECT_EQ(shown.recording().damages().size(), 0U);
}

}  // namespace
}  // namespace meterbank::recording
