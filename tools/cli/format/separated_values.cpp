// SPDX-License-Identifier: Apache-2.0
#include "cli/format/separated_values.hpp"

#include "meterbank/pdh_log/spreadsheet_text.hpp"

namespace meterbank::cli {

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
