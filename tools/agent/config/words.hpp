// SPDX-License-Identifier: Apache-2.0
//
// Values of settings that are one of several words, or a number within bounds.
#pragma once

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "meterbank/base/result.hpp"

namespace meterbank::agent {

template <typename Value>
struct NamedValue {
  std::string_view name;
  Value value;
};

template <typename Value>
Result<Value> choose(std::string_view what, const std::string& word,
                     const std::array<NamedValue<Value>, 3>& choices) {
  for (const NamedValue<Value>& choice : choices) {
    if (choice.name == word) return choice.value;
  }
  return fail(ErrorCode::kInvalidArgument, fmt::format("invalid {}: {}", what, word),
              fmt::format("{}, {} or {}", choices[0].name, choices[1].name, choices[2].name));
}

[[nodiscard]] inline Result<std::chrono::milliseconds> parse_milliseconds(std::string_view what,
                                                                          std::int64_t milliseconds,
                                                                          std::int64_t least,
                                                                          std::int64_t most) {
  if (milliseconds >= least && milliseconds <= most) {
    return std::chrono::milliseconds(milliseconds);
  }
  return fail(ErrorCode::kInvalidArgument, fmt::format("invalid {}: {}", what, milliseconds),
              fmt::format("{} to {} milliseconds", least, most));
}

}  // namespace meterbank::agent
