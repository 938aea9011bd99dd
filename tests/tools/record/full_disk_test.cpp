// SPDX-License-Identifier: Apache-2.0
//
// File systems without room: ticks are lost whole, counted and named, and the recording goes on.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "../../support/comes_true.hpp"
#include "../../support/file_size_limit.hpp"
#include "../../support/orders_schema.hpp"
#include "made_ticks.hpp"
#include "meterbank/publisher.hpp"
#include "record/recorder.hpp"

namespace meterbank::record {
namespace {

// A recorder of a provider of this process, whose first counter is the number of the tick.
class RecordedProvider {
 public:
  RecordedProvider(const std::string& directory, AppenderOptions files)
      : provider_(*Provider::create({.name = "shop", .directory = directory})),
        orders_(*provider_.add(test::kOrders)),
        venue_(*orders_.create_instance("XNYS")),
        recorder_(Recorder::open({.catalog = {.directory = directory},
                                  .rates = {RatePlan{}},
                                  .files = std::move(files),
                                  .program = "test"})) {
    for (int instance = 0; instance < 60; ++instance) {
      others_.push_back(*orders_.create_instance("venue " + std::to_string(instance)));
    }
  }

  [[nodiscard]] bool is_open() const noexcept { return static_cast<bool>(recorder_); }
  // Takes a tick, and returns when it was written or lost.
  void tick() {
    ++taken_;
    venue_.update([&](Values& values) { values.set(0U, taken_); });
    for (Instance& other : others_) {
      other.update([&](Values& values) { values.add(1U, noise_ = noise_ * 48271 % 2147483647); });
    }
    const AppenderCounts before = recorder_->file_counts();
    recorder_->tick_everything();
    EXPECT_TRUE(test::comes_true([&] {
      const AppenderCounts counts = recorder_->file_counts();
      return counts.bytes > before.bytes || counts.lost > before.lost;
    }));
  }
  [[nodiscard]] Recorder& recorder() { return *recorder_; }
  [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }

 private:
  Provider provider_;
  Registration orders_;
  Instance venue_;
  std::vector<Instance> others_;
  Result<Recorder> recorder_;
  std::uint64_t taken_ = 0;
  std::uint64_t noise_ = 1;
};

// Each tick was kept or is in a gap, and none in both.
void expect_all_accounted(RecordedProvider& provider, const std::string& path) {
  ASSERT_TRUE(provider.recorder().finish());
  const RecorderCounts counts = provider.recorder().counts();
  const ReadBack back = read_back(path, {"*/XNYS/accepted"});
  EXPECT_EQ(back.damages, 0U);
  EXPECT_EQ(back.gap_ticks, counts.lost + counts.missed);
  EXPECT_EQ(back.numbers.size(), provider.taken() - counts.lost);
  EXPECT_EQ(back.numbers.back(), provider.taken());
  for (std::size_t index = 1; index < back.numbers.size(); ++index) {
    ASSERT_LT(back.numbers[index - 1], back.numbers[index]);
  }
}

AppenderOptions file_at(const std::string& path) {
  AppenderOptions options;
  options.path = path;
  return options;
}

AppenderOptions ring_at(const std::string& path, std::uint64_t bytes_max = 0) {
  AppenderOptions options = file_at(path);
  options.is_ring = true;
  options.bytes_max = bytes_max;
  return options;
}

TEST(FullDisk, LosesTicksWholeAndNamesThem) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/file.mbr";
  RecordedProvider provider(directory.path(), file_at(path));
  ASSERT_TRUE(provider.is_open());
  for (int tick = 0; tick < 20; ++tick) provider.tick();
  for (int time = 0; time < 3; ++time) {
    {
      const test::FileSizeLimit full(std::filesystem::file_size(path) + 100);
      for (int tick = 0; tick < 15; ++tick) provider.tick();
    }
    for (int tick = 0; tick < 10; ++tick) provider.tick();
  }
  EXPECT_EQ(provider.recorder().counts().lost, 45U);
  EXPECT_EQ(provider.recorder().file_counts().last_error.code, ErrorCode::kNoSpace);
  expect_all_accounted(provider, path);
}

TEST(FullDisk, OfARingThatCannotBeginAFileIsNotTheEnd) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.path() + "/ring";
  RecordedProvider provider(directory.path(), ring_at(path, 1 << 20U));
  ASSERT_TRUE(provider.is_open());
  for (int tick = 0; tick < 300; ++tick) provider.tick();
  {
    // The directory is gone for a while.
    std::filesystem::rename(path, path + ".away");
    for (int tick = 0; tick < 800; ++tick) provider.tick();
    std::filesystem::rename(path + ".away", path);
  }
  EXPECT_GT(provider.recorder().counts().lost, 0U);
  const std::uint64_t lost = provider.recorder().counts().lost;
  EXPECT_LT(lost, 800U);
  for (int tick = 0; tick < 300; ++tick) provider.tick();
  EXPECT_EQ(provider.recorder().counts().lost, lost);
  expect_all_accounted(provider, path);
}

// Runs it with a file system of a size; false: it cannot be made here.
bool with_small_file_system(const std::string& path, const char* size,
                            const std::function<void()>& body) {
  constexpr int kCannot = 77;
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_made = ::unshare(CLONE_NEWNS) == 0 &&
                         ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         ::mount("tmpfs", path.c_str(), "tmpfs", 0, size) == 0;
    if (!is_made) ::_exit(kCannot);
    body();
    ::_exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kCannot) return false;
  EXPECT_EQ(WEXITSTATUS(status), 0);
  return true;
}

TEST(FullDisk, OfARealFileSystemEvictsTheOldestFirst) {
  const test::TemporaryDirectory directory;
  const test::TemporaryDirectory small;
  const std::string path = small.path() + "/ring";
  const bool ran = with_small_file_system(small.path(), "size=1m", [&] {
    // Files of 256 KiB: the limit is beyond what there is.
    RecordedProvider provider(directory.path(), ring_at(path, 8 << 20U));
    ASSERT_TRUE(provider.is_open());
    while (provider.recorder().file_counts().evicted < 3 && provider.taken() < 40'000)
      provider.tick();
    EXPECT_EQ(provider.recorder().file_counts().evicted, 3U);
    EXPECT_EQ(provider.recorder().counts().lost, 0U);
    ASSERT_TRUE(provider.recorder().finish());
    const ReadBack back = read_back(path, {"*/XNYS/accepted"});
    EXPECT_EQ(back.damages, 0U);
    EXPECT_EQ(back.numbers.back(), provider.taken());
  });
  if (!ran) GTEST_SKIP() << "may not mount a file system";
}

TEST(FullDisk, OfARealFileSystemLosesTicksUntilThereIsRoom) {
  const test::TemporaryDirectory directory;
  const test::TemporaryDirectory small;
  const std::string path = small.path() + "/file.mbr";
  const bool ran = with_small_file_system(small.path(), "size=1m", [&] {
    RecordedProvider provider(directory.path(), file_at(path));
    ASSERT_TRUE(provider.is_open());
    for (int tick = 0; tick < 20; ++tick) provider.tick();
    const std::string filler = small.path() + "/filler";
    std::ofstream(filler) << std::string(2 << 20U, 'x');
    while (provider.recorder().counts().lost < 20 && provider.taken() < 5000) provider.tick();
    EXPECT_EQ(provider.recorder().counts().lost, 20U);
    std::filesystem::remove(filler);
    for (int tick = 0; tick < 20; ++tick) provider.tick();
    expect_all_accounted(provider, path);
  });
  if (!ran) GTEST_SKIP() << "may not mount a file system";
}

}  // namespace
}  // namespace meterbank::record
