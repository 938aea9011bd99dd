// SPDX-License-Identifier: Apache-2.0
//
// Death inside the start of a provider: see crash_sweep.hpp.
#include <gtest/gtest.h>

#include <iostream>
#include <optional>

#include "../../support/depth.hpp"
#include "../../support/temporary_directory.hpp"
#include "../numbered_set.hpp"
#include "crash_sweep.hpp"
#include "hand_made_segment.hpp"
#include "meterbank/publisher.hpp"

namespace meterbank {
namespace {

using test::SeenSlot;
using test::SegmentEye;
using test::SteppedChild;
using test::Tally;

class StartAct final : public test::Act {
 public:
  explicit StartAct(std::string directory) : directory_(std::move(directory)) {}
  void prepare() override {}
  void perform() override {
    provider_.emplace(*Provider::create(
        {.name = "swept", .directory = directory_, .heartbeat = std::chrono::milliseconds(0)}));
  }

 private:
  std::string directory_;
  std::optional<Provider> provider_;
};

// True once the provider can be found. A reader that finds a record must be able to use it.
bool judge_start(const std::string& directory, std::optional<SegmentEye>& eye, Tally& tally) {
  const auto records = test::records_in(directory);
  if (records.empty()) {
    if (eye) tally.note(tally.backwards, "the record is gone");
    return false;
  }
  if (!eye) {
    auto found = SegmentEye::of_record(records.front());
    if (!found) {
      tally.note(tally.unreadable, found.error().message());
      return true;
    }
    eye.emplace(std::move(*found));
  }
  std::vector<SeenSlot> slots;
  const std::string fault = eye->walk(slots);
  // relaxed: one look at memory that does not change now.
  const bool is_live = eye->header().state.load(std::memory_order_relaxed) ==
                       static_cast<std::uint32_t>(SegmentState::kLive);
  const std::string_view name(eye->header().name.data(), eye->header().name_bytes);
  if (!fault.empty() || !is_live || name != "swept") {
    tally.note(tally.malformed, "header " + fault);
  }
  return true;
}

TEST(CrashSweep, AProviderIsFoundCompleteOrNotAtAllWhereverItsStartDies) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  Tally tally;
  bool is_found = false;
  for (int round = 0; round < (test::runs_long() ? 3 : 1); ++round) {
    const test::TemporaryDirectory directory;
    StartAct act(directory.path());
    SteppedChild child(act);
    ASSERT_TRUE(child.is_ready());
    std::optional<SegmentEye> eye;
    auto stop = SteppedChild::Stop::kInside;
    while ((stop = child.step()) == SteppedChild::Stop::kInside) {
      ++tally.points;
      is_found = judge_start(directory.path(), eye, tally);
    }
    EXPECT_EQ(stop, SteppedChild::Stop::kFinished);
    EXPECT_TRUE(is_found);
  }
  // The file system changes in system calls only: a child killed at each boundary of each of them
  // leaves a record of a dead process or none, and a successor starts beside it.
  const test::TemporaryDirectory directory;
  for (int last = 0;; ++last) {
    StartAct act(directory.path());
    SteppedChild child(act);
    ASSERT_TRUE(child.is_ready());
    auto stop = SteppedChild::Stop::kInside;
    for (int calls = 0; calls < last && stop == SteppedChild::Stop::kInside; ++calls) {
      stop = child.to_system_call();
    }
    if (stop != SteppedChild::Stop::kInside) {
      EXPECT_EQ(stop, SteppedChild::Stop::kFinished);
      EXPECT_TRUE(SegmentEye::of_directory(directory.path()));
      break;
    }
    child.kill();
    ++tally.kills;
    const auto left = SegmentEye::of_directory(directory.path());
    if (left) tally.note(tally.malformed, "a dead provider is taken for a live one");
    if (!left && left.error().code != ErrorCode::kNotFound) {
      tally.note(tally.malformed, left.error().message());
    }
  }
  test::expect_clean(tally, 5'000, 40'000);
}

// ---- Control: the same judgement of an operation with a known fault must find it ----

// The record before the header is complete.
class HastyStartAct final : public test::Act {
 public:
  explicit HastyStartAct(std::string directory) : directory_(std::move(directory)) {}
  void prepare() override {}
  void perform() override {
    segment_.build(directory_);
    segment_.write_pointer_record();
    segment_.show_magic();
  }

 private:
  std::string directory_;
  test::HandMadeSegment segment_;
};

TEST(CrashSweepControl, ARecordThatLeadsToAnUnfinishedSegmentIsFound) {
  if (!test::can_step()) GTEST_SKIP() << "no single steps in this build";
  const test::TemporaryDirectory directory;
  HastyStartAct act(directory.path());
  SteppedChild child(act);
  ASSERT_TRUE(child.is_ready());
  Tally tally;
  std::optional<SegmentEye> eye;
  while (!eye && child.step() == SteppedChild::Stop::kInside) {
    ++tally.points;
    judge_start(directory.path(), eye, tally);
  }
  std::cout << "  control: " << tally << "\n";
  EXPECT_GT(tally.unreadable, 0U);
}

}  // namespace
}  // namespace meterbank
