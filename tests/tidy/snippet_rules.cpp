// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "tidy_rules.hpp"

namespace meterbank::tidy {
namespace {

std::string_view without_blanks(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return line.substr(begin, line.find_last_not_of(" \t") + 1 - begin);
}

// All lines of the snippet stand in the file in their order; others may stand between them.
bool holds(std::string_view file, std::span<const std::string_view> snippet) {
  auto wanted = snippet.begin();
  for (const std::string_view line : lines_of(file)) {
    if (wanted != snippet.end() && without_blanks(line) == *wanted) ++wanted;
  }
  return wanted == snippet.end();
}

}  // namespace

Findings find_foreign_snippets(const SourceFile& page, std::span<const SourceFile> files) {
  Findings findings;
  const auto lines = lines_of(page.text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (lines[i] != "```cpp") continue;
    const std::size_t begin = i + 1;
    std::vector<std::string_view> snippet;
    while (++i < lines.size() && lines[i] != "```") {
      const auto line = without_blanks(lines[i]);
      if (!line.empty()) snippet.push_back(line);
    }
    const bool is_of_an_example =
        std::any_of(files.begin(), files.end(), [&](const SourceFile& file) {
          return is_under(file.path, "docs/examples") && holds(file.text, snippet);
        });
    if (!is_of_an_example) {
      findings.push_back({page.path, begin, "no example has these lines in this order"});
    }
  }
  return findings;
}

}  // namespace meterbank::tidy
