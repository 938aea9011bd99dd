// SPDX-License-Identifier: Apache-2.0
#include "crash_sweep.hpp"

#include <gtest/gtest.h>

#include <iostream>
#include <vector>

#include "../../support/depth.hpp"
#include "../numbered_set.hpp"

namespace meterbank::test {

std::ostream& operator<<(std::ostream& out, const Tally& tally) {
  return out << tally.points << " points, " << tally.kills << " kills, " << tally.unreadable
             << " unreadable, " << tally.torn << " torn, " << tally.backwards << " backwards, "
             << tally.malformed << " malformed " << tally.first_fault;
}

void sweep(const std::string& directory, JudgedAct& act, std::uint64_t kills, Tally& tally) {
  const auto attach = [&] {
    auto eye = SegmentEye::of_directory(directory);
    EXPECT_TRUE(eye) << eye.error().message();
    return eye;
  };
  std::uint64_t steps = 0;
  {
    SteppedChild child(act);
    ASSERT_TRUE(child.is_ready());
    auto eye = attach();
    ASSERT_TRUE(eye);
    act.forget();
    act.bind(*eye);
    auto stop = SteppedChild::Stop::kInside;
    while ((stop = child.step()) == SteppedChild::Stop::kInside) {
      ++steps;
      ++tally.points;
      act.look(*eye, tally);
    }
    ASSERT_EQ(stop, SteppedChild::Stop::kFinished);
    EXPECT_TRUE(act.is_complete());
  }
  for (std::uint64_t kill = 0; kill < kills; ++kill) {
    SteppedChild child(act);
    ASSERT_TRUE(child.is_ready());
    auto eye = attach();
    ASSERT_TRUE(eye);
    act.forget();
    act.bind(*eye);
    const std::uint64_t last = steps * (2 * kill + 1) / (2 * kills);
    // The way may be shorter than the first one, which a disturbance made longer.
    auto stop = SteppedChild::Stop::kInside;
    for (std::uint64_t step = 0; step < last && stop == SteppedChild::Stop::kInside; ++step) {
      stop = child.step();
    }
    ASSERT_NE(stop, SteppedChild::Stop::kDied);
    std::vector<SeenSlot> slots;
    EXPECT_EQ(eye->walk(slots), "");  // keeps a descriptor of every extent
    act.look(*eye, tally);
    child.kill();
    ++tally.kills;
    auto fresh = eye->again();
    ASSERT_TRUE(fresh) << fresh.error().message();
    act.bind(*fresh);
    act.look(*fresh, tally);
  }
}

void step_through(const std::string& directory, Act& act, Tally& tally,
                  const std::function<void(SegmentEye&)>& look) {
  SteppedChild child(act);
  ASSERT_TRUE(child.is_ready());
  auto eye = SegmentEye::of_directory(directory);
  ASSERT_TRUE(eye) << eye.error().message();
  while (!testing::Test::HasFatalFailure() && child.step() == SteppedChild::Stop::kInside) {
    ++tally.points;
    look(*eye);
  }
  std::cout << "  control: " << tally << "\n";
}

void expect_clean(const Tally& tally, std::uint64_t points_min, std::uint64_t points_min_long) {
  std::cout << "  " << tally << "\n";
  EXPECT_EQ(tally.faults(), 0U) << tally.first_fault;
  EXPECT_GE(tally.points, runs_long() ? points_min_long : points_min);
  EXPECT_GT(tally.kills, 0U);
}

}  // namespace meterbank::test
