// SPDX-License-Identifier: Apache-2.0
#include "format_value.hpp"

#include <cmath>
#include <limits>

namespace meterbank::pdh {
namespace {

template <typename T>
T cut_off(double value) noexcept {
  // The largest T may not be a double, the power of two behind it is.
  constexpr double kBeyond = -static_cast<double>(std::numeric_limits<T>::min());
  if (value >= kBeyond) return std::numeric_limits<T>::max();
  if (value < -kBeyond) return std::numeric_limits<T>::min();
  return static_cast<T>(value);
}

}  // namespace

bool is_format(DWORD format) noexcept {
  constexpr DWORD kModifiers = PDH_FMT_NOSCALE | PDH_FMT_1000 | PDH_FMT_NODATA | PDH_FMT_NOCAP100;
  const DWORD type = format & ~kModifiers;
  return type == PDH_FMT_LONG || type == PDH_FMT_DOUBLE || type == PDH_FMT_LARGE;
}

DWORD status_of(RowStatus status) noexcept {
  switch (status) {
    case RowStatus::kGone:
    case RowStatus::kClosed:
    case RowStatus::kDead:
      return PDH_CSTATUS_NO_INSTANCE;
    default:
      return PDH_CSTATUS_INVALID_DATA;
  }
}

DWORD status_of(CookStatus status) noexcept {
  switch (status) {
    case CookStatus::kNew:
    case CookStatus::kBelowRange:
    case CookStatus::kAboveRange:
      return PDH_CSTATUS_NEW_DATA;
    case CookStatus::kUnchanged:
      return PDH_CSTATUS_VALID_DATA;
    case CookStatus::kReset:
      return PDH_CALC_NEGATIVE_VALUE;
    case CookStatus::kNegativeBase:
      return PDH_CALC_NEGATIVE_DENOMINATOR;
    case CookStatus::kNegativeTime:
      return PDH_CALC_NEGATIVE_TIMEBASE;
    default:
      return PDH_CSTATUS_INVALID_DATA;
  }
}

PDH_STATUS result_of(DWORD status) noexcept {
  if (is_good(status)) return ERROR_SUCCESS;
  const bool is_calculated = status == PDH_CALC_NEGATIVE_VALUE ||
                             status == PDH_CALC_NEGATIVE_DENOMINATOR ||
                             status == PDH_CALC_NEGATIVE_TIMEBASE;
  return is_calculated ? status : PDH_INVALID_DATA;
}

double scaled(double value, DWORD format, LONG scale) noexcept {
  if ((format & PDH_FMT_NOSCALE) == 0) {
    for (LONG power = scale; power > 0; --power) value *= 10;
    for (LONG power = scale; power < 0; ++power) value /= 10;
  }
  return (format & PDH_FMT_1000) != 0 ? value * 1000 : value;
}

PDH_FMT_COUNTERVALUE in_format(DWORD status, double value, DWORD format) noexcept {
  PDH_FMT_COUNTERVALUE result{};
  result.CStatus = status;
  if (!is_good(status) || (format & PDH_FMT_NODATA) != 0) return result;
  if ((format & PDH_FMT_DOUBLE) != 0) {
    result.doubleValue = value;
  } else if ((format & PDH_FMT_LARGE) != 0) {
    result.largeValue = cut_off<LONGLONG>(value);
  } else {
    result.longValue = cut_off<LONG>(value);
  }
  return result;
}

}  // namespace meterbank::pdh
