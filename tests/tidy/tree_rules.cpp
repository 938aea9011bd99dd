// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>

#include "tidy_rules.hpp"

namespace meterbank::tidy {
namespace {

constexpr auto kNone = std::string_view::npos;

// The words of a CMake file: what blanks, brackets, quotes and semicolons part.
std::vector<std::string_view> cmake_words(std::string_view text) {
  constexpr std::string_view kSeparators = " \t\n()\";";
  std::vector<std::string_view> words;
  for (std::size_t at = text.find_first_not_of(kSeparators); at != kNone;) {
    const std::size_t end = std::min(text.find_first_of(kSeparators, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(kSeparators, end);
  }
  return words;
}

bool names_file(std::span<const std::string_view> words, std::string_view relative) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return word == relative || word.ends_with("}/" + std::string(relative));
  });
}

struct Call {
  std::string_view name;
  std::vector<std::string_view> arguments;
};

std::vector<Call> cmake_calls(std::string_view text) {
  std::vector<Call> calls;
  for (std::size_t open = text.find('('); open != kNone;) {
    const std::size_t close = behind_closing_bracket(text, open);
    if (close == kNone) break;
    std::size_t begin = open;
    while (begin > 0 && is_word_character(text[begin - 1])) --begin;
    calls.push_back(
        {text.substr(begin, open - begin), cmake_words(text.substr(open + 1, close - open - 2))});
    open = text.find('(', close);
  }
  return calls;
}

// Functions defined here whose body calls add_test: to call one with an example is to run it.
std::set<std::string_view> test_functions(std::span<const Call> calls) {
  std::set<std::string_view> names;
  std::string_view open;
  for (const Call& call : calls) {
    if (call.name == "function" && !call.arguments.empty()) open = call.arguments.front();
    if (call.name == "endfunction") open = {};
    if (call.name == "add_test" && !open.empty()) names.insert(open);
  }
  return names;
}

bool mentions(std::span<const std::string_view> words, std::string_view part) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return word.find(part) != kNone; });
}

// True when a test of this CMake file runs the program that is built from `source`.
bool runs_example(std::span<const Call> calls, std::string_view source) {
  const std::string_view stem = name_of(source).substr(0, name_of(source).rfind('.'));
  std::set<std::string_view> programs;
  for (const Call& call : calls) {
    const bool builds = call.name == "add_executable" && call.arguments.size() > 1;
    if (builds && names_file(call.arguments, source)) programs.insert(call.arguments.front());
  }
  const auto functions = test_functions(calls);
  return std::any_of(calls.begin(), calls.end(), [&](const Call& call) {
    if (functions.contains(call.name)) return mentions(call.arguments, stem);
    if (call.name != "add_test") return false;
    return std::any_of(programs.begin(), programs.end(),
                       [&](std::string_view program) { return mentions(call.arguments, program); });
  });
}

bool is_cmake(std::string_view path) { return name_of(path) == "CMakeLists.txt"; }

// What `accepts(cmake, path of the source as seen from its folder)` says of the nearest
// CMakeLists.txt files: those in the folder of the source and above.
template <typename Accepts>
bool any_cmake_above(std::span<const SourceFile> files, std::string_view source, Accepts accepts) {
  return std::any_of(files.begin(), files.end(), [&](const SourceFile& cmake) {
    if (!is_cmake(cmake.path)) return false;
    const std::string_view folder = folder_of(cmake.path);
    if (folder.empty()) return accepts(cmake, source);
    return is_under(source, folder) && accepts(cmake, source.substr(folder.size() + 1));
  });
}

bool has_owner_and_reason(std::string_view behind_todo) {
  const std::size_t close = behind_todo.find("): ");
  return behind_todo.starts_with('(') && close != kNone && close > 1;
}

void find_forbidden_name(const SourceFile& file, Findings& findings) {
  constexpr std::array<std::string_view, 6> kEmptyWords = {"manager", "managers", "helper",
                                                           "helpers", "util",     "utils"};
  std::string name(name_of(file.path));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '.' || c == '-'; }, '_');
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find('_', at), name.size());
    const std::string word = name.substr(at, end - at);
    if (std::find(kEmptyWords.begin(), kEmptyWords.end(), word) != kEmptyWords.end()) {
      findings.push_back({file.path, 0, "a name with '" + word + "' does not say what is inside"});
    }
    at = end + 1;
  }
}

// One line of packages.txt: "group name", the name as Debian allows it.
std::string package_mistake(std::span<const std::string_view> words) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789+-.";
  constexpr std::array<std::string_view, 12> kGroups = {
      "build",  "agent",   "pcp",  "unpacked", "test",  "bench",
      "python", "package", "bare", "full",     "embed", "peers"};
  if (words.size() != 2) return "not a group and a package";
  if (std::find(kGroups.begin(), kGroups.end(), words[0]) == kGroups.end()) {
    return "unknown group " + std::string(words[0]);
  }
  if (words[1].find_first_not_of(kLetters) != kNone) return "not a package name";
  return "";
}

// The groups the script asks for: the words behind `install` or `unpack`, and those of `groups=`.
std::set<std::string> groups_asked_for(std::string_view run) {
  std::set<std::string> groups;
  for (const std::string_view raw : lines_of(run)) {
    const std::string_view line = trimmed(raw);
    const bool installs = line.starts_with("install ") || line.starts_with("unpack ");
    const std::size_t assigned = line.find(" groups=");
    std::string_view words;
    if (installs) words = line.substr(line.find(' '));
    if (assigned != kNone) words = line.substr(assigned + std::string_view(" groups=").size());
    for (const std::string_view word : cmake_words(words)) {
      if (word == "esac") break;
      if (!word.starts_with('$')) groups.insert(std::string(word));
    }
  }
  return groups;
}

}  // namespace

std::string describe(const Findings& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += finding.path;
    if (finding.line != 0) text += ":" + std::to_string(finding.line);
    text += ": " + finding.what + "\n";
  }
  return text;
}

Findings find_unbuilt_sources(std::span<const SourceFile> files) {
  Findings findings;
  for (const SourceFile& file : files) {
    if (!file.path.ends_with(".cpp")) continue;
    const bool is_named =
        any_cmake_above(files, file.path, [](const SourceFile& cmake, std::string_view relative) {
          const std::string text = without_hash_comments(cmake.text);
          return names_file(cmake_words(text), relative);
        });
    if (!is_named) findings.push_back({file.path, 0, "no CMakeLists.txt names this file"});
  }
  return findings;
}

Findings find_unrun_examples(std::span<const SourceFile> files) {
  Findings findings;
  for (const SourceFile& file : files) {
    if (!is_under(file.path, "docs/examples") || !file.path.ends_with(".cpp")) continue;
    const bool is_run =
        any_cmake_above(files, file.path, [](const SourceFile& cmake, std::string_view relative) {
          const std::string text = without_hash_comments(cmake.text);
          return runs_example(cmake_calls(text), relative);
        });
    if (!is_run) findings.push_back({file.path, 0, "no test runs this example"});
  }
  return findings;
}

Findings find_forbidden_words(const SourceFile& file) {
  Findings findings;
  find_forbidden_name(file, findings);
  if (!is_cpp(file.path) && !is_cmake(file.path)) return findings;
  const std::string_view first_line = std::string_view(file.text).substr(0, file.text.find('\n'));
  if (is_cpp(file.path) && first_line.find("SPDX-License-Identifier: Apache-2.0") == kNone) {
    findings.push_back({file.path, 1, "the first line does not name the licence"});
  }
  const std::string prose = is_cpp(file.path) ? split_layers(file.text).comments : file.text;
  for (const std::string_view word : {"TODO", "FIXME"}) {
    for (const std::size_t at : find_words(prose, word)) {
      if (has_owner_and_reason(std::string_view(prose).substr(at + word.size()))) continue;
      findings.push_back({file.path, line_at(prose, at), "write WORD(owner): reason, or do it"});
    }
  }
  return findings;
}

Findings find_unlisted_test_folders(std::string_view page, std::span<const SourceFile> files) {
  std::set<std::string_view> folders;
  for (const SourceFile& file : files) {
    constexpr std::string_view kTests = "tests/";
    if (!file.path.starts_with(kTests)) continue;
    const std::string_view rest = std::string_view(file.path).substr(kTests.size());
    if (const std::size_t slash = rest.find('/'); slash != kNone) {
      folders.insert(rest.substr(0, slash));
    }
  }
  Findings findings;
  for (const std::string_view folder : folders) {
    if (page.find("`" + std::string(folder) + "/") != kNone) continue;
    findings.push_back({"tests/README.md", 0, std::string(folder) + "/ has no line in the table"});
  }
  return findings;
}

Findings find_package_mistakes(std::string_view packages, std::string_view run) {
  Findings findings;
  std::set<std::string> listed;
  std::set<std::string> names;
  std::size_t number = 0;
  const std::string text = without_hash_comments(packages);
  for (const std::string_view line : lines_of(text)) {
    ++number;
    const auto words = cmake_words(line);
    if (words.empty()) continue;
    const std::string mistake = package_mistake(words);
    if (!mistake.empty()) {
      findings.push_back({"packages.txt", number, mistake});
      continue;
    }
    listed.insert(std::string(words[0]));
    if (!names.insert(std::string(words[1])).second) {
      findings.push_back({"packages.txt", number, std::string(words[1]) + " stands here twice"});
    }
  }
  const std::set<std::string> asked = groups_asked_for(run);
  for (const std::string& group : asked) {
    if (!listed.contains(group)) findings.push_back({"run", 0, group + " is no group of packages"});
  }
  for (const std::string& group : listed) {
    if (!asked.contains(group))
      findings.push_back({"packages.txt", 0, group + " is never installed"});
  }
  if (run.find("packages.txt") == kNone) {
    findings.push_back({"run", 0, "does not read packages.txt"});
  }
  return findings;
}

}  // namespace meterbank::tidy
