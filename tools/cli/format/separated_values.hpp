// SPDX-License-Identifier: Apache-2.0
//
// Fields of csv and tsv. What a spreadsheet would take for a formula is marked as text
// (meterbank/pdh_log/spreadsheet_text.hpp). Tabs and line ends are escaped.
#pragma once

#include <string>
#include <string_view>

#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {

// Foreign text as RFC 4180 wants it: quoted if it must be, quotation marks doubled.
void append_csv_field(std::string_view text, Charset charset, std::string& out);
// A tab or line end in a name becomes \u{9}, \u{a}, so that a line is a row.
void append_tsv_field(std::string_view text, Charset charset, std::string& out);

}  // namespace meterbank::cli
