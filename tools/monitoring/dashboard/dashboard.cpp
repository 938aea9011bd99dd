// SPDX-License-Identifier: Apache-2.0
#include "monitoring/dashboard/dashboard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "meterbank/base/fnv1a.hpp"
#include "monitoring/dashboard/panels.hpp"
#include "monitoring/dashboard/set_panels.hpp"
#include "monitoring/dashboard/variables.hpp"
#include "monitoring/safe_text.hpp"

namespace meterbank::monitoring {
namespace {

// Of Grafana 10.3; newer ones take it, and older ones show what they know.
constexpr int kSchemaVersion = 39;
constexpr int kIndent = 2;

// Names what the dashboard is about, whatever its counters are: a later dashboard of the same sets
// takes the place of this one.
std::string uid_of(const MonitoredSets& sets) {
  std::string names = sets.prefix();
  for (const MonitoredSet* const set : sets.list()) names.append("\n").append(set->key);
  Fnv1a hash;
  hash.add(std::as_bytes(std::span(names)));
  return fmt::format("meterbank-{:016x}", hash.value());
}

std::string title_of(const std::vector<const MonitoredSet*>& sets) {
  constexpr std::size_t kNamed = 3;
  std::string title;
  for (std::size_t index = 0; index < std::min(sets.size(), kNamed); ++index) {
    title.append(title.empty() ? "" : ", ").append(sets[index]->name);
  }
  if (sets.size() > kNamed) title += fmt::format(" and {} more", sets.size() - kNamed);
  return title.empty() ? "meterbank" : title;
}

}  // namespace

std::string grafana_dashboard(const MonitoredSets& sets) {
  const std::vector<const MonitoredSet*> list = sets.list();
  PanelGrid grid;
  add_provider_panels(sets.prefix(), grid);
  for (const MonitoredSet* const set : list) add_set_panels(*set, grid);
  const std::string help = list.size() == 1 ? list.front()->help : std::string();
  const Json dashboard = {{"uid", uid_of(sets)},
                          {"title", grafana_text(title_of(list))},
                          {"description", grafana_text(help)},
                          {"tags", Json::array({"meterbank"})},
                          {"schemaVersion", kSchemaVersion},
                          {"version", 1},
                          {"editable", true},
                          {"graphTooltip", 1},
                          {"timezone", "browser"},
                          {"refresh", "30s"},
                          {"time", {{"from", "now-1h"}, {"to", "now"}}},
                          {"annotations", {{"list", Json::array()}}},
                          {"links", Json::array()},
                          {"templating", {{"list", variables_of(sets)}}},
                          {"panels", grid.take()}};
  // ASCII, since a terminal or an editor may obey other characters of foreign text.
  return dashboard.dump(kIndent, ' ', true) + "\n";
}

}  // namespace meterbank::monitoring
