// SPDX-License-Identifier: Apache-2.0
//
// Prints rules or the dashboard of sets that no manifest can describe, as a hostile provider does:
// control characters, bytes that are not UTF-8, line separators, templates and variables in every
// text.
//
// usage: hostile_sets rules|dashboard
#include <iostream>
#include <string>
#include <string_view>

#include "monitoring/dashboard/dashboard.hpp"
#include "monitoring/rules/rules.hpp"

namespace {

using meterbank::CounterType;
using meterbank::CounterView;
using meterbank::ValueForm;

// No text of a reader holds more than these.
constexpr std::string_view kTexts[] = {
    "plain",
    "\"quotes\" 'of' both `kinds` \\ and \\\\",
    "{{ template \"x\" }} {{- 1 -}} {{{ }}} {",
    "$labels $provider ${DATASOURCE} $__rate_interval [[provider]] [[[x]]]",
    "two\nlines\r\nand: # a comment\n- a list\n  expr: up",
    "\xff\xfe not UTF-8 \xc3",
    "\u0085\u2028\u2029\ufeff\u202e\U000e0001\ufffe",
    "\x01\x1b]0;title\x07\x7f\t",
    "*alias &anchor !tag %directive @at | > ? : -",
    "</script><img src=x onerror=alert(1)> |table| [link](javascript:1)",
};

meterbank::Counterset hostile_set(std::uint32_t number, std::string_view text) {
  meterbank::Counterset set;
  set.name = text;
  set.symbol = std::string(text) + std::to_string(number);
  set.help = text;
  set.label = text;
  set.instances = meterbank::InstanceKind::kMultiple;
  const auto add = [&](CounterType type, ValueForm form) {
    CounterView counter;
    counter.id = static_cast<std::uint32_t>(set.counters.size()) + 1;
    counter.word = counter.id - 1;
    counter.type = type;
    counter.form = form;
    counter.name = counter.unit = counter.help = text;
    counter.symbol = std::string(text) + std::to_string(counter.id);
    counter.aggregate = 1;
    set.counters.push_back(std::move(counter));
  };
  add(CounterType::kBulkCount, ValueForm::kUnsigned);
  add(CounterType::kLargeRawCount, ValueForm::kUnsigned);
  add(CounterType::kBulkCount, ValueForm::kDistribution);
  add(CounterType::kText, ValueForm::kText);
  return set;
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<meterbank::Counterset> sets;
  for (const std::string_view text : kTexts) {
    sets.push_back(hostile_set(static_cast<std::uint32_t>(sets.size()), text));
  }
  const auto monitored = meterbank::monitoring::monitored_sets(sets, {});
  const bool wants_rules = count == 2 && std::string_view(arguments[1]) == "rules";
  std::cout << (wants_rules ? meterbank::monitoring::prometheus_rules(monitored)
                            : meterbank::monitoring::grafana_dashboard(monitored));
  return 0;
}
