// SPDX-License-Identifier: Apache-2.0
//
// Computed values in the formats and with the codes of PDH.
#pragma once

#include "meterbank/reader/cook.hpp"
#include "meterbank/reader/sample.hpp"
#include "pdh.h"

namespace meterbank::pdh {

// Exactly one of LONG, DOUBLE and LARGE, and nothing unknown.
[[nodiscard]] bool is_format(DWORD format) noexcept;
[[nodiscard]] inline bool caps_percent(DWORD format) noexcept {
  return (format & PDH_FMT_NOCAP100) == 0;
}

// PDH_CSTATUS_... of a row that holds no values.
[[nodiscard]] DWORD status_of(RowStatus status) noexcept;
// PDH_CSTATUS_... or PDH_CALC_NEGATIVE_...
[[nodiscard]] DWORD status_of(CookStatus status) noexcept;
[[nodiscard]] constexpr bool is_good(DWORD status) noexcept {
  return status == PDH_CSTATUS_VALID_DATA || status == PDH_CSTATUS_NEW_DATA;
}
// What a function returns about one value of this status.
[[nodiscard]] PDH_STATUS result_of(DWORD status) noexcept;

// `value` times the powers of ten that the format and the counter's scale say.
[[nodiscard]] double scaled(double value, DWORD format, LONG scale) noexcept;
// Whole numbers are cut off towards zero and end at the range of their type.
[[nodiscard]] PDH_FMT_COUNTERVALUE in_format(DWORD status, double value, DWORD format) noexcept;

[[nodiscard]] inline PDH_FMT_COUNTERVALUE formatted(CookedValue cooked, DWORD format,
                                                    LONG scale) noexcept {
  return in_format(status_of(cooked.status), scaled(cooked.value, format, scale), format);
}

}  // namespace meterbank::pdh
