// SPDX-License-Identifier: Apache-2.0
//
// Looking for a time: every recorded moment is found, whatever the wall clock did.
#include <gtest/gtest.h>

#include "../../support/depth.hpp"
#include "made_recording.hpp"

namespace meterbank::recording {
namespace {

constexpr auto kJump = static_cast<std::int64_t>(kSecond);

// The last in the recording of the latest moments at or before the time; or none.
std::size_t expected_at(const MadeRecording& made, std::uint64_t realtime_ns) {
  std::size_t best = made.ticks.size();
  for (std::size_t number = 0; number < made.ticks.size(); ++number) {
    const std::uint64_t time = made.ticks[number].time.realtime_ns;
    if (time > realtime_ns) continue;
    if (best == made.ticks.size() || time >= made.ticks[best].time.realtime_ns) best = number;
  }
  return best;
}

void expect_found(const MadeRecording& made, ShownRecording& shown, std::uint64_t realtime_ns) {
  const std::size_t number = expected_at(made, realtime_ns);
  const bool found = shown.recording().seek(realtime_ns);
  ASSERT_EQ(found, number != made.ticks.size());
  if (!found) return;
  ASSERT_TRUE(shown.shows(made.ticks[number]))
      << "not tick " << number << " but " << shown.recording().time().monotonic_ns / kSecond - 1;
  ASSERT_EQ(shown.recording().next(), number + 1 != made.ticks.size());
  if (number + 1 == made.ticks.size()) return;
  ASSERT_TRUE(shown.shows(made.ticks[number + 1]));
}

void expect_all_found(const MadePlan& plan) {
  const MadeRecording made(plan);
  const test::TemporaryDirectory directory;
  made.files.write_to(directory.path());
  ShownRecording shown(directory.path());
  ASSERT_TRUE(shown.is_open());
  EXPECT_FALSE(shown.recording().seek(0));
  EXPECT_FALSE(shown.recording().is_somewhere());
  std::minstd_rand dice(plan.seed);
  for (std::uint64_t round = 0; round < test::tries(120); ++round) {
    const MadeTick& tick = made.ticks[dice() % made.ticks.size()];
    const auto off = static_cast<std::int64_t>(dice() % 3) - 1;
    SCOPED_TRACE("round " + std::to_string(round));
    expect_found(made, shown, tick.time.realtime_ns + static_cast<std::uint64_t>(off * kJump / 2));
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_EQ(shown.recording().damages().size(), 0U);
}

TEST(SeekRecording, FindsEveryMoment) {
  expect_all_found({.files = 3, .ticks = 12, .chunk_ticks = 5});
}

TEST(SeekRecording, FindsEveryMomentOfLongSteps) {
  expect_all_found({.files = 2, .ticks = 12, .chunk_ticks = 5, .step_ns = 90 * kSecond});
}

TEST(SeekRecording, FindsEveryMomentWhenTheClockIsSetForward) {
  expect_all_found({.files = 2,
                    .ticks = 9,
                    .chunk_ticks = 9,
                    .jumps = {0, 0, 0, 100 * kJump, 0, 0, 0, 0, 0, 0, 0, 7 * kJump}});
}

TEST(SeekRecording, FindsEveryMomentWhenTheClockIsSetBack) {
  for (const std::int64_t back : {1, 2, 3, 5, 30, 5000}) {
    SCOPED_TRACE(back);
    expect_all_found({.files = 2,
                      .ticks = 9,
                      .chunk_ticks = 9,
                      .jumps = {0, 0, 0, 0, 0, -back * kJump, 0, 0, 0, 0, 0, -back * kJump}});
    if (testing::Test::HasFailure()) return;
  }
}

TEST(SeekRecording, FindsEveryMomentWhenTheClockGoesThereAndBack) {
  expect_all_found(
      {.files = 2,
       .ticks = 9,
       .chunk_ticks = 9,
       .jumps = {0, 0, 0, 100 * kJump, 0, 0, -100 * kJump, 0, 0, 0, 3 * kJump, -3 * kJump}});
}

TEST(SeekRecording, ShowsTheLastOfEqualTimes) {
  expect_all_found({.files = 1,
                    .ticks = 9,
                    .chunk_ticks = 3,
                    .jumps = {0, 0, -kJump, -kJump, -kJump, 0, -kJump, 0, -kJump}});
}

TEST(SeekRecording, ChangesNothingIfThereIsNoMoment) {
  const MadeRecording made({.ticks = 9, .chunk_ticks = 3});
  const test::TemporaryDirectory directory;
  made.files.write_to(directory.path());
  ShownRecording shown(directory.path());
  ASSERT_TRUE(shown.is_open());
  ASSERT_TRUE(shown.recording().seek(made.ticks[4].time.realtime_ns));
  EXPECT_FALSE(shown.recording().seek(made.ticks[0].time.realtime_ns - 1));
  EXPECT_TRUE(shown.shows(made.ticks[4]));
  ASSERT_TRUE(shown.recording().next());
  EXPECT_TRUE(shown.shows(made.ticks[5]));
  EXPECT_TRUE(shown.recording().seek(~std::uint64_t{0}));
  EXPECT_TRUE(shown.shows(made.ticks[8]));
  EXPECT_FALSE(shown.recording().next());
  EXPECT_TRUE(shown.shows(made.ticks[8]));
}

TEST(SeekRecording, KnowsTheEarliestAndTheLatestMoment) {
  const MadeRecording made({.ticks = 9, .chunk_ticks = 3, .jumps = {0, 0, 0, 0, 0, -500 * kJump}});
  const test::TemporaryDirectory directory;
  made.files.write_to(directory.path());
  ShownRecording shown(directory.path());
  ASSERT_TRUE(shown.is_open());
  EXPECT_EQ(shown.recording().first().realtime_ns, made.ticks[5].time.realtime_ns);
  EXPECT_EQ(shown.recording().last().realtime_ns, made.ticks[4].time.realtime_ns);
}

}  // namespace
}  // namespace meterbank::recording
