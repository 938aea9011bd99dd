// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "generator/output/monitoring/described_set.hpp"
#include "generator/output/output.hpp"
#include "monitoring/dashboard/dashboard.hpp"
#include "monitoring/monitored_set.hpp"
#include "monitoring/rules/rules.hpp"

namespace meterbank::generator {
namespace {

monitoring::MonitoredSets monitored(const Manifest& manifest) {
  std::vector<meterbank::Counterset> sets;
  for (const Counterset& set : manifest.countersets) sets.push_back(described_set(manifest, set));
  return monitoring::monitored_sets(sets, {});
}

}  // namespace

Result<std::string> rules(const Manifest& manifest, const OutputOptions& /*options*/) {
  return monitoring::prometheus_rules(monitored(manifest));
}

Result<std::string> dashboard(const Manifest& manifest, const OutputOptions& /*options*/) {
  return monitoring::grafana_dashboard(monitored(manifest));
}

}  // namespace meterbank::generator
