// SPDX-License-Identifier: Apache-2.0
//
// What a value is called.
#include "../plan/match/pattern_match.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/sample.hpp"

namespace meterbank {

bool Row::needs_provider() const noexcept {
  if (is_total) return is_apart;
  return !provider->trusted || is_called_total(set(), *instance);
}

std::string Row::instance_label() const {
  std::string label(instance->name);
  if (shares_name) label.append("#").append(std::to_string(instance->id));
  return label;
}

CounterPath Value::counter_path(PathSpelling spelling) const {
  const std::string& long_name = counter->name.empty() ? counter->symbol : counter->name;
  const bool is_short = spelling == PathSpelling::kShort;
  CounterPath path = path_of({{},
                              is_short ? word_of(set()) : set().name,
                              instance().name,
                              is_short ? word_of(*counter) : long_name},
                             spelling);
  if (row->shares_name) path.index = instance().id;
  if (row->has_namesake || row->needs_provider()) {
    path.provider = escape_glob(provider().name);
    path.provider_pid = provider().named_pid();
  }
  return path;
}

std::string Value::path() const { return print_path(counter_path(PathSpelling::kWindows)); }

std::string Value::short_path() const {
  CounterPath path = counter_path(PathSpelling::kShort);
  if (!row->needs_provider()) {
    path.provider.reset();
    path.provider_pid.reset();
  }
  return print_short(path);
}

}  // namespace meterbank
