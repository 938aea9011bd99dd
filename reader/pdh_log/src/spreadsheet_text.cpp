// SPDX-License-Identifier: Apache-2.0
#include "meterbank/pdh_log/spreadsheet_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace meterbank {
namespace {

constexpr std::array<std::string_view, 8> kFormulaMarks{"=",      "+",      "-",      "@",
                                                        "\uFF1D", "\uFF0B", "\uFF0D", "\uFF20"};
constexpr std::string_view kFirstBytes = "=+-@\xEF";  // the first bytes of kFormulaMarks

bool is_number(std::string_view text) noexcept {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

}  // namespace

bool is_spreadsheet_formula(std::string_view shown) noexcept {
  auto front = shown;
  front.remove_prefix(std::min(front.find_first_not_of(' '), front.size()));
  if (front.empty() || kFirstBytes.find(front.front()) == std::string_view::npos) return false;
  return std::any_of(kFormulaMarks.begin(), kFormulaMarks.end(),
                     [front](std::string_view mark) { return front.starts_with(mark); }) &&
         !is_number(shown);
}

std::string spreadsheet_text(std::string shown) {
  if (is_spreadsheet_formula(shown)) shown.insert(shown.begin(), '\'');
  return shown;
}

}  // namespace meterbank
