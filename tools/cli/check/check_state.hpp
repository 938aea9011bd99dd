// SPDX-License-Identifier: Apache-2.0
//
// The states of monitoring plugins, which are exit codes.
#pragma once

#include <cstdint>
#include <string_view>

namespace meterbank::cli {

enum class CheckState : std::uint8_t { kOk = 0, kWarning = 1, kCritical = 2, kUnknown = 3 };

[[nodiscard]] constexpr int exit_code_of(CheckState state) noexcept {
  return static_cast<int>(state);
}

[[nodiscard]] constexpr std::string_view name_of(CheckState state) noexcept {
  switch (state) {
    case CheckState::kOk:
      return "OK";
    case CheckState::kWarning:
      return "WARNING";
    case CheckState::kCritical:
      return "CRITICAL";
    case CheckState::kUnknown:
      break;
  }
  return "UNKNOWN";
}

// What is known to be bad hides what is not known, and that hides what is well.
[[nodiscard]] constexpr int rank_of(CheckState state) noexcept {
  constexpr int kRanks[] = {0, 2, 3, 1};
  return kRanks[static_cast<int>(state)];
}
[[nodiscard]] constexpr CheckState worse_of(CheckState left, CheckState right) noexcept {
  return rank_of(left) < rank_of(right) ? right : left;
}

}  // namespace meterbank::cli
