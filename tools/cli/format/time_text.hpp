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

// What a local time has beside "09:04:40".
struct LocalForm {
  bool date = false;          // "2026-11-21 " before it
  bool milliseconds = false;  // ".002"
  bool offset = false;        // "+01:00", as parse_moment() takes it behind a date
};
// For times of a table or a range, printed at `now_ns`: with the date unless all are of that day,
// and with the offset if the clocks were put forward or back between them.
[[nodiscard]] LocalForm form_of_range(std::uint64_t from_ns, std::uint64_t to_ns,
                                      std::uint64_t now_ns, bool milliseconds = false);
// Where the process thinks it is.
[[nodiscard]] std::string print_local(std::uint64_t realtime_ns, const LocalForm& form);
[[nodiscard]] std::string print_local(std::uint64_t realtime_ns, bool milliseconds = false);
// A time that stands alone.
[[nodiscard]] std::string print_moment(std::uint64_t realtime_ns, std::uint64_t now_ns);

}  // namespace meterbank::cli
