// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <set>
#include <string>

#include "cli/compat/output_file.hpp"
#include "cli/format/pdh_rows.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/output.hpp"
#include "cli/verbs.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/suggest.hpp"
#include "meterbank/shm/case_fold.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

// Logs name this machine where paths here name a publisher; "\\this-machine\Set\Counter" means all
// publishers.
std::string without_machine(const std::string& path) {
  if (!path.starts_with("\\\\")) return path;
  const auto end = path.find('\\', 2);
  if (end == std::string::npos) return path;
  const auto machine = std::string_view(path).substr(2, end - 2);
  const bool here = machine == "." || equal_folded(machine, machine_name());
  return here ? path.substr(end) : path;
}

// Each path once, in order; publishers of the same set have the same ones.
using PathSet = std::set<std::string, FoldedLess>;

void add_paths(const RegisteredSet& registered, bool with_instances, PathSet& paths) {
  const auto& set = *registered.set;
  for (const auto& counter : set.counters) {
    if (is_base(counter.type)) continue;
    const auto& name = counter.name.empty() ? counter.symbol : counter.name;
    const auto add = [&](std::string_view instance) {
      paths.insert(escape_for_terminal(fmt::format("\\{}{}\\{}", set.name, instance, name)));
    };
    if (set.instances == InstanceKind::kSingle) {
      add("");
    } else if (!with_instances) {
      add("(*)");
    } else {
      for (const auto& instance : registered.instances) {
        if (!instance.closed) add(fmt::format("({})", instance.name));
      }
    }
  }
}

int list_counters(const Invocation& invocation, Console& console) {
  const auto& wanted = invocation.typeperf;
  const auto catalog = Catalog::open({.directory = invocation.selection.directory});
  if (!catalog) {
    complain(console, catalog.error());
    return exit_code_of(catalog.error().code);
  }
  const auto& object = wanted.object;
  const Glob glob(object);
  NearestName nearest(object);
  PathSet paths;
  bool found = false;
  bool anything = false;
  for (const auto& provider : catalog->providers()) {
    for (const auto& registered : provider->sets) {
      if (registered.state != RegistrationState::kInserted) continue;
      anything = true;
      nearest.consider(registered.set->name);
      if (!glob.matches(registered.set->name) && !glob.matches(registered.set->symbol)) continue;
      found = true;
      add_paths(registered, wanted.with_instances, paths);
    }
  }
  if (!anything) return report_nobody(*catalog, console);
  if (!found) {
    complain(console, fmt::format("no object matches '{}'; try: {}", object,
                                  nearest.best().value_or("meterbank typeperf -q")));
    return kExitNo;
  }
  auto output = Output::open(console, invocation.output);
  if (!output) {
    complain(console, output.error());
    return exit_code_of(output.error().code);
  }
  for (const auto& path : paths) output->write(path + "\n");
  return output->finish(kExitDone);
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
  for (const auto& path : *paths) sampling.selection.paths.push_back(without_machine(path));
  return get(sampling, console);
}

}  // namespace meterbank::cli
