// SPDX-License-Identifier: Apache-2.0
//
// Words of another program: how numbers in them are read, and how they are shown in errors.
// Nothing here asks for a locale.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include "syntax/in_quotes.hpp"

namespace meterbank::arbiter {

using syntax::in_quotes;

// All of `text` as a number of T without sign: digits, or 0x and hexadecimal digits. Nothing if
// it is something else or too large.
template <typename T>
[[nodiscard]] std::optional<T> read_number(std::string_view text) noexcept {
  int base = 10;
  if (text.starts_with("0x")) {
    text.remove_prefix(2);
    base = 16;
  }
  T value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc{} || stop != end || text.empty()) return std::nullopt;
  return value;
}

// The parts between separators, empty ones included: one more than there are separators.
[[nodiscard]] std::vector<std::string_view> parts_of(std::string_view text, char separator);

}  // namespace meterbank::arbiter
