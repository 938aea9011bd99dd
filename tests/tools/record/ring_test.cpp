// SPDX-License-Identifier: Apache-2.0
#include "record/ring_files.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "../../support/other_user.hpp"
#include "made_ticks.hpp"

namespace meterbank::record {
namespace {

constexpr std::uint64_t kKibibyte = 1024;

void expect_following_numbers(const std::vector<std::uint64_t>& numbers) {
  for (std::size_t index = 1; index < numbers.size(); ++index) {
    ASSERT_EQ(numbers[index], numbers[index - 1] + 1);
  }
}

// The index of each file is what a walk over its frames gives.
void expect_right_indexes(const std::string& path) {
  const auto recording = recording::Recording::open(path);
  ASSERT_TRUE(recording);
  for (const recording::RecordingFile& file : recording->files()) {
    ASSERT_TRUE(file.is_ended) << file.path;
    const test::TemporaryDirectory directory;
    const std::string torn = directory.path() + "/torn.mbr";
    std::filesystem::copy_file(file.path, torn);
    std::filesystem::resize_file(torn, file.bytes - 1);
    const auto walked = recording::Recording::open(torn);
    ASSERT_TRUE(walked);
    const recording::ChunkIndex& index = walked->files()[0].index;
    ASSERT_FALSE(walked->files()[0].is_ended);
    ASSERT_EQ(index.schemas(), file.index.schemas());
    ASSERT_EQ(index.chunks().size(), file.index.chunks().size());
    for (std::size_t chunk = 0; chunk < index.chunks().size(); ++chunk) {
      EXPECT_EQ(index.chunks()[chunk].offset, file.index.chunks()[chunk].offset);
      EXPECT_EQ(index.chunks()[chunk].ticks, file.index.chunks()[chunk].ticks);
      EXPECT_EQ(index.chunks()[chunk].last.realtime_ns,
                file.index.chunks()[chunk].last.realtime_ns);
    }
  }
}

TEST(RingFiles, StayWithinTheirSizeAfterEachWrite) {
  constexpr std::uint64_t kMost = 256 * kKibibyte;
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/ring";
  auto ring = RingFiles::open({path, true, kMost, 0}, {});
  ASSERT_TRUE(ring) << ring.error().message();
  MadeTicks ticks(40);
  std::uint64_t in_file = 0;
  for (int tick = 0; tick < 1500; ++tick) {
    const bool begins = in_file >= 64 * kKibibyte;
    if (begins) {
      ASSERT_TRUE(ring->begin_file());
      in_file = 0;
    }
    const std::string frames = ticks.next(begins || tick == 0);
    in_file += frames.size();
    ASSERT_TRUE(ring->write(frames));
    ASSERT_LE(bytes_in(path), kMost) << "tick " << tick;
  }
  ring->end_file();
  EXPECT_LE(bytes_in(path), kMost);
  EXPECT_GT(ring->files_evicted(), 5U);
  const ReadBack back = read_back(path);
  EXPECT_EQ(back.damages, 0U);
  EXPECT_GT(back.numbers.size(), 100U);
  EXPECT_EQ(back.numbers.back(), 1500U);
  expect_following_numbers(back.numbers);
  expect_right_indexes(path);
}

TEST(RingFiles, RefuseATickThatIsLargerThanTheRing) {
  const test::TemporaryDirectory directory;
  auto ring = RingFiles::open({directory.path(), true, 3000, 0}, {});
  ASSERT_TRUE(ring);
  MadeTicks small(2), large(1000);
  ASSERT_TRUE(ring->write(small.next(true)));
  const auto refused = ring->write(large.next(true));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kNoSpace);
  EXPECT_TRUE(ring->write(small.next(false)));
  EXPECT_LE(bytes_in(directory.path()), 3000U);
  ring->end_file();
  EXPECT_EQ(read_back(directory.path()).numbers, (std::vector<std::uint64_t>{1, 2}));
}

TEST(RingFiles, RemoveWhatIsTooOld) {
  const test::TemporaryDirectory directory;
  const auto put = [&](const std::string& name, std::int64_t age_s) {
    const std::string path = directory.path() + '/' + name;
    const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    timespec now{};
    ::clock_gettime(CLOCK_REALTIME, &now);
    const timespec then{now.tv_sec - age_s, 0};
    const std::array<timespec, 2> times{then, then};
    EXPECT_EQ(::futimens(file, times.data()), 0);
    ::close(file);
  };
  put("00000001.mbr", 7200);
  put("00000002.mbr", 3700);
  put("00000003.mbr", 3500);
  put("00000004.mbr", -100);  // written before the clock was set back
  put("notes.mbr", 7200);     // no file of a recorder
  auto ring = RingFiles::open({directory.path(), true, 0, 3600 * kSecond}, {});
  ASSERT_TRUE(ring);
  EXPECT_EQ(ring->files_evicted(), 2U);
  EXPECT_TRUE(std::filesystem::exists(directory.path() + "/00000003.mbr"));
  EXPECT_TRUE(std::filesystem::exists(directory.path() + "/00000004.mbr"));
  EXPECT_TRUE(std::filesystem::exists(directory.path() + "/00000005.mbr"));
  EXPECT_TRUE(std::filesystem::exists(directory.path() + "/notes.mbr"));
}

TEST(RingFiles, GoOnBesideThingsThatCannotBeRemoved) {
  const test::TemporaryDirectory directory;
  std::filesystem::create_directories(directory.path() + "/00000007.mbr/inside");
  auto ring = RingFiles::open({directory.path(), true, 64 * kKibibyte, 0}, {});
  ASSERT_TRUE(ring);
  MadeTicks ticks(40);
  for (int tick = 0; tick < 300; ++tick) {
    const bool begins = tick % 20 == 0;
    ASSERT_TRUE(!begins || ring->begin_file());
    ASSERT_TRUE(ring->write(ticks.next(begins)));
  }
  EXPECT_TRUE(std::filesystem::exists(directory.path() + "/00000007.mbr"));
  EXPECT_TRUE(std::filesystem::exists(directory.path() + "/00000022.mbr"));
}

Result<Appender> appender_on(const std::string& path, bool is_ring) {
  AppenderOptions options;
  options.path = path;
  options.is_ring = is_ring;
  return Appender::create(options, {});
}

TEST(Appender, RefusesADirectoryThatAnotherOneWritesTo) {
  const test::TemporaryDirectory directory;
  auto first = appender_on(directory.path(), true);
  ASSERT_TRUE(first);
  const auto second = appender_on(directory.path(), true);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kExists);
  EXPECT_NE(second.error().message().find("another recorder writes to " + directory.path()),
            std::string::npos);
  ASSERT_TRUE(first->finish());
  first = appender_on(directory.path() + "/other", true);
  EXPECT_TRUE(appender_on(directory.path(), true));
}

TEST(Appender, RefusesPathsThatItCannotWriteTo) {
  const test::TemporaryDirectory directory;
  ASSERT_TRUE(appender_on(directory.path() + "/file", false));
  const auto code = [&](const std::string& name, bool is_ring) {
    const auto made = appender_on(directory.path() + name, is_ring);
    if (made) return ErrorCode{};
    EXPECT_FALSE(made.error().remedy.empty()) << made.error().message();
    return made.error().code;
  };
  EXPECT_EQ(code("/file", false), ErrorCode::kExists);
  EXPECT_EQ(code("/file", true), ErrorCode::kSystem);
  EXPECT_EQ(code("/file/below", false), ErrorCode::kSystem);
  EXPECT_EQ(code("/file/below", true), ErrorCode::kSystem);
  EXPECT_EQ(code("/nothing/below", false), ErrorCode::kNotFound);
  EXPECT_EQ(code("/nothing/below", true), ErrorCode::kNotFound);
  if (!test::may_be_two_users()) return;
  ASSERT_EQ(::chmod(directory.path().c_str(), 0755), 0);
  ASSERT_EQ(::seteuid(test::kOtherUid), 0);
  const ErrorCode ring = code("", true), file = code("/new", false), below = code("/new", true);
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_EQ(ring, ErrorCode::kDenied);
  EXPECT_EQ(file, ErrorCode::kDenied);
  EXPECT_EQ(below, ErrorCode::kDenied);
}

TEST(Appender, EndsItsFileWhenItIsDestroyed) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/file.mbr";
  {
    auto appender = *appender_on(path, false);
    MadeTicks ticks(5);
    for (int tick = 0; tick < 10; ++tick) {
      ASSERT_TRUE(appender.append(ticks.next(appender.begins_anew())));
    }
  }
  const ReadBack back = read_back(path);
  EXPECT_EQ(back.ended, 1U);
  EXPECT_EQ(back.numbers.size(), 10U);
  expect_right_indexes(path);
}

TEST(Appender, LosesASampleThatTheQueueCannotHoldAndSaysThatItIsTooLarge) {
  const test::TemporaryDirectory directory;
  AppenderOptions options;
  options.path = directory.path() + "/file.mbr";
  options.queue_max = 2000;
  auto appender = *Appender::create(options, {});
  MadeTicks small(2), large(500);
  ASSERT_TRUE(appender.append(small.next(appender.begins_anew())));
  EXPECT_FALSE(appender.append(large.next(true), {.lost = 1}));
  EXPECT_EQ(appender.counts().lost, 1U);
  EXPECT_EQ(appender.counts().last_error.code, ErrorCode::kLimit);
  EXPECT_EQ(appender.take_lost().lost, 1U);
  EXPECT_EQ(appender.take_lost().lost, 0U);
  ASSERT_TRUE(appender.begins_anew());
  EXPECT_TRUE(appender.append(small.next(true)));
  ASSERT_TRUE(appender.finish());
  EXPECT_FALSE(appender.append(small.next(false)));
  EXPECT_EQ(read_back(options.path).numbers, (std::vector<std::uint64_t>{1, 2}));
}

TEST(Appender, RingIsReadAcrossRestarts) {
  const test::TemporaryDirectory directory;
  MadeTicks ticks(50);
  for (int life = 0; life < 4; ++life) {
    auto appender = *appender_on(directory.path(), true);
    for (int tick = 0; tick < 10; ++tick) {
      ASSERT_TRUE(appender.append(ticks.next(appender.begins_anew())));
    }
  }
  const ReadBack back = read_back(directory.path());
  EXPECT_EQ(back.numbers.size(), 40U);
  EXPECT_EQ(back.files, 4U);
  EXPECT_EQ(back.ended, 4U);
  expect_following_numbers(back.numbers);
}

}  // namespace
}  // namespace meterbank::record
