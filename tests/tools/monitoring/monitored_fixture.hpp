// SPDX-License-Identifier: Apache-2.0
//
// Sets as a reader has them, made by hand.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "monitoring/monitored_set.hpp"

namespace meterbank::monitoring::test {

struct CounterText {
  std::string_view symbol;
  CounterType type = CounterType::kBulkCount;
  std::string_view unit = {};
  ValueForm form = ValueForm::kUnsigned;
};

// Counters have the ids 1, 2, ...; the last one is the base of those before it if it is a base.
inline Counterset set_of(std::string_view symbol, const std::vector<CounterText>& counters,
                         std::string_view label = {}) {
  Counterset set;
  set.name = set.symbol = symbol;
  set.label = label;
  set.guid = Guid::from_name("test", symbol);
  set.instances = label.empty() ? InstanceKind::kSingle : InstanceKind::kMultiple;
  for (const CounterText& text : counters) {
    CounterView counter;
    counter.word = static_cast<std::uint32_t>(set.counters.size());
    counter.id = counter.word + 1;
    counter.type = text.type;
    counter.form = text.form;
    counter.unit = text.unit;
    counter.name = counter.symbol = text.symbol;
    set.counters.push_back(std::move(counter));
  }
  const bool has_base = !set.counters.empty() && is_base(set.counters.back().type);
  for (CounterView& counter : set.counters) {
    if (has_base && !is_base(counter.type)) counter.base = set.counters.back().word;
  }
  return set;
}

inline MonitoredSets monitored(const std::vector<Counterset>& sets,
                               std::string_view prefix = "meterbank_") {
  return monitored_sets(sets, {std::string(prefix), {}});
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace meterbank::monitoring::test
