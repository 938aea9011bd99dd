// SPDX-License-Identifier: Apache-2.0
//
// Text of callers in the three kinds of characters: char is UTF-8, wchar_t and char16_t are the two
// widths of a WCHAR.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/shm/utf8.hpp"
#include "meterbank/windows/wide_text.hpp"

namespace meterbank::pdh {

template <typename Character>
inline constexpr CharacterWidth kWidthOf = sizeof(Character) == 2 ? CharacterWidth::kTwo
                                                                  : CharacterWidth::kFour;

// A caller's string, which is not null and ends after fewer than `characters_max` characters.
// Nothing: it is longer, or no text.
template <typename Character>
[[nodiscard]] std::optional<std::string> text_of(const Character* text,
                                                 std::size_t characters_max) {
  std::size_t length = 0;
  while (length < characters_max && text[length] != 0) ++length;
  if (length == characters_max) return std::nullopt;
  if constexpr (sizeof(Character) == 1) {
    if (!is_valid_utf8({text, length})) return std::nullopt;
    return std::string(text, length);
  } else {
    return valid_utf8_of(std::as_bytes(std::span(text, length)), kWidthOf<Character>);
  }
}

// Appends the text and a terminator.
template <typename Character>
void append_text(std::string_view utf8, std::vector<std::byte>& out) {
  if constexpr (sizeof(Character) == 1) {
    const auto bytes = std::as_bytes(std::span(utf8));
    out.insert(out.end(), bytes.begin(), bytes.end());
    out.push_back(std::byte{0});
  } else {
    append_wide(utf8, kWidthOf<Character>, out);
  }
}

}  // namespace meterbank::pdh
