// SPDX-License-Identifier: Apache-2.0
#include "generator/output/text_width.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace meterbank::generator {
namespace {

struct Range {
  char32_t first, last;
  std::size_t columns;
};
// Letters that people write in descriptions, and of whose width there are no two opinions.
constexpr std::array kKnown{
    Range{0x20, 0x7e, 1},     Range{0xa1, 0xac, 1},     Range{0xae, 0x2ff, 1},
    Range{0x391, 0x3a1, 1},   Range{0x3a3, 0x3ff, 1},   Range{0x400, 0x481, 1},
    Range{0x48a, 0x524, 1},   Range{0x2010, 0x2027, 1}, Range{0x2030, 0x205e, 1},
    Range{0x20a0, 0x20b5, 1}, Range{0x2190, 0x21ff, 1}, Range{0x2200, 0x22ff, 1},
    Range{0x3041, 0x3096, 2}, Range{0x30a1, 0x30fa, 2}, Range{0x4e00, 0x9fbb, 2},
    Range{0xac00, 0xd7a3, 2}, Range{0xff01, 0xff5e, 2}};

// Bytes of the character that begins here; what is no UTF-8 counts one by one.
std::size_t bytes_at(std::string_view text, std::size_t at) noexcept {
  const auto first = static_cast<unsigned char>(text[at]);
  std::size_t bytes = 1;
  if (first >= 0xc0) bytes = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  return std::min(bytes, text.size() - at);
}

std::optional<std::size_t> columns_at(std::string_view text, std::size_t at) noexcept {
  const std::size_t bytes = bytes_at(text, at);
  auto letter = static_cast<char32_t>(static_cast<unsigned char>(text[at]));
  if (bytes > 1) letter &= 0xffU >> (bytes + 1);
  for (std::size_t i = 1; i < bytes; ++i) {
    letter = letter << 6 | (static_cast<unsigned char>(text[at + i]) & 0x3f);
  }
  if (bytes == 1 && letter > 0x7e) return std::nullopt;
  for (const Range& range : kKnown) {
    if (letter >= range.first && letter <= range.last) return range.columns;
  }
  return std::nullopt;
}

std::optional<std::size_t> certain_columns(std::string_view text) noexcept {
  std::size_t all = 0;
  for (std::size_t at = 0; at < text.size(); at += bytes_at(text, at)) {
    const auto columns = columns_at(text, at);
    if (!columns) return std::nullopt;
    all += *columns;
  }
  return all;
}

bool is_hex(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// One character or escape of a literal's inside.
std::size_t unit_at(std::string_view text, std::size_t at) noexcept {
  if (text[at] != '\\' || at + 1 == text.size()) return bytes_at(text, at);
  std::size_t most = 0;
  std::size_t digits = 0;
  const char kind = text[at + 1];
  if (kind == 'u' || kind == 'U') most = kind == 'u' ? 4 : 8;
  if (kind == 'x') most = text.size();
  if (kind >= '0' && kind <= '7') most = 2;  // behind the first
  while (digits < most && at + 2 + digits < text.size() && is_hex(text[at + 2 + digits])) ++digits;
  return 2 + digits;
}

}  // namespace

std::size_t columns_of(std::string_view text) noexcept {
  return certain_columns(text).value_or(text.size());
}

bool has_certain_width(std::string_view text) noexcept { return certain_columns(text).has_value(); }

std::size_t end_of_string(std::string_view text) noexcept {
  std::size_t at = 0;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2U : 1U;
  return std::min(at, text.size());
}

std::size_t size_of_piece(std::string_view text, std::size_t columns) noexcept {
  if (columns_of(text) <= columns) return text.size();
  std::size_t fits = 0;
  std::size_t behind_space = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = at + unit_at(text, at);
    if (columns_of(text.substr(0, end)) > columns) break;
    fits = end;
    if (text[at] == ' ') behind_space = end;
    at = end;
  }
  return behind_space != 0 ? behind_space : fits;
}

}  // namespace meterbank::generator
