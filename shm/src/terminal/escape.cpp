// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "meterbank/shm/utf8.hpp"

namespace meterbank {
namespace {

void append_hexadecimal(std::uint32_t value, char kind, std::string& out) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<char, 8> digits{};
  std::size_t first = digits.size();
  do {
    digits[--first] = kDigits[value & 0xFU];
    value >>= 4U;
  } while (value != 0);
  out.append("\\").append(1, kind).append("{");
  out.append(digits.data() + first, digits.size() - first).push_back('}');
}

void append_escape(const TextPart& part, std::string& out) {
  if (part.kind == TextPart::Kind::kHidden) return append_hexadecimal(part.code_point, 'u', out);
  for (const char byte : part.bytes) {
    append_hexadecimal(static_cast<unsigned char>(byte), 'x', out);
  }
}

// Copies what is shown; a backslash that would begin an escape becomes one.
void append_guarded(std::string_view shown, std::string& out) {
  for (;;) {
    const auto at = shown.find('\\');
    if (at == std::string_view::npos) break;
    const auto behind = shown.substr(at + 1);
    const bool is_like_escape = behind.starts_with("u{") || behind.starts_with("x{");
    out.append(shown.substr(0, at)).append(is_like_escape ? "\\u{5c}" : "\\");
    shown = behind;
  }
  out.append(shown);
}

// Bytes at the front of `text` that lay out a page: a line end, a tab, or a colour.
std::size_t layout_bytes(std::string_view text) noexcept {
  if (text.starts_with('\n') || text.starts_with('\t')) return 1;
  if (text.starts_with("\r\n")) return 2;
  if (!text.starts_with("\x1b[")) return 0;
  std::size_t end = 2;
  while (end < text.size() && end < 4 && text[end] >= '0' && text[end] <= '9') ++end;
  return end > 2 && end < text.size() && text[end] == 'm' ? end + 1 : 0;
}

constexpr std::string_view kEllipsis = "\u2026";

}  // namespace

void escape_for_terminal(std::string_view text, std::string& out, Charset charset) {
  TextScan scan(text, charset);
  for (TextPart part; scan.next(part);) {
    if (part.kind == TextPart::Kind::kShown) {
      append_guarded(part.bytes, out);
    } else {
      append_escape(part, out);
    }
  }
}

std::string escape_for_terminal(std::string_view text, Charset charset) {
  std::string out;
  out.reserve(text.size());
  escape_for_terminal(text, out, charset);
  return out;
}

// The loop has no branch, so that compilers take many bytes at a time.
bool is_plain_page(std::string_view text) noexcept {
  unsigned char others = 0;
  for (const char each : text) {
    const auto byte = static_cast<unsigned char>(each);
    const bool is_printable = static_cast<unsigned char>(byte - ' ') < '\x7f' - ' ';
    const bool is_layout = (byte == '\n') | (byte == '\t') | (byte == '\r');
    others |= static_cast<unsigned char>(!(is_printable | is_layout));
  }
  if (others != 0 || text.ends_with('\r')) return false;
  for (auto at = text.find('\r'); at != std::string_view::npos; at = text.find('\r', at + 1)) {
    if (text[at + 1] != '\n') return false;
  }
  return true;
}

std::string escape_composed(std::string_view text, Composed form, Charset charset) {
  std::string out;
  out.reserve(text.size());
  std::size_t layout = 0;  // bytes of it that are still to be passed over
  TextScan scan(text, charset);
  for (TextPart part; scan.next(part);) {
    const auto here = text.substr(static_cast<std::size_t>(part.bytes.data() - text.data()));
    if (part.kind == TextPart::Kind::kShown || layout > 0) {
      layout -= std::min(layout, part.bytes.size());
      out.append(part.bytes);
      continue;
    }
    if (form == Composed::kPage) layout = layout_bytes(here);
    if (layout > 0) {
      out.append(part.bytes);
      layout -= part.bytes.size();
    } else if (part.bytes == kEllipsis) {
      out += '~';
    } else {
      append_escape(part, out);
    }
  }
  return out;
}

std::size_t unit_bytes(std::string_view shown) noexcept {
  if (shown.starts_with("\\u{") || shown.starts_with("\\x{")) {
    constexpr std::size_t kEscapeBytesMax = 10;  // "\u{10ffff}"
    const auto end = shown.substr(0, kEscapeBytesMax).find('}');
    if (end != std::string_view::npos) return end + 1;
  }
  std::size_t bytes = decode_utf8(shown).length;
  while (bytes < shown.size()) {
    const auto next = decode_utf8(shown.substr(bytes));
    if (cells_of(next.code_point) != 0) break;
    bytes += next.length;
  }
  return bytes;
}

bool locale_is_utf8() noexcept {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    std::string_view rest = value;
    const auto is = [](char c, char lower) { return c == lower || c == lower - 32; };
    for (; rest.size() >= 4; rest.remove_prefix(1)) {
      if (!is(rest[0], 'u') || !is(rest[1], 't') || !is(rest[2], 'f')) continue;
      const auto digits = rest.substr(rest[3] == '-' ? 4 : 3);
      if (digits.starts_with('8')) return true;
    }
    return false;
  }
  return false;
}

Charset charset_of(int descriptor) noexcept {
  return ::isatty(descriptor) == 1 && !locale_is_utf8() ? Charset::kAscii : Charset::kUtf8;
}

}  // namespace meterbank
