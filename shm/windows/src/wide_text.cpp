// SPDX-License-Identifier: Apache-2.0
#include "meterbank/windows/wide_text.hpp"

#include <cstring>

#include "meterbank/shm/utf8.hpp"

namespace meterbank {
namespace {

constexpr bool is_surrogate(char32_t unit) noexcept { return unit >= 0xd800 && unit <= 0xdfff; }
constexpr bool is_high(char32_t unit) noexcept { return unit >= 0xd800 && unit <= 0xdbff; }
constexpr bool is_low(char32_t unit) noexcept { return unit >= 0xdc00 && unit <= 0xdfff; }

char32_t unit_at(std::span<const std::byte> characters, std::size_t index,
                 CharacterWidth width) noexcept {
  if (width == CharacterWidth::kTwo) {
    char16_t unit = 0;
    std::memcpy(&unit, characters.data() + index * sizeof unit, sizeof unit);
    return unit;
  }
  char32_t unit = 0;
  std::memcpy(&unit, characters.data() + index * sizeof unit, sizeof unit);
  return unit;
}

// Returns whether everything was a character.
bool decode(std::span<const std::byte> characters, CharacterWidth width, std::string& out) {
  bool valid = true;
  const std::size_t count = characters.size() / static_cast<std::size_t>(width);
  for (std::size_t index = 0; index < count; ++index) {
    char32_t unit = unit_at(characters, index, width);
    if (width == CharacterWidth::kTwo && is_high(unit) && index + 1 < count &&
        is_low(unit_at(characters, index + 1, width))) {
      ++index;
      unit = 0x10000 + ((unit - 0xd800) << 10) + (unit_at(characters, index, width) - 0xdc00);
    }
    if (is_surrogate(unit) || unit > kLastCodePoint) {
      valid = false;
      unit = kReplacementCharacter;
    }
    append_utf8(unit, out);
  }
  return valid;
}

void append_unit(char32_t unit, CharacterWidth width, std::vector<std::byte>& out) {
  std::byte bytes[sizeof unit];
  std::memcpy(bytes, &unit, sizeof unit);
  out.insert(out.end(), bytes, bytes + static_cast<std::size_t>(width));
}

}  // namespace

std::string utf8_of(std::span<const std::byte> characters, CharacterWidth width) {
  std::string text;
  static_cast<void>(decode(characters, width, text));
  return text;
}

std::optional<std::string> valid_utf8_of(std::span<const std::byte> characters,
                                         CharacterWidth width) {
  std::string text;
  if (!decode(characters, width, text)) return std::nullopt;
  return text;
}

void append_wide(std::string_view utf8, CharacterWidth width, std::vector<std::byte>& out) {
  while (!utf8.empty()) {
    const DecodedCodePoint next = decode_utf8(utf8);
    utf8.remove_prefix(next.length);
    char32_t unit = next.code_point;
    if (width == CharacterWidth::kTwo && unit > 0xffff) {
      append_unit(0xd800 + ((unit - 0x10000) >> 10), width, out);
      unit = 0xdc00 + ((unit - 0x10000) & 0x3ff);
    }
    append_unit(unit, width, out);
  }
  append_unit(0, width, out);
}

std::size_t wide_bytes(std::string_view utf8, CharacterWidth width) noexcept {
  std::size_t units = 1;
  while (!utf8.empty()) {
    const DecodedCodePoint next = decode_utf8(utf8);
    utf8.remove_prefix(next.length);
    units += width == CharacterWidth::kTwo && next.code_point > 0xffff ? 2U : 1U;
  }
  return units * static_cast<std::size_t>(width);
}

}  // namespace meterbank
