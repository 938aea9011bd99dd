// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <iterator>

#include "../eight_bytes.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank {
namespace {

struct Range {
  char32_t first, last;
};

#include "cell_widths.inc"

// What no terminal shows, or shows in no agreed way: invisible format characters, fillers,
// variation selectors, tags, bidi controls, line separators, and code points that are no characters
// or private. Sorted. The last two code points of each plane are no characters, either.
constexpr Range kHidden[] = {
    {0x00AD, 0x00AD},     // soft hyphen
    {0x034F, 0x034F},     // combining grapheme joiner
    {0x061C, 0x061C},     // Arabic letter mark
    {0x115F, 0x1160},     // Hangul fillers
    {0x17B4, 0x17B5},     // Khmer inherent vowels
    {0x180B, 0x180F},     // Mongolian variation selectors and vowel separator
    {0x200B, 0x200B},     // zero width space
    {0x200E, 0x200F},     // left-to-right and right-to-left mark
    {0x2028, 0x202E},     // line and paragraph separator, embeddings and overrides
    {0x2060, 0x206F},     // word joiner, invisible operators, isolates, deprecated controls
    {0x3164, 0x3164},     // Hangul filler
    {0xE000, 0xF8FF},     // private use
    {0xFDD0, 0xFDEF},     // no characters
    {0xFE00, 0xFE0F},     // variation selectors
    {0xFEFF, 0xFEFF},     // byte order mark
    {0xFFA0, 0xFFA0},     // halfwidth Hangul filler
    {0xFFF0, 0xFFFB},     // reserved, interlinear annotation
    {0x13430, 0x1343F},   // Egyptian format controls
    {0x1BCA0, 0x1BCA3},   // shorthand format controls
    {0x1D173, 0x1D17A},   // musical format controls
    {0xE0000, 0xE0FFF},   // tags, variation selectors, reserved
    {0xF0000, 0x10FFFF},  // private use
};

template <std::size_t size>
bool contains(const Range (&ranges)[size], char32_t code_point) noexcept {
  const auto* const behind =
      std::upper_bound(std::begin(ranges), std::end(ranges), code_point,
                       [](char32_t value, const Range& range) { return value < range.first; });
  return behind != std::begin(ranges) && code_point <= std::prev(behind)->last;
}

constexpr bool is_plain(char byte) noexcept { return byte >= ' ' && byte <= '~'; }

// Tests eight bytes at once. Subtracting ' ' sets the high bit of a smaller byte, adding one sets
// that of DEL, and bytes beyond ASCII have it set. Only such bytes borrow from, or carry to, the
// next byte.
constexpr bool are_plain(std::uint64_t bytes) noexcept {
  return (((bytes - ' ' * kEachByte) | (bytes + kEachByte) | bytes) & kHighBits) == 0;
}

}  // namespace

std::size_t plain_bytes(std::string_view text) noexcept {
  std::size_t count = 0;
  for (std::uint64_t bytes = 0; count + sizeof bytes <= text.size(); count += sizeof bytes) {
    std::memcpy(&bytes, text.data() + count, sizeof bytes);
    if (!are_plain(bytes)) break;
  }
  while (count < text.size() && is_plain(text[count])) ++count;
  return count;
}

bool is_hidden(char32_t code_point) noexcept {
  const bool is_no_character = (code_point & 0xFFFEU) == 0xFFFE;
  return is_control(code_point) || is_no_character || contains(kHidden, code_point);
}

std::size_t cells_of(char32_t code_point) noexcept {
  if (code_point < 0x300) return 1;  // no mark and nothing wide below
  if (contains(kNoCell, code_point)) return 0;
  return contains(kTwoCells, code_point) ? 2 : 1;
}

}  // namespace meterbank
