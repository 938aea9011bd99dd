// SPDX-License-Identifier: Apache-2.0
//
// What the program's exit status says; the same for every verb. `meterbank help exit-codes`.
#pragma once

#include "meterbank/base/result.hpp"

namespace meterbank::cli {

inline constexpr int kExitDone = 0;
inline constexpr int kExitNo = 1;  // ran, but the answer is no
inline constexpr int kExitUsage = 2;
inline constexpr int kExitEnvironment = 3;  // permission, no directory, newer layout
inline constexpr int kExitTimeout = 124;    // as timeout(1)
// As shells say it.
inline constexpr int kExitCannotRun = 126;
inline constexpr int kExitNoSuchCommand = 127;
inline constexpr int kExitInterrupted = 130;  // by SIGINT

[[nodiscard]] constexpr int exit_code_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kBadName:
    case ErrorCode::kBadPath:
      return kExitUsage;
    case ErrorCode::kNotFound:
    case ErrorCode::kGone:
    case ErrorCode::kClosed:
      return kExitNo;
    default:
      return kExitEnvironment;
  }
}

}  // namespace meterbank::cli
