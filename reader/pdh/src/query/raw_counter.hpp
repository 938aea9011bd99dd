// SPDX-License-Identifier: Apache-2.0
//
// Between the raw values of the reader and PDH_RAW_COUNTER.
#pragma once

#include <cstdint>

#include "meterbank/reader/cook.hpp"
#include "meterbank/reader/sample.hpp"
#include "pdh.h"

namespace meterbank::pdh {

// Ticks a second of the clock that the type takes. `object_frequency` is that of an object clock.
[[nodiscard]] std::int64_t time_base_of(CounterType type, std::uint64_t object_frequency) noexcept;

// A moment as Windows' clocks on the wall count it, in the zone of this process.
[[nodiscard]] std::int64_t local_time_of(const Timestamp& time) noexcept;

// Without the status.
[[nodiscard]] PDH_RAW_COUNTER raw_counter_of(const RawValue& raw, const CounterView& counter,
                                             std::int64_t local_time) noexcept;

// `time_base` as from time_base_of().
[[nodiscard]] RawValue raw_value_of(const PDH_RAW_COUNTER& raw, CounterType type,
                                    std::int64_t time_base) noexcept;

}  // namespace meterbank::pdh
