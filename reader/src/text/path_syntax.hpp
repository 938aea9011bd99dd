// SPDX-License-Identifier: Apache-2.0
//
// What the parser and the printer of counter paths must agree on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace meterbank::path_syntax {

// What a backslash may make ordinary in a short path.
inline constexpr std::string_view kShortEscapable = "/*?[]\\:#@";

// Only digits, and no zero in front of others: `#007` is part of a name, as is `@host`.
[[nodiscard]] inline bool is_number(std::string_view text) noexcept {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return false;
  return std::all_of(text.begin(), text.end(),
                     [](char digit) { return digit >= '0' && digit <= '9'; });
}

[[nodiscard]] inline bool is_index(std::string_view text) noexcept {
  return text == "*" || is_number(text);
}

// Where the last `mark` stands in a pattern that another character precedes and no backslash
// escapes; npos if nowhere.
[[nodiscard]] inline std::size_t last_mark(std::string_view pattern, char mark) noexcept {
  std::size_t found = std::string_view::npos;
  for (std::size_t index = 0; index < pattern.size(); ++index) {
    if (pattern[index] == '\\') {
      ++index;
    } else if (pattern[index] == mark && index != 0) {
      found = index;
    }
  }
  return found;
}

}  // namespace meterbank::path_syntax
