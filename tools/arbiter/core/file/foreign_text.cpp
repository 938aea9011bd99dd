// SPDX-License-Identifier: Apache-2.0
#include "arbiter/core/file/foreign_text.hpp"

#include <cstddef>

namespace meterbank::arbiter {

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
