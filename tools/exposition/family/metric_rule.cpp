// SPDX-License-Identifier: Apache-2.0
#include "exposition/family/metric_rule.hpp"

#include <algorithm>

namespace meterbank::exposition {
namespace {

bool matches(const Glob& pattern, const std::string& name, const std::string& symbol) {
  return pattern.matches(symbol) || pattern.matches(name);
}

template <typename Predicate>
const MetricRule* find_first(const std::vector<MetricRule>& rules, Predicate is_meant) {
  const auto found = std::find_if(rules.begin(), rules.end(), is_meant);
  return found == rules.end() ? nullptr : &*found;
}

}  // namespace

const MetricRule* find_rule(const std::vector<MetricRule>& rules, const Counterset& set,
                            const CounterView& counter) {
  return find_first(rules, [&](const MetricRule& rule) {
    return matches(rule.set, set.name, set.symbol) &&
           matches(rule.counter, counter.name, counter.symbol);
  });
}

const MetricRule* find_label_rule(const std::vector<MetricRule>& rules, const Counterset& set) {
  return find_first(rules, [&](const MetricRule& rule) {
    return !rule.label.empty() && matches(rule.set, set.name, set.symbol);
  });
}

}  // namespace meterbank::exposition
