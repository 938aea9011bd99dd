// SPDX-License-Identifier: Apache-2.0
#include "cli/format/separated_values.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace meterbank::cli {
namespace {

constexpr std::array<std::string_view, 8> kFormulaMarks{"=",      "+",      "-",      "@",
                                                        "\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"};

bool is_number(std::string_view text) noexcept {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

std::string spreadsheet_text(std::string shown) {
  auto front = std::string_view(shown);
  front.remove_prefix(std::min(front.find_first_not_of(' '), front.size()));
  const bool is_formula =
      std::any_of(kFormulaMarks.begin(), kFormulaMarks.end(),
                  [front](std::string_view mark) { return front.starts_with(mark); });
  if (is_formula && !is_number(shown)) shown.insert(shown.begin(), '\'');
  return shown;
}

std::string csv_field(std::string_view text, Charset charset) {
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
  return spreadsheet_text(escape_for_terminal(text, charset));
}

}  // namespace meterbank::cli
