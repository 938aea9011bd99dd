// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "tidy_rules.hpp"

namespace meterbank::tidy {
namespace {

constexpr auto kNone = std::string_view::npos;

// "Suite.Name" of each TEST, TEST_F and TEST_P.
void add_tests(std::string_view text, std::set<std::string>& names) {
  for (const std::string_view macro : {"TEST(", "TEST_F(", "TEST_P("}) {
    for (std::size_t at = text.find(macro); at != kNone; at = text.find(macro, at + 1)) {
      const std::size_t begin = at + macro.size();
      const std::size_t comma = text.find(',', begin);
      const std::size_t end = text.find(')', begin);
      if (comma == kNone || end == kNone || comma > end) continue;
      const std::size_t name = text.find_first_not_of(" \n", comma + 1);
      names.insert(std::string(text.substr(begin, comma - begin)) + "." +
                   std::string(text.substr(name, end - name)));
    }
  }
}

// What stands between `begin` and the next of the characters `end`, wherever it does.
void add_entries(std::string_view text, std::string_view begin, std::string_view end,
                 std::set<std::string>& names) {
  for (std::size_t at = text.find(begin); at != kNone; at = text.find(begin, at + 1)) {
    const std::size_t name = at + begin.size();
    names.insert(std::string(text.substr(name, text.find_first_of(end, name) - name)));
  }
}

// The last cell of a row of a table; empty: the line is not a row.
std::string_view last_cell(std::string_view line) {
  if (!line.starts_with('|') || !line.ends_with('|') || line.size() < 3) return {};
  line.remove_suffix(1);
  return line.substr(line.rfind('|') + 1);
}

}  // namespace

Findings find_unknown_tests(const SourceFile& page, std::span<const SourceFile> files) {
  std::set<std::string> names;
  for (const SourceFile& file : files) {
    if (!is_under(file.path, "tests")) continue;
    if (file.path.ends_with("CMakeLists.txt"))
      add_entries(file.text, "add_test(NAME ", " \n", names);
    if (!is_cpp(file.path)) continue;
    add_tests(file.text, names);
    if (is_under(file.path, "tests/hostile/corpus")) {
      add_entries(file.text, "Attack{\"", "\"", names);
    }
    if (is_under(file.path, "tests/process/hosts")) {
      add_entries(file.text, "METERBANK_HOST(", ")", names);
    }
  }
  Findings findings;
  std::size_t number = 0, checked = 0;
  for (const std::string_view line : lines_of(page.text)) {
    ++number;
    std::string_view cell = last_cell(line);
    for (std::size_t at = cell.find('`'); at != kNone; at = cell.find('`')) {
      const std::size_t end = cell.find('`', at + 1);
      if (end == kNone) break;
      const std::string name(cell.substr(at + 1, end - at - 1));
      cell.remove_prefix(end + 1);
      ++checked;
      if (!names.contains(name)) {
        findings.push_back({page.path, number, "no test is called " + name});
      }
    }
  }
  if (checked == 0) findings.push_back({page.path, 0, "names no test"});
  return findings;
}

}  // namespace meterbank::tidy
