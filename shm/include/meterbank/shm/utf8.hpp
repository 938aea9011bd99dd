// SPDX-License-Identifier: Apache-2.0
//
// Names are UTF-8, and names written by another process are only believed to be.
//
// Decoding is strict: no overlong forms, no surrogates, nothing above U+10FFFF. A name that comes
// from a segment passes `repair_utf8` once, where it enters, and `escape_for_terminal` where it
// leaves towards a person; in between it is ordinary text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace meterbank {

inline constexpr char32_t kReplacementCharacter = U'\uFFFD';
inline constexpr char32_t kLastCodePoint = U'\U0010FFFF';

struct DecodedCodePoint {
  char32_t code_point;  // kReplacementCharacter when not valid
  std::uint8_t length;  // bytes consumed; 0 only at the end of the text
  bool valid;
};

// Decodes the code point at the front of `text`. An invalid front consumes its maximal subpart, as
// Unicode recommends: the bytes that could have begun a code point, or one byte if none could.
[[nodiscard]] DecodedCodePoint decode_utf8(std::string_view text) noexcept;

// Precondition: at most kLastCodePoint and not a surrogate; anything else appends U+FFFD.
void append_utf8(char32_t code_point, std::string& out);

// Offset of the first byte that is not valid UTF-8, or npos.
[[nodiscard]] std::size_t find_invalid_utf8(std::string_view text) noexcept;
[[nodiscard]] inline bool is_valid_utf8(std::string_view text) noexcept {
  return find_invalid_utf8(text) == std::string_view::npos;
}

// Each invalid sequence counts as the one U+FFFD it would be repaired to.
[[nodiscard]] std::size_t count_code_points(std::string_view text) noexcept;

// C0 with NUL, DEL, and C1: what a name may not contain and a terminal may obey.
[[nodiscard]] constexpr bool is_control(char32_t code_point) noexcept {
  return code_point < 0x20 || (code_point >= 0x7F && code_point <= 0x9F);
}

// Marks, embeddings, overrides and isolates, which make a line read other than it is written.
[[nodiscard]] constexpr bool is_bidi_control(char32_t code_point) noexcept {
  return code_point == 0x061C || code_point == 0x200E || code_point == 0x200F ||
         (code_point >= 0x202A && code_point <= 0x202E) ||
         (code_point >= 0x2066 && code_point <= 0x2069);
}

[[nodiscard]] constexpr bool is_line_separator(char32_t code_point) noexcept {
  return code_point == 0x2028 || code_point == 0x2029;
}

struct RepairedText {
  std::string text;           // valid UTF-8, at most `bytes_max` bytes
  std::size_t replaced = 0;   // invalid sequences that became U+FFFD
  bool shortened = false;     // cut, between code points, to stay within `bytes_max`
  bool has_controls = false;  // kept in `text`, for the caller to flag

  [[nodiscard]] bool altered() const noexcept { return replaced != 0 || shortened; }
};

// Makes foreign bytes text. Never reads past `bytes`, never returns more than `bytes_max` bytes.
[[nodiscard]] RepairedText repair_utf8(std::string_view bytes,
                                       std::size_t bytes_max = std::string_view::npos);

// Text that is safe to print: controls, bidi controls and line separators become `\u{1b}`, invalid
// sequences U+FFFD. Everything else is copied, a backslash included: the result is for eyes only.
void escape_for_terminal(std::string_view text, std::string& out);
[[nodiscard]] std::string escape_for_terminal(std::string_view text);

}  // namespace meterbank
