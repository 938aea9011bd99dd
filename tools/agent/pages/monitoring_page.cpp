// SPDX-License-Identifier: Apache-2.0
#include "agent/pages/monitoring_page.hpp"

#include <algorithm>
#include <vector>

#include "monitoring/dashboard/dashboard.hpp"
#include "monitoring/monitored_set.hpp"
#include "monitoring/rules/rules.hpp"

namespace meterbank::agent {
namespace {

using exposition::PageLayout;
using exposition::PageOptions;

monitoring::MonitoredSets selected_sets(const PageLayout& layout, const PageOptions& options) {
  std::vector<bool> is_selected;
  is_selected.reserve(layout.blocks.size());
  for (const exposition::RowBlock& block : layout.blocks) is_selected.push_back(options.has(block));
  monitoring::MonitoredSets sets(layout.prefix);
  for (const exposition::PageFamily& family : layout.families) {
    const auto part = std::find_if(
        family.parts.begin(), family.parts.end(),
        [&](const exposition::FamilyPart& candidate) { return is_selected[candidate.block]; });
    if (part == family.parts.end()) continue;
    const exposition::RowBlock& block = layout.blocks[part->block];
    sets.add(*block.set, block.instance_label, family, *part->counter);
  }
  return sets;
}

}  // namespace

std::string rules_page(const PageLayout& layout, const PageOptions& options) {
  const monitoring::MonitoredSets sets = selected_sets(layout, options);
  return sets.empty() ? std::string() : monitoring::prometheus_rules(sets);
}

std::string dashboard_page(const PageLayout& layout, const PageOptions& options) {
  const monitoring::MonitoredSets sets = selected_sets(layout, options);
  return sets.empty() ? std::string() : monitoring::grafana_dashboard(sets);
}

}  // namespace meterbank::agent
