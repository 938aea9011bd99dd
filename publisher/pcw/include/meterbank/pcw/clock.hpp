// SPDX-License-Identifier: Apache-2.0
//
// The clock behind KeQuerySystemTime, for tests of providers whose values depend on the time.
#pragma once

#include <cstdint>

namespace meterbank::pcw {

// 100 ns steps since 1601-01-01 UTC. Any thread may call it.
using SystemClock = std::int64_t (*)() noexcept;

// Null: the time of day again.
void set_system_clock(SystemClock clock) noexcept;

}  // namespace meterbank::pcw
