// SPDX-License-Identifier: Apache-2.0
#include "cli/format/separated_values.hpp"

#include <algorithm>
#include <cstddef>

#include "meterbank/pdh_log/spreadsheet_text.hpp"

namespace meterbank::cli {

namespace {

// Replaces what `out` has from `begin` on by the same text between quotation marks.
void quote(std::string& out, std::size_t begin) {
  const std::string shown = out.substr(begin);
  out.resize(begin);
  out += '"';
  for (const char c : shown) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace

void append_csv_field(std::string_view text, Charset charset, std::string& out) {
  const std::size_t begin = out.size();
  append_tsv_field(text, charset, out);
  const bool is_quoted = std::any_of(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end(),
                                     [](char c) { return c == ',' || c == '"'; });
  if (is_quoted) quote(out, begin);
}

void append_tsv_field(std::string_view text, Charset charset, std::string& out) {
  const std::size_t begin = out.size();
  escape_for_terminal(text, out, charset);
  if (is_spreadsheet_formula(std::string_view(out).substr(begin))) out.insert(begin, 1, '\'');
}

}  // namespace meterbank::cli
