// SPDX-License-Identifier: Apache-2.0
//
// Includes go down: the table of docs/architecture.md says which folder stands on which.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>
#include <set>

#include "tidy_rules.hpp"

namespace meterbank::tidy {
namespace {

constexpr auto kNone = std::string_view::npos;

struct Include {
  std::string_view path;
  std::size_t line;
};

// `#include` inside a literal is no include: the code layer tells.
std::vector<Include> includes_of(const Layers& layers) {
  std::vector<Include> includes;
  const auto code = lines_of(layers.code);
  const auto uncommented = lines_of(layers.uncommented);
  for (std::size_t index = 0; index < code.size(); ++index) {
    if (!trimmed(code[index]).starts_with('#')) continue;
    std::string_view rest = trimmed(trimmed(uncommented[index]).substr(1));
    if (!rest.starts_with("include")) continue;
    rest = trimmed(rest.substr(std::string_view("include").size()));
    const std::size_t end = rest.find_first_of(">\"", 1);
    if (end != kNone) includes.push_back({rest.substr(1, end - 1), index + 1});
  }
  return includes;
}

// "a/b/../c" is "a/c".
std::string normalized(std::string_view folder, std::string_view include) {
  std::string path(folder);
  if (!path.empty()) path += '/';
  path += include;
  return std::filesystem::path(path).lexically_normal().generic_string();
}

const FolderRow* row_of(std::span<const FolderRow> table, std::string_view path) {
  const FolderRow* best = nullptr;
  for (const FolderRow& row : table) {
    if (!is_under(path, row.folder)) continue;
    if (best == nullptr || row.folder.size() > best->folder.size()) best = &row;
  }
  return best;
}

// The file of the tree that an include means: beside the includer, from the root, below an include
// folder, or (a part's private include folder) anything that ends so, the includer's own part
// first. A bare name is looked for in the folder `own` only: elsewhere it is that of another file
// than the one which the build generates.
std::optional<std::string> resolve(std::string_view include, std::string_view from,
                                   std::string_view own, std::span<const std::string> paths) {
  const auto exists = [&](const std::string& path) {
    return std::find(paths.begin(), paths.end(), path) != paths.end();
  };
  for (const std::string& path : {normalized(folder_of(from), include), normalized("", include)}) {
    if (exists(path)) return path;
  }
  const std::string tail = "/" + std::string(include);
  const bool is_bare = include.find('/') == kNone;
  std::optional<std::string> best;
  for (const std::string& path : paths) {
    if (!path.ends_with(tail)) continue;
    if (path.ends_with("/include" + tail)) return path;
    if (is_bare && !is_under(path, own)) continue;
    if (!best || is_under(path, own)) best = path;
  }
  // A header of ours that is not there is still ours: <meterbank/reader/x.hpp> belongs to reader.
  constexpr std::string_view kOurs = "meterbank/";
  if (best || !include.starts_with(kOurs)) return best;
  const std::string_view rest = include.substr(kOurs.size());
  const std::string part(rest.substr(0, rest.find_first_of("/.")));
  return (part == "base" ? "shm" : part) + "/include/" + std::string(include);
}

// The names between backticks in a cell, without a slash at the end.
std::vector<std::string> names_in(std::string_view cell) {
  std::vector<std::string> names;
  for (std::size_t open = cell.find('`'); open != kNone;) {
    const std::size_t close = cell.find('`', open + 1);
    if (close == kNone) break;
    std::string name(cell.substr(open + 1, close - open - 1));
    if (name.ends_with('/')) name.pop_back();
    names.push_back(std::move(name));
    open = cell.find('`', close + 1);
  }
  return names;
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  for (std::size_t bar = line.find('|'); bar != kNone;) {
    const std::size_t next = line.find('|', bar + 1);
    if (next == kNone) break;
    cells.push_back(line.substr(bar + 1, next - bar - 1));
    bar = next;
  }
  return cells;
}

// Whether `from` stands on `target`: they are one, or something that `from` may include does.
bool stands_on(std::span<const FolderRow> table, const FolderRow& from, const FolderRow& target,
               std::set<std::string_view>& seen) {
  if (from.folder == target.folder) return true;
  if (!seen.insert(from.folder).second) return false;
  return std::any_of(from.may_include.begin(), from.may_include.end(), [&](const auto& name) {
    const FolderRow* const next = row_of(table, name + "/");
    return next != nullptr && stands_on(table, *next, target, seen);
  });
}

// Where in the list a file's layer is; the end if it is in none.
std::size_t layer_of(std::span<const std::string> layers, std::string_view path) {
  const auto found = std::find_if(layers.begin(), layers.end(),
                                  [&](const std::string& layer) { return is_under(path, layer); });
  return static_cast<std::size_t>(found - layers.begin());
}

// The text of a section of a page of Markdown; empty if there is none.
std::string_view section_of(std::string_view page, std::string_view heading) {
  const std::size_t begin = page.find("\n## " + std::string(heading) + "\n");
  if (begin == kNone) return {};
  return page.substr(begin, page.find("\n## ", begin + 1) - begin);
}

bool is_library(const FolderRow& row) { return !row.folder.starts_with("tools"); }

std::string forbidden_because(std::string_view include, std::string_view from,
                              std::span<const FolderRow> table,
                              std::span<const std::string> paths) {
  if (include.starts_with("boost/")) {
    return from.starts_with("shm/src/") ? "" : "Boost is seen in shm/src only";
  }
  const FolderRow* const own = row_of(table, from);
  const auto target =
      resolve(include, from, own != nullptr ? own->folder : from.substr(0, from.find('/')), paths);
  if (!target) return "";
  const FolderRow* const other = row_of(table, *target);
  const bool is_private =
      other != nullptr && is_library(*other) && target->find("/include/") == std::string::npos;
  if (is_private && other != own && !from.starts_with("tests/")) {
    return other->folder + " keeps this header to itself";
  }
  if (own == nullptr) return "";
  std::set<std::string_view> seen;
  if (other != nullptr && stands_on(table, *own, *other, seen)) return "";
  return own->folder + " may not include " +
         (other != nullptr ? other->folder : target->substr(0, target->find('/')));
}

}  // namespace

std::vector<FolderRow> read_folder_table(std::string_view page) {
  std::vector<FolderRow> table;
  for (const std::string_view line : lines_of(section_of(page, "Folders and their dependencies"))) {
    const auto cells = cells_of(line);
    if (cells.size() != 3) continue;
    const auto folders = names_in(cells[0]);
    // A row of several folders is of those that may include everything.
    if (folders.size() == 1) table.push_back({folders.front(), names_in(cells[2])});
  }
  return table;
}

Findings find_table_mistakes(std::span<const FolderRow> table, std::span<const std::string> paths) {
  Findings findings;
  const auto exists = [&](const std::string& folder) {
    return std::any_of(paths.begin(), paths.end(),
                       [&](const std::string& path) { return is_under(path, folder); });
  };
  for (const FolderRow& row : table) {
    if (!exists(row.folder))
      findings.push_back(
          {row.folder, 0, "the table has a row for this folder, which does not exist"});
    for (const std::string& name : row.may_include) {
      if (row_of(table, name + "/") != nullptr) continue;
      findings.push_back({row.folder, 0, "may include " + name + ", which has no row"});
    }
  }
  for (const std::string& path : paths) {
    if (!is_cpp(path) || row_of(table, path) != nullptr) continue;
    if (is_under(path, "tests") || is_under(path, "bench") || is_under(path, "docs")) continue;
    findings.push_back({path, 0, "no row of the table has its folder"});
  }
  return findings;
}

Findings find_forbidden_includes(const SourceFile& file, std::span<const FolderRow> table,
                                 std::span<const std::string> paths) {
  Findings findings;
  const Layers layers = split_layers(file.text);
  for (const Include& include : includes_of(layers)) {
    const std::string reason = forbidden_because(include.path, file.path, table, paths);
    if (reason.empty()) continue;
    findings.push_back({file.path, include.line, std::string(include.path) + ": " + reason});
  }
  return findings;
}

std::vector<std::string> read_layers(std::string_view page) {
  std::vector<std::string> layers;
  for (const std::string_view line : lines_of(section_of(page, "Layers of the reader"))) {
    if (line.empty() || std::isdigit(static_cast<unsigned char>(line.front())) == 0) continue;
    const auto names = names_in(line);
    if (!names.empty()) layers.push_back(names.front());
  }
  return layers;
}

Findings find_layer_mistakes(std::string_view stack, std::span<const std::string> layers,
                             std::span<const std::string> paths) {
  Findings findings;
  for (const std::string& layer : layers) {
    const bool exists = std::any_of(paths.begin(), paths.end(),
                                    [&](const std::string& path) { return is_under(path, layer); });
    if (!exists) findings.push_back({layer, 0, "the list has this layer, which does not exist"});
  }
  for (const std::string& path : paths) {
    if (!is_cpp(path) || !is_under(path, stack)) continue;
    if (layer_of(layers, path) != layers.size()) continue;
    findings.push_back({path, 0, "no layer of the list has its folder"});
  }
  return findings;
}

Findings find_upward_includes(const SourceFile& file, std::span<const std::string> layers,
                              std::span<const std::string> paths) {
  Findings findings;
  const std::size_t own = layer_of(layers, file.path);
  if (own == layers.size()) return findings;
  const std::string part = file.path.substr(0, file.path.find('/'));
  const Layers text = split_layers(file.text);
  for (const Include& include : includes_of(text)) {
    const auto target = resolve(include.path, file.path, part, paths);
    if (!target) continue;
    const std::size_t other = layer_of(layers, *target);
    if (other == layers.size() || other <= own) continue;
    findings.push_back(
        {file.path, include.line,
         std::string(include.path) + ": " + layers[own] + " is below " + layers[other]});
  }
  return findings;
}

}  // namespace meterbank::tidy
