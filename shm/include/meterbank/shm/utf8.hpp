// SPDX-License-Identifier: Apache-2.0
//
// Names are UTF-8, and names written by another process are only believed to be.
//
// Decoding is strict: no overlong forms, no surrogates, nothing above U+10FFFF. A name that comes
// from a segment passes `repair_utf8` once, where it enters, and `escape_for_terminal` where it
// leaves towards a person; in between it is ordinary text, and may hold any code point.
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

// ---- Text on its way to a person ----
//
// What another process, file or user wrote could set a terminal's title, fill its clipboard, hide a
// row, or pass for another name. So every program shows such text by one rule:
//
//   shown as it is        all other text in valid UTF-8
//   escaped               control characters (C0 with NUL, ESC, tab and line ends; DEL; C1)
//                         line and paragraph separators; bidi controls
//                         invisible characters: soft hyphen, zero width space, word joiner, byte
//                         order mark, fillers, variation selectors, tags, annotation marks
//                         private code points and those that are not characters
//                         a combining mark without a character before it, or behind kMarksMax
//                         a joiner (U+200C, U+200D) that is not between two letters of a script
//                         that is spelled with joiners: Arabic, the scripts of India, Khmer, others
//                         bytes that are not UTF-8
//                         on a terminal without UTF-8, everything beyond ASCII: there the second
//                         byte of a harmless letter may be a C1 control
//
// An escape is `\u{202e}` for a code point and `\x{9b}` for a byte that is not UTF-8. A backslash
// that would begin one in the text itself is shown as `\u{5c}`, so an escape always means what it
// says; other backslashes stay, since paths are full of them. Emoji made of several characters are
// taken apart by this rule. Code points that Unicode has not assigned are shown: this library would
// otherwise be older than the text.
//
// Machine formats escape the same characters in their own way (JSON: `\u202e`).

inline constexpr unsigned kMarksMax = 8;  // enough for pointed Hebrew and stacked Tibetan

// What a terminal can show. What goes to no terminal is UTF-8.
enum class Charset : std::uint8_t { kUtf8, kAscii };

// The first of LC_ALL, LC_CTYPE and LANG that is set names UTF-8.
[[nodiscard]] bool locale_is_utf8() noexcept;
// kAscii if `descriptor` is a terminal and the locale is not one of UTF-8.
[[nodiscard]] Charset charset_of(int descriptor) noexcept;

// How many bytes at the front of `text` are printing ASCII. Every terminal shows these as they are.
[[nodiscard]] std::size_t plain_bytes(std::string_view text) noexcept;

struct TextPart {
  enum class Kind : std::uint8_t {
    kShown,    // any number of code points
    kHidden,   // one code point
    kNotUtf8,  // one invalid sequence
  };
  std::string_view bytes;
  Kind kind = Kind::kShown;
  char32_t code_point = 0;  // of kHidden
};

// Takes foreign text apart by the rule above.
class TextScan {
 public:
  explicit TextScan(std::string_view text, Charset charset = Charset::kUtf8) noexcept
      : rest_(text), charset_(charset) {}
  // False at the end of the text.
  bool next(TextPart& part) noexcept;

 private:
  bool shows(const DecodedCodePoint& decoded) noexcept;

  std::string_view rest_;
  Charset charset_;
  char32_t previous_ = 0;  // the code point before, if it is shown
  unsigned marks_ = 0;     // since the last character that takes a cell
};

// Cleans one foreign text: a name, a unit, a help text, a path of a file.
void escape_for_terminal(std::string_view text, std::string& out, Charset charset = Charset::kUtf8);
[[nodiscard]] std::string escape_for_terminal(std::string_view text,
                                              Charset charset = Charset::kUtf8);

// The last gate before a terminal or a file, for text that was put together from a program's own
// words and cleaned texts. What passes is clean even where a part was forgotten; what was cleaned
// before does not change. In kAscii, an ellipsis becomes '~'.
enum class Composed : std::uint8_t {
  kLine,  // a message
  kPage,  // line ends, tabs and colours (ESC [ number m) stay
};
// A page of nothing but printable ASCII, tabs and line ends: escape_composed() changes nothing in
// it.
[[nodiscard]] bool is_plain_page(std::string_view text) noexcept;
[[nodiscard]] std::string escape_composed(std::string_view text, Composed form,
                                          Charset charset = Charset::kUtf8);

// Escaped by the rule above, whatever stands beside it.
[[nodiscard]] bool is_hidden(char32_t code_point) noexcept;
// Cells of a terminal: none for combining marks and joiners, two for wide East Asian characters.
[[nodiscard]] std::size_t cells_of(char32_t code_point) noexcept;
// Bytes of the first thing in cleaned text that is never cut: an escape, or a character with its
// marks. 0 only for an empty text.
[[nodiscard]] std::size_t unit_bytes(std::string_view shown) noexcept;

}  // namespace meterbank
