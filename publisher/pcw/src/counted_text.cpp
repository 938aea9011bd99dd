// SPDX-License-Identifier: Apache-2.0
#include "counted_text.hpp"

#include <span>

namespace meterbank::pcw {

std::optional<std::string> text_of(const UNICODE_STRING* text, CharacterWidth width) {
  if (text == nullptr) return std::nullopt;
  if (text->Length % static_cast<std::size_t>(width) != 0) return std::nullopt;
  if (text->Length == 0) return std::string();
  if (text->Buffer == nullptr) return std::nullopt;
  return valid_utf8_of({reinterpret_cast<const std::byte*>(text->Buffer), text->Length}, width);
}

CountedText::CountedText(std::string_view utf8, CharacterWidth width) {
  append_wide(utf8, width, characters_);
  const auto bytes = characters_.size();
  string_.Length = static_cast<USHORT>(bytes - static_cast<std::size_t>(width));
  string_.MaximumLength = static_cast<USHORT>(bytes);
  string_.Buffer = reinterpret_cast<PWSTR>(characters_.data());
}

}  // namespace meterbank::pcw
