// SPDX-License-Identifier: Apache-2.0
#include "monitoring/dashboard/variables.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "monitoring/promql.hpp"

namespace meterbank::monitoring {
namespace {

using Samples = std::vector<std::string>;

// Every series of these names, with `conditions` on their labels.
std::string series_of(const Samples& samples, std::string_view conditions) {
  if (samples.size() == 1) return fmt::format("{}{{{}}}", samples.front(), conditions);
  std::string names;
  for (const std::string& sample : samples) names.append(names.empty() ? "" : "|").append(sample);
  return fmt::format("{{__name__=~\"{}\"{}{}}}", names, conditions.empty() ? "" : ",", conditions);
}

// The values that `label` has. `all`: what stands for all of them; empty: the values themselves.
Json label_variable(const std::string& label, const Samples& samples, std::string_view conditions,
                    std::string_view all) {
  const std::string query =
      fmt::format("label_values({}, {})", series_of(samples, conditions), label);
  Json made = {
      {"name", label},
      {"type", "query"},
      {"label", label},
      {"datasource", chosen_data_source()},
      {"definition", query},
      {"query", {{"query", query}, {"refId", "PrometheusVariableQueryEditor-VariableQuery"}}},
      {"refresh", 2},
      {"regex", ""},
      {"sort", 1},
      {"hide", 0},
      {"multi", true},
      {"includeAll", true},
      {"options", Json::array()},
      {"current", {{"text", Json::array({"All"})}, {"value", Json::array({"$__all"})}}}};
  if (!all.empty()) made["allValue"] = all;
  return made;
}

Json data_source_variable() {
  return {{"name", kDataSource},
          {"type", "datasource"},
          {"label", "data source"},
          {"query", "prometheus"},
          {"refresh", 1},
          {"regex", ""},
          {"hide", 0},
          {"multi", false},
          {"includeAll", false},
          {"options", Json::array()}};
}

}  // namespace

Json variables_of(const MonitoredSets& sets) {
  Samples samples;
  std::map<std::string, Samples> by_label;
  for (const MonitoredSet* const set : sets.list()) {
    samples.push_back(sample_of(set->steadiest()));
    if (!set->instance_label.empty()) by_label[set->instance_label].push_back(samples.back());
  }
  Json list = Json::array({data_source_variable()});
  // "All" of these is a list of values, so that panels about providers show those of the sets.
  list.push_back(label_variable("instance", samples, {}, {}));
  list.push_back(label_variable("provider", samples, R"(instance=~"$instance")", {}));
  for (const auto& [label, labelled] : by_label) {
    list.push_back(
        label_variable(label, labelled, R"(instance=~"$instance",provider=~"$provider")", ".*"));
  }
  return list;
}

}  // namespace meterbank::monitoring
