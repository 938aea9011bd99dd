// SPDX-License-Identifier: Apache-2.0
#include "meterbank/c/latency.h"

#include <gtest/gtest.h>

#include <time.h>

#include "meterbank/base/clock.hpp"

namespace meterbank {
namespace {

// What either clock says of the same stretch.
void expect_to_measure(const mb_tick_clock& clock) {
  const std::uint64_t before = clock_ns(CLOCK_MONOTONIC);
  const std::uint64_t begin = mb_ticks_at_begin(&clock);
  const std::uint64_t inner = clock_ns(CLOCK_MONOTONIC);
  const timespec pause{0, 20'000'000};
  ::nanosleep(&pause, nullptr);
  const std::uint64_t inner_end = clock_ns(CLOCK_MONOTONIC);
  const std::uint64_t end = mb_ticks_at_end(&clock);
  const std::uint64_t after = clock_ns(CLOCK_MONOTONIC);
  const double seconds = mb_seconds_between(&clock, begin, end);
  EXPECT_GE(seconds, 1e-9 * static_cast<double>(inner_end - inner) * 0.99);
  EXPECT_LE(seconds, 1e-9 * static_cast<double>(after - before) * 1.01);
}

TEST(TickClockOfC, MeasuresInSeconds) {
  expect_to_measure(mb_tick_clock_of_this_machine());
  expect_to_measure({1e-9, 0});
}

TEST(TickClockOfC, GivesZeroWhereTheCounterWentBackwards) {
  const mb_tick_clock clock = mb_tick_clock_of_this_machine();
  EXPECT_EQ(mb_seconds_between(&clock, 5, 4), 0);
  EXPECT_EQ(mb_seconds_between(&clock, 5, 5), 0);
  EXPECT_GT(mb_seconds_between(&clock, 5, 6), 0);
  const mb_recorder nothing{};
  mb_recorder_record_ticks(&nothing, &clock, 5, 6);
}

}  // namespace
}  // namespace meterbank
