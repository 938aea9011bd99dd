// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/file/foreign_text.hpp"

#include <fmt/format.h>

#include <cstddef>

namespace meterbank::arbiter {

namespace {
constexpr std::size_t kQuotedBytesMax = 40;
}  // namespace

std::string escaped(std::string_view text) {
  std::string shown;
  for (const char character : text) {
    if (character >= ' ' && character <= '~') {
      shown += character;
    } else {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(character));
    }
  }
  return shown;
}

std::string quoted(std::string_view text) {
  if (text.size() <= kQuotedBytesMax) return fmt::format("'{}'", escaped(text));
  return fmt::format("'{}...'", escaped(text.substr(0, kQuotedBytesMax)));
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
