// SPDX-License-Identifier: Apache-2.0
//
// Spans of time as people type and read them; moments as text, UTC for machines and local time for
// people.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace meterbank::cli {

// About 31 years: longer spans are typing errors, and nanoseconds still fit 64 bits.
inline constexpr double kDurationSecondsMax = 1e9;

// "250ms", "1.5s", "5m", "1h", "2d", plain seconds ("0.5"), and "[hh:]mm:ss". Nothing for anything
// else, a negative or an over-long span.
[[nodiscard]] std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

// Three significant digits and one unit up to a minute ("121 µs", "12.3 s"), two units beyond
// ("2m14s", "3h05m", "12d4h").
[[nodiscard]] std::string print_duration(double seconds);

// The shortest spelling that parse_duration turns into the same span: "250ms", "1s", "5m".
[[nodiscard]] std::string print_interval(std::chrono::nanoseconds span);

// "2026-11-21T09:04:40.002Z"
[[nodiscard]] std::string print_utc(std::uint64_t realtime_ns);
// "09:04:40" where the process thinks it is; `milliseconds` adds ".002".
[[nodiscard]] std::string print_local(std::uint64_t realtime_ns, bool milliseconds = false);

}  // namespace meterbank::cli
