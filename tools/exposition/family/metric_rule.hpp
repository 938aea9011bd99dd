// SPDX-License-Identifier: Apache-2.0
//
// Rules of an administrator that replace names and help texts of metrics, or drop metrics.
#pragma once

#include <string>
#include <vector>

#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/glob.hpp"

namespace meterbank::exposition {

// Patterns match names and symbols. An empty text changes nothing.
struct MetricRule {
  Glob set{"*"}, counter{"*"};
  std::string name;   // instead of those of set and counter; prefix, unit and "_total" stay
  std::string help;   // instead of the counter's
  std::string label;  // name of the label for instances of the set
  bool drop = false;  // the counter is not served
};

// The rule for a counter, and the one that names the instances of a set: the first that matches.
// Null: none does.
[[nodiscard]] const MetricRule* find_rule(const std::vector<MetricRule>& rules,
                                          const Counterset& set, const CounterView& counter);
[[nodiscard]] const MetricRule* find_label_rule(const std::vector<MetricRule>& rules,
                                                const Counterset& set);

// How a page names things.
struct MetricNames {
  std::string prefix = "meterbank_";
  std::vector<MetricRule> rules;
};

}  // namespace meterbank::exposition
