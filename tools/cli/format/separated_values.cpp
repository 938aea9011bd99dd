// SPDX-License-Identifier: Apache-2.0
#include "cli/format/separated_values.hpp"

#include <algorithm>

#include "meterbank/pdh_log/spreadsheet_text.hpp"

namespace meterbank::cli {

namespace {

// Printing ASCII that begins with a letter or digit and has nothing that any format escapes: almost
// all names and numbers.
bool is_simple(std::string_view text) noexcept {
  if (text.empty()) return true;
  const char front = text.front();
  const bool is_digit = front >= '0' && front <= '9';
  const bool is_letter = (front >= 'a' && front <= 'z') || (front >= 'A' && front <= 'Z');
  if (!is_digit && !is_letter) return false;
  const auto is_escaped = [](char c) { return c == ',' || c == '"' || c == '\\'; };
  return plain_bytes(text) == text.size() && std::none_of(text.begin(), text.end(), is_escaped);
}

}  // namespace

std::string csv_field(std::string_view text, Charset charset) {
  if (is_simple(text)) return std::string(text);
  auto shown = spreadsheet_text(escape_for_terminal(text, charset));
  if (shown.find_first_of(",\"") == std::string::npos) return shown;
  std::string out = "\"";
  for (const char c : shown) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

std::string tsv_field(std::string_view text, Charset charset) {
  if (is_simple(text)) return std::string(text);
  return spreadsheet_text(escape_for_terminal(text, charset));
}

}  // namespace meterbank::cli
