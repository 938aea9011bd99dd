// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>

#include "tidy_rules.hpp"

namespace meterbank::tidy {
namespace {

constexpr std::size_t kColumnsMax = 100;
constexpr std::size_t kFunctionLinesMax = 70;
constexpr std::size_t kFileLinesMax = 500;
constexpr std::size_t kFolderFilesMax = 15;

// Columns, not bytes: the bytes that continue a UTF-8 character do not count.
std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

// Blanks the lines of the preprocessor: they are part of no declaration.
std::string without_directives(std::string code) {
  for (std::size_t begin = 0; begin < code.size();) {
    const std::size_t end = std::min(code.find('\n', begin), code.size());
    const std::size_t first = code.find_first_not_of(' ', begin);
    if (first < end && code[first] == '#') code.replace(begin, end - begin, end - begin, ' ');
    begin = end + 1;
  }
  return code;
}

// Whether the text between the last statement and an opening brace begins a function body.
bool begins_function(std::string_view head) {
  constexpr std::array<std::string_view, 13> kOthers = {
      "if",    "for",   "while",     "switch", "do",     "else",  "try",
      "catch", "class", "namespace", "enum",   "struct", "extern"};
  const std::size_t begin = head.find_first_not_of(" \n\t");
  if (begin == std::string_view::npos || head.find('(') == std::string_view::npos) return false;
  std::size_t end = begin;
  while (end < head.size() && is_word_character(head[end])) ++end;
  const std::string_view first = head.substr(begin, end - begin);
  return std::find(kOthers.begin(), kOthers.end(), first) == kOthers.end();
}

void advise_functions(const SourceFile& file, Findings& findings) {
  const std::string code = without_directives(split_layers(file.text).code);
  std::size_t head = 0;
  for (std::size_t at = 0; at < code.size(); ++at) {
    if (code[at] == '{' && begins_function(std::string_view(code).substr(head, at - head))) {
      const std::size_t end = behind_closing_bracket(code, at);
      if (end == std::string::npos) return;
      const std::size_t first = line_at(code, at);
      const std::size_t lines = line_at(code, end) - first + 1;
      if (lines > kFunctionLinesMax) {
        findings.push_back({file.path, first, "a function of " + std::to_string(lines) + " lines"});
      }
      at = end - 1;  // what is inside belongs to this function
    }
    if (code[at] == ';' || code[at] == '{' || code[at] == '}') head = at + 1;
  }
}

}  // namespace

Findings advise_lengths(const SourceFile& file) {
  Findings findings;
  if (!is_cpp(file.path)) return findings;
  const auto lines = lines_of(file.text);
  for (std::size_t index = 0; index < lines.size(); ++index) {
    const std::size_t width = columns(lines[index]);
    if (width <= kColumnsMax) continue;
    findings.push_back({file.path, index + 1, std::to_string(width) + " columns"});
  }
  if (lines.size() > kFileLinesMax) {
    findings.push_back({file.path, 0, std::to_string(lines.size()) + " lines"});
  }
  advise_functions(file, findings);
  return findings;
}

Findings advise_folder_sizes(std::span<const SourceFile> files) {
  std::map<std::string_view, std::size_t> sizes;
  for (const SourceFile& file : files) {
    const std::string_view folder = folder_of(file.path);
    if (!folder.empty()) ++sizes[folder];  // what lies at the root is decided elsewhere
  }
  Findings findings;
  for (const auto& [folder, size] : sizes) {
    if (size <= kFolderFilesMax) continue;
    findings.push_back({std::string(folder), 0, std::to_string(size) + " files in one folder"});
  }
  return findings;
}

}  // namespace meterbank::tidy
