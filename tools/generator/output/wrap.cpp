// SPDX-License-Identifier: Apache-2.0
#include "generator/output/wrap.hpp"

#include <algorithm>

namespace meterbank::generator {

std::vector<std::string> wrapped(std::string_view text, std::size_t bytes_max) {
  std::vector<std::string> lines;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) return lines;
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    if (!lines.empty() && lines.back().size() + 1 + word.size() <= bytes_max) {
      lines.back().append(" ").append(word);
    } else {
      lines.emplace_back(word);
    }
  }
}

}  // namespace meterbank::generator
