// SPDX-License-Identifier: Apache-2.0
#include "expand_path.hpp"

#include <algorithm>
#include <utility>

#include "meterbank/base/machine_name.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/path.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank::pdh {
namespace {

// As Windows' paths have it: a name and its position among those of that name.
std::vector<InstanceElements> instances_of(const Catalog& catalog, const Counterset& set,
                                           const PathElements& path) {
  const Glob wanted(path.whole_instance());
  const bool is_one = wanted.is_literal() && path.index != kAnyInstanceIndex;
  const std::string one = numbered_name(path.whole_instance(), path.index.value_or(0));
  const bool is_any = !path.index || path.index == kAnyInstanceIndex;
  std::vector<InstanceElements> found;
  const std::vector<std::string> names = instance_names(catalog, set);
  const std::vector<std::string> numbered = numbered_names(names);
  for (std::size_t at = 0; at < names.size(); ++at) {
    auto instance = parse_instance(numbered[at]);
    if (!instance) continue;
    const bool is_meant = is_one ? equal_folded(numbered[at], one)
                                 : wanted.matches(names[at]) &&
                                       (is_any || instance->index.value_or(0) == *path.index);
    if (is_meant) found.push_back(*std::move(instance));
  }
  return found;
}

std::vector<std::string> counters_of(const Counterset& set, const std::string& wanted) {
  const Glob glob(wanted);
  std::vector<std::string> names;
  if (glob.is_literal()) {
    const CounterView* const counter = set.find(wanted);
    if (counter != nullptr && is_counter(*counter)) names.push_back(shown_name(*counter));
    return names;
  }
  for (const CounterView& counter : set.counters) {
    if (!is_counter(counter) || is_base(counter.type)) continue;
    if (glob.matches(shown_name(counter))) names.push_back(shown_name(counter));
  }
  return names;
}

class Expansion {
 public:
  Expansion(const Catalog& catalog, const PathElements& path, DWORD flags)
      : catalog_(catalog), path_(path), flags_(flags), machine_(machine_name()) {}

  // Whether the set has such a counter.
  bool add(const Counterset& set, std::vector<std::string>& paths) const {
    PathElements one = path_;
    one.machine = machine_;
    one.object = shown_name(set);
    std::vector<std::string> counters{path_.counter};
    if (!keeps(PDH_NOEXPANDCOUNTERS, path_.counter)) counters = counters_of(set, path_.counter);
    if (!path_.instance || keeps(PDH_NOEXPANDINSTANCES, path_.whole_instance())) {
      append(one, counters, paths);
      return !counters.empty();
    }
    for (InstanceElements& instance : instances_of(catalog_, set, path_)) {
      one.instance = std::move(instance.instance);
      one.parent = std::move(instance.parent);
      one.index = instance.index;
      append(one, counters, paths);
    }
    return !counters.empty();
  }

 private:
  [[nodiscard]] bool keeps(DWORD flag, const std::string& text) const noexcept {
    return (flags_ & flag) != 0 && has_wildcard(text);
  }

  static void append(PathElements& path, const std::vector<std::string>& counters,
                     std::vector<std::string>& paths) {
    for (const std::string& counter : counters) {
      path.counter = counter;
      // A name that would be read as something else has no path.
      if (auto text = print_elements(path)) paths.push_back(*std::move(text));
    }
  }

  const Catalog& catalog_;
  const PathElements& path_;
  const DWORD flags_;
  const std::string machine_;
};

}  // namespace

PDH_STATUS expand_path(const Catalog& catalog, const PathElements& path, DWORD flags,
                       std::vector<std::string>& paths) {
  std::vector<FoundSet> sets;
  if (has_wildcard(path.object)) {
    const Glob wanted(path.object);
    sets = all_sets(catalog);
    std::erase_if(sets, [&](const FoundSet& set) {
      const bool fits = has_instance_names(set->instances) == path.instance.has_value();
      return !fits || !wanted.matches(shown_name(*set));
    });
  } else if (FoundSet set = find_set(catalog, path.object)) {
    if (has_instance_names(set->instances) != path.instance.has_value()) return PDH_INVALID_PATH;
    sets.push_back(std::move(set));
  }
  if (sets.empty()) return PDH_CSTATUS_NO_OBJECT;
  const Expansion expansion(catalog, path, flags);
  bool has_counter = false;
  for (const FoundSet& set : sets) has_counter = expansion.add(*set, paths) || has_counter;
  return has_counter ? ERROR_SUCCESS : PDH_CSTATUS_NO_COUNTER;
}

}  // namespace meterbank::pdh
