// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "generator/output/monitoring/described_set.hpp"
#include "generator/output/output.hpp"
#include "monitoring/dashboard/dashboard.hpp"
#include "monitoring/monitored_set.hpp"
#include "monitoring/rules/rules.hpp"

namespace meterbank::generator {
namespace {

Result<monitoring::MonitoredSets> monitored(const Manifest& manifest,
                                            const OutputOptions& options) {
  std::vector<meterbank::Counterset> sets;
  for (const Counterset& set : manifest.countersets) sets.push_back(described_set(manifest, set));
  exposition::MetricNames names;
  if (!options.metric_prefix.empty()) names.prefix = options.metric_prefix;
  const std::vector<Glob> wanted(options.sets.begin(), options.sets.end());
  monitoring::MonitoredSets chosen = monitoring::monitored_sets(sets, names, wanted);
  if (!chosen.empty()) return chosen;
  std::string symbols;
  for (const Counterset& set : manifest.countersets) {
    symbols.append(symbols.empty() ? "" : ", ").append(set.word);
  }
  return fail(ErrorCode::kInvalidArgument, "no counterset of the manifest has counters to show",
              "--set with one of " + symbols);
}

}  // namespace

Result<std::string> rules(const Manifest& manifest, const OutputOptions& options) {
  const auto sets = monitored(manifest, options);
  if (!sets) return tl::make_unexpected(sets.error());
  return monitoring::prometheus_rules(*sets);
}

Result<std::string> dashboard(const Manifest& manifest, const OutputOptions& options) {
  const auto sets = monitored(manifest, options);
  if (!sets) return tl::make_unexpected(sets.error());
  return monitoring::grafana_dashboard(*sets);
}

}  // namespace meterbank::generator
