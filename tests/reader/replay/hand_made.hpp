// SPDX-License-Identifier: Apache-2.0
//
// Providers and sets of a recording that no live provider was there for.
#pragma once

#include <memory>
#include <string>

#include "meterbank/reader/replay.hpp"

namespace meterbank::test {

inline constexpr std::uint32_t kSegment = 1000;

inline ReplayedProvider provider_called(const std::string& name, std::uint64_t number = 0) {
  ReplayedProvider facts;
  facts.name = name;
  facts.pid = 42;
  facts.uid = 1000;
  facts.segment_id = {kSegment + number, 0};
  facts.record = "/run/meterbank/" + name + ".provider";
  return facts;
}

// Instances with two counters, "count" and "depth".
inline Counterset two_counters(const std::string& name = "queues") {
  Counterset set;
  set.guid.part1 = static_cast<std::uint32_t>(std::hash<std::string>{}(name));
  set.name = set.symbol = name;
  set.instances = InstanceKind::kMultiple;
  set.form.words = 2;
  set.counters.resize(2);
  set.counters[0].id = 1;
  set.counters[0].type = CounterType::kBulkCount;
  set.counters[0].name = set.counters[0].symbol = "count";
  set.counters[0].more = 2;
  set.counters[1].id = 2;
  set.counters[1].word = 1;
  set.counters[1].type = CounterType::kLargeRawCount;
  set.counters[1].name = set.counters[1].symbol = "depth";
  set.counters[1].more = 2;
  return set;
}

inline ReplayedSet registered(Counterset set, Ref registration = 1) {
  ReplayedSet facts;
  facts.set = std::make_shared<const Counterset>(std::move(set));
  facts.generation = 1;
  facts.registration = registration;
  return facts;
}

}  // namespace meterbank::test
