// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>
#include <string>

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

// Logs name the machine where paths here name a provider; "\\machine\Set\Counter" means all
// providers. `recorded`: the machine of the recording that is read.
std::string without_machine(const std::string& path, const std::string& recorded) {
  if (!path.starts_with("\\\\")) return path;
  const auto end = path.find('\\', 2);
  if (end == std::string::npos || end == 2) return path;
  const auto machine = std::string_view(path).substr(2, end - 2);
  const bool is_meant = names_this_machine(machine) || equal_folded(machine, recorded);
  return is_meant ? path.substr(end) : path;
}

std::string machine_of(const LogOptions& log) {
  if (log.path.empty()) return {};
  // Where it cannot be read, get() says so.
  const auto opened = recording::Recording::open(log.path);
  return opened ? recorded_host(*opened) : std::string();
}

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
  const std::string recorded = machine_of(sampling.selection.log);
  for (const auto& path : *paths) {
    sampling.selection.paths.push_back(without_machine(path, recorded));
  }
  sampling.selection.log.mean_all_by_default();
  return get(sampling, console);
}

}  // namespace meterbank::cli
