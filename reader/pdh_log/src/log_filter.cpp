// SPDX-License-Identifier: Apache-2.0
#include "meterbank/pdh_log/log_filter.hpp"

#include <cstdint>
#include <numeric>
#include <optional>
#include <string_view>

#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/path.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank {
namespace {

Glob glob_of(const std::optional<std::string>& pattern) {
  return Glob(pattern.value_or("*"), {.backslash_escapes = true});
}

// A part of a column's path as the plain name it is; stars in names are not wildcards here.
std::string name_of(const std::optional<std::string>& part) {
  if (!part) return {};
  std::string name;
  for (std::size_t i = 0; i < part->size(); ++i) {
    if ((*part)[i] == '\\' && i + 1 < part->size()) ++i;
    name += (*part)[i];
  }
  return name;
}

struct Column {
  std::string text;
  bool parsed = false;
  std::string machine, set, instance, counter;
  std::uint32_t index = 0;  // the first namesake has none written
};

Column column_of(const std::string& text) {
  Column column{text, false, {}, {}, {}, {}, 0};
  const auto path = parse_path(text);
  if (!path || path->spelling != PathSpelling::kWindows) return column;
  column.parsed = true;
  column.machine = name_of(path->provider);
  column.set = name_of(path->set);
  column.instance = name_of(path->whole_instance());
  column.counter = name_of(path->counter);
  column.index = path->index.value_or(0);
  return column;
}

// One reading of one pattern, compiled.
class Matcher {
 public:
  explicit Matcher(const CounterPath& path)
      : machine_(glob_of(path.provider)),
        set_(glob_of(path.set)),
        instance_(glob_of(path.whole_instance())),
        counter_(glob_of(path.counter)),
        any_index_(!path.instance || path.index == kAnyInstanceIndex ||
                   (!path.index && !instance_.is_literal())),
        index_(path.index.value_or(0)) {}

  [[nodiscard]] bool matches(const Column& column) const {
    return column.parsed && machine_.matches(column.machine) && set_.matches(column.set) &&
           instance_.matches(column.instance) && counter_.matches(column.counter) &&
           (any_index_ || index_ == column.index);
  }

 private:
  Glob machine_, set_, instance_, counter_;
  bool any_index_;
  std::uint32_t index_;
};

}  // namespace

Result<LogColumns> choose_log_columns(const std::vector<std::string>& paths,
                                      const std::vector<std::string>& patterns) {
  LogColumns choice;
  if (patterns.empty()) {
    choice.columns.resize(paths.size());
    std::iota(choice.columns.begin(), choice.columns.end(), std::size_t{0});
    return choice;
  }
  std::vector<Column> columns;
  columns.reserve(paths.size());
  for (const auto& path : paths) columns.push_back(column_of(path));
  std::vector<bool> kept(paths.size());
  for (const auto& pattern : patterns) {
    const auto path = parse_path(pattern);
    if (!path) return tl::make_unexpected(path.error());
    const Matcher as_counter(path->reading_as_counter());
    const Matcher as_instance(path->reading_as_instance());
    bool found = false;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const bool same = equal_folded(columns[i].text, pattern);
      if (!same && !as_counter.matches(columns[i]) && !as_instance.matches(columns[i])) continue;
      kept[i] = true;
      found = true;
    }
    if (!found) choice.unmatched.push_back(pattern);
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) choice.columns.push_back(i);
  }
  return choice;
}

}  // namespace meterbank
