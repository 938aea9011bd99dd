// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/compat/output_file.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/log_selection.hpp"
#include "cli/session/output.hpp"
#include "cli/verbs.hpp"
#include "meterbank/base/machine_name.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/query.hpp"
#include "meterbank/reader/suggest.hpp"
#include "meterbank/shm/case_fold.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

// The machines of the recording that is read; none if it cannot be opened, which get() reports.
std::vector<std::string> machines_of(const LogOptions& log) {
  if (log.path.empty()) return {};
  const auto opened = recording::Recording::open(log.path);
  if (!opened) return {};
  std::vector<std::string> machines;
  constexpr std::string_view kBetween = ", ";  // as log merge writes them
  const std::string all = recorded_host(*opened);
  for (std::size_t begin = 0; begin < all.size();) {
    const auto end = std::min(all.find(kBetween, begin), all.size());
    machines.push_back(all.substr(begin, end - begin));
    begin = end + kBetween.size();
  }
  return machines;
}

// Paths as logs name them. These have the machine where paths here have a provider:
// "\\machine\Set\Counter" means all providers of that machine.
class PathsOfMachines {
 public:
  explicit PathsOfMachines(std::vector<std::string> recorded) : recorded_(std::move(recorded)) {}

  void add(const std::string& path) {
    const bool may_have_one = path.starts_with("\\\\");
    const auto end = may_have_one ? path.find('\\', 2) : std::string::npos;
    if (end == std::string::npos || end == 2) return keep(path);
    const auto machine = path.substr(2, end - 2);
    const auto found = std::ranges::find_if(
        recorded_, [&](const std::string& one) { return equal_folded(one, machine); });
    if (found != recorded_.end()) {
      named_[path.substr(end)].insert(*found);
      keep(path.substr(end));
    } else {
      keep(names_this_machine(machine) ? path.substr(end) : path);
    }
  }

  [[nodiscard]] const std::vector<std::string>& paths() const noexcept { return paths_; }
  // The only one of several machines that is meant; empty: all are.
  [[nodiscard]] Result<std::string> machine() const {
    if (recorded_.size() < 2 || named_.empty()) return std::string();
    const auto& first = named_.begin()->second;
    const auto is_as_first = [&first](const auto& path) { return path.second == first; };
    if (named_.size() == paths_.size() && std::ranges::all_of(named_, is_as_first)) {
      if (first.size() == recorded_.size()) return std::string();
      if (first.size() == 1) return *first.begin();
    }
    return usage("paths that are not the same for all machines of the recording",
                 "those of one machine, or paths without a machine");
  }

 private:
  void keep(std::string path) {
    if (std::ranges::find(paths_, path) == paths_.end()) paths_.push_back(std::move(path));
  }

  std::vector<std::string> recorded_, paths_;
  std::map<std::string, std::set<std::string>> named_;  // machines by path
};

// Each path once, in order; providers of the same set have the same ones.
using PathSet = std::set<std::string, FoldedLess>;

// Paths of a set whatever instances it has.
void add_paths(const Counterset& set, PathSet& paths) {
  const std::string_view instance = has_instance_names(set.instances) ? "(*)" : "";
  for (const auto& counter : set.counters) {
    if (is_base(counter.type)) continue;
    const auto& name = counter.name.empty() ? counter.symbol : counter.name;
    paths.insert(escape_for_terminal(fmt::format("\\{}{}\\{}", set.name, instance, name)));
  }
}

// The pattern of a set, whatever its name looks like in a path.
std::string pattern_of(const Counterset& set) {
  CounterPath path;
  path.set = escape_glob(set.name);
  return print_short(path);
}

int list_counters(const Invocation& invocation, Console& console) {
  const auto& wanted = invocation.typeperf;
  Waiter waiter(invocation.timeout);
  auto options = invocation.selection;
  options.paths.clear();
  const auto selection = Selection::open(options, waiter);
  if (!selection) return explain_failure(selection.error(), waiter, console);
  const Catalog* const catalog = &selection->catalog();
  const auto& object = wanted.object;
  const Glob glob(object);
  NearestName nearest(object);
  PathSet paths;
  std::set<std::string> expanded;  // sets to list with their instances
  bool found = false;
  bool anything = false;
  int code = kExitDone;
  for (const auto& provider : catalog->providers()) {
    for (const auto& registered : provider->sets) {
      if (!is_readable(*provider, registered)) continue;
      anything = true;
      nearest.consider(registered.set->name);
      if (!glob.matches(registered.set->name) && !glob.matches(registered.set->symbol)) continue;
      found = true;
      if (wanted.with_instances && has_instance_names(registered.set->instances)) {
        expanded.insert(pattern_of(*registered.set));
      } else {
        add_paths(*registered.set, paths);
      }
    }
  }
  if (!anything) return report_no_provider(*catalog, console);
  if (!found) {
    complain(console, fmt::format("no object matches '{}'; try: {}", object,
                                  nearest.best().value_or("meterbank typeperf -q")));
    return kExitNo;
  }
  if (!expanded.empty()) {
    auto query = Query::compile(*catalog, {expanded.begin(), expanded.end()});
    if (!query) {
      complain(console, query.error());
      return exit_code_of(query.error().code);
    }
    if (query->asks()) {
      query->enumerate(invocation.selection.callback_timeout);
      std::set<std::string> said;
      code = report_answers(query->answers(), console, said);
    }
    // `_Total` and namesakes included.
    for (const auto& path : query->expanded(PathSpelling::kWindows)) {
      paths.insert(escape_for_terminal(path));
    }
  }
  auto output = Output::open(console, invocation.output);
  if (!output) {
    complain(console, output.error());
    return exit_code_of(output.error().code);
  }
  for (const auto& path : paths) output->write(path + "\n");
  return output->finish(code);
}

}  // namespace

int typeperf(const Invocation& invocation, Console& console) {
  if (const int answer = ask_to_replace(invocation, console); answer != kExitDone) return answer;
  if (invocation.typeperf.lists) return list_counters(invocation, console);
  auto paths = gather_paths(invocation.selection);
  if (!paths) {
    complain(console, paths.error());
    return exit_code_of(paths.error().code);
  }
  auto sampling = invocation;
  sampling.selection.paths_from.clear();
  sampling.selection.paths.clear();
  PathsOfMachines of_machines(machines_of(sampling.selection.log));
  for (const auto& path : *paths) of_machines.add(path);
  sampling.selection.paths = of_machines.paths();
  const auto machine = of_machines.machine();
  if (!machine) {
    complain(console, machine.error());
    return exit_code_of(machine.error().code);
  }
  if (!machine->empty()) {
    sampling.selection.where.push_back(*LabelPattern::parse("host=" + escape_glob(*machine)));
    sampling.selection.outside_labels = true;
  }
  sampling.selection.log.mean_all_by_default();
  return get(sampling, console);
}

}  // namespace meterbank::cli
