// SPDX-License-Identifier: Apache-2.0
//
// Directories with things in them that no recorder put there, and without things that one did.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "../../support/depth.hpp"
#include "../../support/other_user.hpp"
#include "made_recording.hpp"

namespace meterbank::recording {
namespace {

class ForeignFiles : public testing::Test {
 protected:
  ForeignFiles() { made_.files.write_to(directory_.path()); }

  [[nodiscard]] std::string path(const std::string& name) const {
    return directory_.path() + '/' + name;
  }
  // All that was recorded is shown, and one damage names the path.
  void expect_all_beside(const std::string& name) {
    ShownRecording shown(directory_.path());
    ASSERT_TRUE(shown.is_open()) << shown.error().message();
    EXPECT_EQ(shown_ticks(shown, made_.ticks).size(), made_.ticks.size());
    const auto damages = shown.recording().damages();
    ASSERT_EQ(damages.size(), 1U);
    EXPECT_EQ(damages[0].path, path(name));
  }
  // The error of a recording that consists of this only.
  [[nodiscard]] ErrorCode alone(const std::string& name) const {
    const auto opened = Recording::open(path(name));
    return opened ? ErrorCode{} : opened.error().code;
  }

  const MadeRecording made_{{.files = 3, .ticks = 4, .chunk_ticks = 2}};
  const test::TemporaryDirectory directory_;
};

TEST_F(ForeignFiles, MissingInTheMiddleAreNamedAndLeaveTheOthersReadable) {
  std::filesystem::remove(path(numbered_name(1)));
  ShownRecording shown(directory_.path());
  ASSERT_TRUE(shown.is_open());
  EXPECT_EQ(shown_ticks(shown, made_.ticks), (std::vector<std::size_t>{0, 1, 2, 3, 8, 9, 10, 11}));
  ASSERT_EQ(shown.recording().damages().size(), 1U);
  EXPECT_EQ(shown.recording().damages()[0].path, path(numbered_name(2)));
  EXPECT_TRUE(shown.recording().seek(made_.ticks[6].time.realtime_ns));
  EXPECT_TRUE(shown.shows(made_.ticks[3]));
}

TEST_F(ForeignFiles, WithOtherBytesAreNamed) {
  write_file(path("00000002x.mbr"),
             "\x7f"
             "ELF is no recording, and neither are these few words");
  expect_all_beside("00000002x.mbr");
  EXPECT_EQ(alone("00000002x.mbr"), ErrorCode::kCorrupt);
}

TEST_F(ForeignFiles, InTheMiddleThatWereEmptiedOrCutAreNamed) {
  const std::string& bytes = made_.files.all()[1].bytes;
  for (const std::size_t left : {std::size_t{0}, std::size_t{20}, bytes.size() / 2}) {
    write_file(path(numbered_name(1)), std::string_view(bytes).substr(0, left));
    ShownRecording shown(directory_.path());
    ASSERT_TRUE(shown.is_open());
    static_cast<void>(shown_ticks(shown, made_.ticks));
    EXPECT_EQ(shown.recording().damages().size(), 1U) << left;
  }
}

TEST_F(ForeignFiles, OfAnotherRecorderAmongThoseOfOneAreNamed) {
  Head other = made_.files.all()[1].head;
  other.recorder.part1 = 99;
  std::string head;
  append_head(other, head);
  write_file(path(numbered_name(1)), head);
  ShownRecording shown(directory_.path());
  ASSERT_TRUE(shown.is_open());
  const auto damages = shown.recording().damages();
  ASSERT_EQ(damages.size(), 2U);  // it is there, and the one that it replaced is not
  EXPECT_EQ(damages[0].path, path(numbered_name(2)));
  EXPECT_EQ(damages[1].path, path(numbered_name(1)));
}

// Each has its own beginning, and the number of a file that stands alone.
TEST_F(ForeignFiles, ThatAreSavedPartsOfSeveralRecordersAreNoDamage) {
  const test::TemporaryDirectory parts;
  for (std::size_t part = 0; part < 4; ++part) {
    Head of_part = made_.files.all()[0].head;
    of_part.sequence = 1;
    of_part.recorder.part1 = part % 2;
    std::string head;
    append_head(of_part, head);
    write_file(parts.path() + '/' + numbered_name(part), head);
  }
  ShownRecording shown(parts.path());
  ASSERT_TRUE(shown.is_open());
  EXPECT_EQ(shown.recording().damages().size(), 0U);
}

// A recorder that is killed may leave one.
TEST_F(ForeignFiles, ThatAreEmptyAreNoDamage) {
  write_file(path("00000000.mbr"), "");
  write_file(path("00000004.mbr"), std::string_view(made_.files.all()[0].bytes).substr(0, 20));
  ShownRecording shown(directory_.path());
  ASSERT_TRUE(shown.is_open());
  EXPECT_EQ(shown_ticks(shown, made_.ticks).size(), made_.ticks.size());
  EXPECT_EQ(shown.recording().damages().size(), 0U);
  EXPECT_EQ(alone("00000000.mbr"), ErrorCode::kCorrupt);
}

TEST_F(ForeignFiles, ThatAreDirectoriesAreNamed) {
  std::filesystem::create_directory(path("x.mbr"));
  expect_all_beside("x.mbr");
  EXPECT_EQ(alone("x.mbr"), ErrorCode::kNotFound);
}

TEST_F(ForeignFiles, ThatAreFifosDoNotBlock) {
  ASSERT_EQ(::mkfifo(path("fifo.mbr").c_str(), 0600), 0);
  expect_all_beside("fifo.mbr");
  EXPECT_EQ(alone("fifo.mbr"), ErrorCode::kInvalidArgument);
}

TEST_F(ForeignFiles, ThatAreDanglingLinksAreNamed) {
  std::filesystem::create_symlink("nowhere", path("link.mbr"));
  expect_all_beside("link.mbr");
  EXPECT_EQ(alone("link.mbr"), ErrorCode::kNotFound);
}

TEST_F(ForeignFiles, OfANewerMajorVersionAreRefused) {
  Head head;
  head.major = kFormatMajor + 1;
  std::string bytes;
  append_head(head, bytes);
  write_file(path("newer.mbr"), bytes);
  expect_all_beside("newer.mbr");
  EXPECT_EQ(alone("newer.mbr"), ErrorCode::kNewerLayout);
}

TEST_F(ForeignFiles, ThatMayNotBeReadAreNamed) {
  if (!test::may_be_two_users()) GTEST_SKIP() << "needs root";
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0755), 0);
  for (std::size_t file = 0; file < 3; ++file) {
    ASSERT_EQ(::chmod(path(numbered_name(file)).c_str(), file == 1 ? 0600 : 0644), 0);
  }
  ASSERT_EQ(::seteuid(test::kOtherUid), 0);
  auto opened = Recording::open(directory_.path());
  const auto one = Recording::open(path(numbered_name(1)));
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_TRUE(opened);
  EXPECT_EQ(opened->files().size(), 2U);
  EXPECT_EQ(opened->damages().size(), 1U);
  ASSERT_FALSE(one);
  EXPECT_EQ(one.error().code, ErrorCode::kDenied);
}

TEST_F(ForeignFiles, OfAnotherRecorderDoNotContinueThisOne) {
  // The same ticks by another run, with other providers.
  const MadeRecording other({.seed = 2, .files = 1, .ticks = 4, .chunk_ticks = 4});
  std::string bytes = other.files.all_of_last();
  write_file(path("00000004.mbr"), bytes);
  ShownRecording shown(directory_.path());
  ASSERT_TRUE(shown.is_open());
  std::size_t moments = 0;
  while (shown.recording().next()) {
    const MadeTick& tick = moments < 12 ? made_.ticks[moments] : other.ticks[moments - 12];
    ASSERT_TRUE(shown.shows(tick)) << moments;
    ++moments;
  }
  EXPECT_EQ(moments, 16U);
}

TEST_F(ForeignFiles, WithTicksThatHaveNoKeyFrameShowNothing) {
  // A file that begins with a tick of the chunk in the file before it.
  const MadeFile& first = made_.files.all()[0];
  std::string bytes = first.bytes.substr(0, made_.ticks[0].begin);
  bytes += first.bytes.substr(made_.ticks[1].begin, made_.ticks[1].end - made_.ticks[1].begin);
  const test::TemporaryDirectory directory;
  write_file(directory.path() + "/1.mbr", first.bytes.substr(0, made_.ticks[0].end));
  write_file(directory.path() + "/2.mbr", bytes);
  ShownRecording shown(directory.path());
  ASSERT_TRUE(shown.is_open());
  EXPECT_EQ(shown_ticks(shown, made_.ticks), (std::vector<std::size_t>{0}));
}

TEST_F(ForeignFiles, LargerThanFourGibibytesAreRead) {
  // A hole behind the first chunk, and the second one and an index behind the hole.
  const MadeRecording made({.ticks = 4, .chunk_ticks = 2});
  const std::string_view bytes = made.files.all_of_last();
  const std::uint64_t place = made.ticks[1].end;
  const std::uint64_t hole = (std::uint64_t{4} << 30U) + 4321;
  ChunkIndex index;
  MemoryBytes source(std::as_bytes(std::span(bytes.substr(0, made.ticks.back().end))));
  FrameWalk walk(source);
  while (auto frame = walk.next()) {
    if (frame->offset >= place) frame->offset += hole;
    index.take(*frame);
  }
  std::string behind(bytes.substr(place, made.ticks.back().end - place));
  index.append_to(behind, place + hole + behind.size());
  const std::string large = path("large.mbr");
  write_file(large, bytes.substr(0, place));
  std::filesystem::resize_file(large, place + hole);
  std::ofstream(large, std::ios::binary | std::ios::app) << behind;

  ShownRecording shown(large);
  ASSERT_TRUE(shown.is_open());
  EXPECT_TRUE(shown.recording().files()[0].is_ended);
  EXPECT_EQ(shown.recording().files()[0].bytes, place + hole + behind.size());
  for (const std::size_t tick : {3U, 2U, 0U}) {
    ASSERT_TRUE(shown.recording().seek(made.ticks[tick].time.realtime_ns));
    EXPECT_TRUE(shown.shows(made.ticks[tick]));
  }
  if (!test::runs_long()) return;
  EXPECT_EQ(shown_ticks(shown, made.ticks), (std::vector<std::size_t>{1, 2, 3}));
  ASSERT_EQ(shown.recording().damages().size(), 1U);
  EXPECT_EQ(shown.recording().damages()[0].bytes, hole);
}

TEST(RecordingPath, ThatIsNoneIsNotFound) {
  const test::TemporaryDirectory directory;
  write_file(directory.path() + "/file", "");
  for (const std::string name : {"/nothing", "/file/below", ""}) {
    const auto opened = Recording::open(directory.path() + name);
    ASSERT_FALSE(opened) << name;
    EXPECT_EQ(opened.error().code, ErrorCode::kNotFound) << name;
  }
}

}  // namespace
}  // namespace meterbank::recording
