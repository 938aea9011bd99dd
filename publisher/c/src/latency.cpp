// SPDX-License-Identifier: Apache-2.0
#include "meterbank/c/latency.h"

#include "meterbank/base/clock.hpp"
#include "meterbank/publisher/latency.hpp"

mb_tick_clock mb_tick_clock_of_this_machine(void) {
  const meterbank::TickClock& clock = meterbank::TickClock::of_this_machine();
  const bool is_processor = clock.kind() == meterbank::LatencyClock::kProcessor;
  return {clock.seconds(1), is_processor ? 1U : 0U};
}

uint64_t mb_monotonic_ns(void) { return meterbank::clock_ns(CLOCK_MONOTONIC); }
