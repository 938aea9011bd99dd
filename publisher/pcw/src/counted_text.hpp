// SPDX-License-Identifier: Apache-2.0
//
// Between counted strings in the caller's width and UTF-8.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/windows/wide_text.hpp"
#include "ntdef.h"

namespace meterbank::pcw {

// The characters of this compiler, or those of a program under -fshort-wchar.
inline constexpr CharacterWidth kOwnWidth = static_cast<CharacterWidth>(sizeof(wchar_t));

// Nothing: null, no whole number of characters, or what is no character.
[[nodiscard]] std::optional<std::string> text_of(const UNICODE_STRING* text, CharacterWidth width);

// A counted string and its characters; a NUL follows, which does not count.
class CountedText {
 public:
  CountedText(std::string_view utf8, CharacterWidth width);

  [[nodiscard]] const UNICODE_STRING* get() const noexcept { return &string_; }

 private:
  std::vector<std::byte> characters_;
  UNICODE_STRING string_{};
};

}  // namespace meterbank::pcw
