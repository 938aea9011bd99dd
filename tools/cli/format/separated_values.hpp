// SPDX-License-Identifier: Apache-2.0
//
// Fields of csv, tsv and of the Windows logs.
//
// A spreadsheet takes a cell that begins with = + - or @ for a formula, and a formula can send the
// other cells somewhere or start a program. So a cell or heading that begins with one of them, or
// with its fullwidth form, behind any number of blanks, gets an apostrophe in front, which
// spreadsheets read as "this is text". Numbers keep their sign. Tabs and line ends are escaped.
#pragma once

#include <string>
#include <string_view>

#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {

// `shown` is cleaned text.
[[nodiscard]] std::string spreadsheet_text(std::string shown);

// Foreign text as RFC 4180 wants it: quoted if it must be, quotation marks doubled.
[[nodiscard]] std::string csv_field(std::string_view text, Charset charset = Charset::kUtf8);
// A tab or line end in a name becomes \u{9}, \u{a}, so that a line is a row.
[[nodiscard]] std::string tsv_field(std::string_view text, Charset charset = Charset::kUtf8);

}  // namespace meterbank::cli
