// SPDX-License-Identifier: Apache-2.0
//
// A spreadsheet takes a cell that begins with = + - or @ for a formula, and a formula can send the
// other cells somewhere or start a program. So a cell or heading that begins with one of them, or
// with its fullwidth form, behind any number of blanks, gets an apostrophe in front, which
// spreadsheets read as "this is text". Numbers keep their sign.
#pragma once

#include <string>
#include <string_view>

namespace meterbank {

// Both take cleaned text.
[[nodiscard]] bool is_spreadsheet_formula(std::string_view shown) noexcept;
[[nodiscard]] std::string spreadsheet_text(std::string shown);

}  // namespace meterbank
