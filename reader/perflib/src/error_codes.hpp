// SPDX-License-Identifier: Apache-2.0
//
// The Windows error codes that this library returns, under names that are no macros.
#pragma once

#include <cstdint>

namespace meterbank {

enum class PerfError : std::uint32_t {
  kSuccess = 0,
  kAccessDenied = 5,
  kInvalidHandle = 6,
  kBufferTooSmall = 8,  // ERROR_NOT_ENOUGH_MEMORY, by its use
  kOutOfMemory = 14,
  kInvalidParameter = 87,
  kBusy = 170,
  kPossibleDeadlock = 1131,
  kNotFound = 1168,
  kRetry = 1237,
  kInternalError = 1359,
  kNoSystemResources = 1450,
  kTimeout = 1460,
  kServerUnavailable = 1722,
  kSetNotFound = 4200,
  kInstanceNotFound = 4201,
  kContradictsRegistration = 4211,
};

}  // namespace meterbank
