// SPDX-License-Identifier: Apache-2.0
#include "syntax/source_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace meterbank::syntax {
namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

enum class Encoding { kUtf8, kUtf16Little, kUtf16Big };

Encoding encoding_of(std::string_view bytes) {
  constexpr std::array kMarks{
      std::pair{std::string_view("\xFF\xFE", 2), Encoding::kUtf16Little},
      std::pair{std::string_view("<\0", 2), Encoding::kUtf16Little},
      std::pair{std::string_view("\xFE\xFF", 2), Encoding::kUtf16Big},
      std::pair{std::string_view("\0<", 2), Encoding::kUtf16Big},
  };
  for (const auto& [mark, encoding] : kMarks) {
    if (bytes.starts_with(mark)) return encoding;
  }
  return Encoding::kUtf8;
}

void append_utf8(std::string& text, char32_t point) {
  const auto put = [&text](char32_t byte) { text += static_cast<char>(byte); };
  if (point < 0x80) {
    put(point);
  } else if (point < 0x800) {
    put(0xC0 | (point >> 6));
    put(0x80 | (point & 0x3F));
  } else if (point < 0x10000) {
    put(0xE0 | (point >> 12));
    put(0x80 | ((point >> 6) & 0x3F));
    put(0x80 | (point & 0x3F));
  } else {
    put(0xF0 | (point >> 18));
    put(0x80 | ((point >> 12) & 0x3F));
    put(0x80 | ((point >> 6) & 0x3F));
    put(0x80 | (point & 0x3F));
  }
}

constexpr bool is_surrogate(char32_t unit) { return unit >= 0xD800 && unit < 0xE000; }
constexpr bool is_high_surrogate(char32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
constexpr bool is_low_surrogate(char32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

// `whole` becomes false at a half pair or a half unit, where the text then ends.
std::string from_utf16(std::string_view bytes, Encoding encoding, bool& whole) {
  const auto byte = [bytes](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const auto unit = [&](std::size_t i) {
    const char32_t first = byte(i);
    const char32_t second = byte(i + 1);
    return encoding == Encoding::kUtf16Little ? (second << 8) | first : (first << 8) | second;
  };
  std::string text;
  text.reserve(bytes.size());
  std::size_t i = 0;
  for (; bytes.size() - i >= 2; i += 2) {
    char32_t point = unit(i);
    if (i == 0 && point == 0xFEFF) continue;
    if (is_surrogate(point)) {
      const char32_t low = bytes.size() - i >= 4 ? unit(i + 2) : 0;
      if (!is_high_surrogate(point) || !is_low_surrogate(low)) break;
      point = 0x10000 + ((point - 0xD800) << 10) + (low - 0xDC00);
      i += 2;
    }
    append_utf8(text, point);
  }
  whole = i == bytes.size();
  return text;
}

// Bytes of the character that begins `text`, 0 if none does. Overlong forms, surrogates and what
// lies beyond U+10FFFF are invalid.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t bytes = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return 0;
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = byte(1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second >= 0xA0;
  const bool beyond = lead == 0xF4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : bytes;
}

constexpr bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  if (c == '\t' || c == '\n' || c == '\r') return false;
  return byte < 0x20 || byte == 0x7F;
}

}  // namespace

SourceText::SourceText(std::string text) : text_(std::move(text)), lines_{0} {
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') lines_.push_back(i + 1);
  }
}

std::optional<SourceText> SourceText::decode(std::string_view bytes, Problems& problems) {
  const Encoding encoding = encoding_of(bytes);
  if (encoding == Encoding::kUtf8) {
    if (bytes.starts_with(kUtf8Mark)) bytes.remove_prefix(kUtf8Mark.size());
    SourceText source{std::string(bytes)};
    if (!source.check(problems)) return std::nullopt;
    return source;
  }
  bool whole = true;
  SourceText source(from_utf16(bytes, encoding, whole));
  if (!whole) {
    problems.add(source.place_of(source.text_.size()), "half a character: this is not UTF-16",
                 "save the file as UTF-8");
  }
  if (!source.check(problems) || !whole) return std::nullopt;
  return source;
}

bool SourceText::check(Problems& problems) const {
  for (std::size_t i = 0; i < text_.size();) {
    const std::size_t bytes = character_bytes(std::string_view(text_).substr(i));
    if (bytes == 0) {
      problems.add(place_of(i),
                   fmt::format("byte 0x{:02x} is not UTF-8", static_cast<unsigned char>(text_[i])),
                   "save the file as UTF-8");
      return false;
    }
    if (is_control(text_[i])) {
      problems.add(place_of(i),
                   fmt::format("control character U+{:04X}", static_cast<unsigned>(text_[i])),
                   "remove it: the file must be plain text");
      return false;
    }
    i += bytes;
  }
  return true;
}

Place SourceText::place_of(std::size_t offset) const noexcept {
  const auto after = std::ranges::upper_bound(lines_, offset);
  const auto line = static_cast<std::size_t>(after - lines_.begin());
  return {static_cast<std::uint32_t>(line),
          static_cast<std::uint32_t>(offset - lines_[line - 1] + 1)};
}

Place SourceText::place_of_character(std::uint32_t line, std::uint32_t column) const noexcept {
  if (line == 0 || line > lines_.size()) return place_of(text_.size());
  std::size_t offset = lines_[line - 1];
  for (std::uint32_t seen = 1; seen < column && offset < text_.size(); ++seen) {
    if (text_[offset] == '\n') break;
    offset += std::max<std::size_t>(1, character_bytes(std::string_view(text_).substr(offset)));
  }
  return place_of(offset);
}

}  // namespace meterbank::syntax
