// SPDX-License-Identifier: Apache-2.0
//
// Points in time as Windows counts them: 100 ns steps since 1601-01-01 UTC, or the parts of a date.
// Computed by the calendar alone: no time zone, no lock, no system call.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

namespace meterbank {

// The performance clock is CLOCK_MONOTONIC in nanoseconds, as for cook().
inline constexpr std::int64_t kTicksPerSecond = 1'000'000'000;

// Year, month, day of week (0 is Sunday), day, hour, minute, second, millisecond.
using SystemTimeParts = std::array<std::uint16_t, 8>;

[[nodiscard]] std::int64_t windows_time_of(std::uint64_t nanoseconds_since_1970) noexcept;

// Precondition: not negative.
[[nodiscard]] SystemTimeParts system_time_of(std::int64_t windows_time) noexcept;

// The day of the week is ignored. Nothing for a date that does not exist, or outside 1601..30827.
[[nodiscard]] std::optional<std::int64_t> windows_time_of(const SystemTimeParts& parts) noexcept;

}  // namespace meterbank
