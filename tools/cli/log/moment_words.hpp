// SPDX-License-Identifier: Apache-2.0
//
// Moments as people type them, in the time zone of this process.
//
//   03:12  3:12:05.250       the last time that it was this time of day, at or before `reference`
//   yesterday 03:12          on the day before that of `reference`
//   2026-11-27 03:12         with T or a space; with Z or an offset, of that zone
//   -15m                     before `reference`
//   @1764213120.5            seconds since 1970
//
// `reference` is the end of the recording, so that an old recording can be asked about its own
// days.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "meterbank/base/result.hpp"

namespace meterbank::cli {

// Nanoseconds since 1970. Errors: kInvalidArgument, with the forms above.
[[nodiscard]] Result<std::uint64_t> parse_moment(std::string_view word, std::uint64_t reference_ns);

// A time of day on the day of `reference`, also after it; nothing for the other forms.
[[nodiscard]] std::optional<std::uint64_t> on_day_of(std::uint64_t reference_ns,
                                                     std::string_view word);

// The end of the millisecond of a moment that was typed so, because times are printed without what
// comes behind it. A moment that was typed with more digits is itself.
[[nodiscard]] std::uint64_t last_meant_by(std::string_view word, std::uint64_t moment_ns) noexcept;

}  // namespace meterbank::cli
