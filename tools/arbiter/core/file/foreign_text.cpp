// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/file/foreign_text.hpp"

#include <fmt/format.h>

#include <cstddef>

#include "meterbank/shm/utf8.hpp"

namespace meterbank::arbiter {

namespace {
constexpr std::size_t kQuotedBytesMax = 40;
}  // namespace

std::string in_quotes(std::string_view text) {
  if (text.size() <= kQuotedBytesMax) return fmt::format("'{}'", escape_for_terminal(text));
  auto front = text.substr(0, kQuotedBytesMax);
  // A code point that was cut is not one that was wrong.
  const auto cut = find_invalid_utf8(front);
  if (cut < front.size() && is_valid_utf8(text.substr(cut, decode_utf8(text.substr(cut)).length))) {
    front = front.substr(0, cut);
  }
  return fmt::format("'{}...'", escape_for_terminal(front));
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

}  // namespace meterbank::arbiter
