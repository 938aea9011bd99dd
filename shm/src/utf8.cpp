// SPDX-License-Identifier: Apache-2.0
#include "meterbank/shm/utf8.hpp"

#include <cstring>

#include "eight_bytes.hpp"

namespace meterbank {
namespace {

[[nodiscard]] unsigned byte_at(std::string_view text, std::size_t offset) noexcept {
  return static_cast<unsigned char>(text[offset]);
}

// What a lead byte promises. The second byte alone tells overlong forms, surrogates and code points
// beyond the last one from good ones, so its bounds are all that varies.
struct LeadByte {
  std::uint8_t length;  // 0: no code point begins with this byte
  unsigned second_min;
  unsigned second_max;
};

[[nodiscard]] constexpr LeadByte classify(unsigned lead) noexcept {
  if (lead < 0x80) return {1, 0, 0};
  if (lead < 0xC2) return {0, 0, 0};  // a continuation byte, or overlong whatever follows
  if (lead < 0xE0) return {2, 0x80, 0xBF};
  if (lead == 0xE0) return {3, 0xA0, 0xBF};  // below: overlong
  if (lead == 0xED) return {3, 0x80, 0x9F};  // above: surrogates
  if (lead < 0xF0) return {3, 0x80, 0xBF};
  if (lead == 0xF0) return {4, 0x90, 0xBF};  // below: overlong
  if (lead < 0xF4) return {4, 0x80, 0xBF};
  if (lead == 0xF4) return {4, 0x80, 0x8F};  // above: beyond U+10FFFF
  return {0, 0, 0};
}

// Length of the run of ASCII at the front, in steps of eight bytes.
[[nodiscard]] std::size_t ascii_words(std::string_view text) noexcept {
  std::size_t offset = 0;
  while (text.size() - offset >= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + offset, sizeof(word));
    if ((word & kHighBits) != 0) break;
    offset += sizeof(word);
  }
  return offset;
}

}  // namespace

DecodedCodePoint decode_utf8(std::string_view text) noexcept {
  if (text.empty()) return {kReplacementCharacter, 0, false};
  const unsigned lead = byte_at(text, 0);
  if (lead < 0x80) return {static_cast<char32_t>(lead), 1, true};
  const LeadByte kind = classify(lead);
  if (kind.length == 0) return {kReplacementCharacter, 1, false};

  char32_t code_point = lead & (0x7FU >> kind.length);
  for (std::uint8_t index = 1; index < kind.length; ++index) {
    if (index >= text.size()) return {kReplacementCharacter, index, false};
    const unsigned next = byte_at(text, index);
    const unsigned lowest = index == 1 ? kind.second_min : 0x80U;
    const unsigned highest = index == 1 ? kind.second_max : 0xBFU;
    if (next < lowest || next > highest) return {kReplacementCharacter, index, false};
    code_point = (code_point << 6U) | (next & 0x3FU);
  }
  return {code_point, kind.length, true};
}

void append_utf8(char32_t code_point, std::string& out) {
  const bool surrogate = code_point >= 0xD800 && code_point <= 0xDFFF;
  if (surrogate || code_point > kLastCodePoint) code_point = kReplacementCharacter;
  const auto push = [&out](char32_t byte) {
    out.push_back(static_cast<char>(static_cast<unsigned char>(byte)));
  };
  const auto push_continuation = [&](unsigned shift) {
    push(0x80U | ((code_point >> shift) & 0x3FU));
  };
  if (code_point < 0x80) {
    push(code_point);
  } else if (code_point < 0x800) {
    push(0xC0U | (code_point >> 6U));
    push_continuation(0);
  } else if (code_point < 0x10000) {
    push(0xE0U | (code_point >> 12U));
    push_continuation(6);
    push_continuation(0);
  } else {
    push(0xF0U | (code_point >> 18U));
    push_continuation(12);
    push_continuation(6);
    push_continuation(0);
  }
}

std::size_t find_invalid_utf8(std::string_view text) noexcept {
  std::size_t offset = 0;
  while (offset < text.size()) {
    offset += ascii_words(text.substr(offset));
    if (offset == text.size()) break;
    const DecodedCodePoint decoded = decode_utf8(text.substr(offset));
    if (!decoded.valid) return offset;
    offset += decoded.length;
  }
  return std::string_view::npos;
}

std::size_t count_code_points(std::string_view text) noexcept {
  std::size_t count = 0;
  while (!text.empty()) {
    text.remove_prefix(decode_utf8(text).length);
    ++count;
  }
  return count;
}

RepairedText repair_utf8(std::string_view bytes, std::size_t bytes_max) {
  RepairedText repaired;
  std::string unit;
  while (!bytes.empty()) {
    const DecodedCodePoint decoded = decode_utf8(bytes);
    unit.clear();
    append_utf8(decoded.code_point, unit);
    if (unit.size() > bytes_max - repaired.text.size()) {
      repaired.shortened = true;
      break;
    }
    repaired.text += unit;
    if (!decoded.valid) ++repaired.replaced;
    if (is_control(decoded.code_point)) repaired.has_controls = true;
    bytes.remove_prefix(decoded.length);
  }
  return repaired;
}

}  // namespace meterbank
