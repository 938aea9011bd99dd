// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstddef>

#include "generator/output/documents/document.hpp"
#include "generator/output/output.hpp"
#include "generator/output/render.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::generator {
namespace {

constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
constexpr bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Marks anywhere in a line, with what stands on both sides of them.
bool is_mark(char before, char c, char after) {
  if (c == '_') return !is_word(before) || !is_word(after);
  if (c == '&') return is_word(after) || after == '#';
  return std::string_view("\\`*[]<|~$").find(c) != std::string_view::npos;
}

// How many characters at the begin of a line would make a heading, a list or a quotation of it,
// the last of which has to be escaped.
std::size_t block_mark_length(std::string_view text) {
  if (text.empty()) return 0;
  if (std::string_view("#+-=>").find(text.front()) != std::string_view::npos) return 1;
  const auto end = std::find_if_not(text.begin(), text.end(), is_digit);
  const auto digits = static_cast<std::size_t>(end - text.begin());
  return digits > 0 && end != text.end() && (*end == '.' || *end == ')') ? digits + 1 : 0;
}

std::string prose(std::string_view foreign) {
  const auto text = escape_for_terminal(foreign);
  std::string out;
  const auto block_mark = block_mark_length(text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char before = i == 0 ? ' ' : text[i - 1];
    const char after = i + 1 == text.size() ? ' ' : text[i + 1];
    if (i + 1 == block_mark || is_mark(before, text[i], after)) out += '\\';
    out += text[i];
  }
  return out;
}

// Between more backticks than it has in a row. A bar would end the cell of a table even there.
std::string code(std::string_view foreign) {
  const auto text = escape_for_terminal(foreign);
  std::size_t row = 0, longest = 0;
  std::string inside;
  for (const char c : text) {
    row = c == '`' ? row + 1 : 0;
    longest = std::max(longest, row);
    if (c == '|') inside += '\\';
    inside += c;
  }
  const std::string fence(longest + 1, '`');
  const std::string space = longest > 0 ? " " : "";
  return fence + space + inside + space + fence;
}

}  // namespace

Result<std::string> markdown(const Manifest& manifest, const OutputOptions& options) {
  return render("markdown", document_data(manifest, {prose, code}), options);
}

}  // namespace meterbank::generator
