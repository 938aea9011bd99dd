// SPDX-License-Identifier: Apache-2.0
#include "generator/output/monitoring/described_set.hpp"

#include <vector>

namespace meterbank::generator {
namespace {

// The word of the counter with this id. A checked manifest has it.
std::uint32_t word_of(const std::vector<CounterSpec>& counters, std::uint32_t id) {
  for (std::uint32_t word = 0; id != kNoCounter && word < counters.size(); ++word) {
    if (counters[word].id == id) return word;
  }
  return kNoCounter;
}

CounterView view_of(const std::vector<CounterSpec>& counters, std::uint32_t word) {
  const CounterSpec& spec = counters[word];
  CounterView view;
  view.id = spec.id;
  view.word = word;
  view.type = spec.type;
  view.attributes = spec.attributes;
  view.scale = spec.scale;
  view.detail = spec.detail;
  view.base = word_of(counters, spec.base);
  view.time = word_of(counters, spec.time);
  view.frequency = word_of(counters, spec.frequency);
  view.multi = word_of(counters, spec.multi);
  view.aggregate = spec.aggregate;
  view.form = spec.form;
  view.name = spec.name;
  view.symbol = spec.symbol;
  view.unit = spec.unit;
  view.help = spec.help;
  return view;
}

}  // namespace

meterbank::Counterset described_set(const Manifest& manifest, const Counterset& set) {
  std::vector<CounterSpec> counters;
  const CountersetSpec spec = spec_of(manifest, set, counters);
  meterbank::Counterset described;
  described.guid = spec.guid;
  described.provider_guid = spec.provider_guid;
  described.name = spec.name;
  described.symbol = spec.symbol;
  described.help = spec.help;
  described.label = spec.label;
  described.instances = spec.instances;
  described.identity = spec.identity;
  described.consistency = spec.consistency;
  for (std::uint32_t word = 0; word < counters.size(); ++word) {
    described.counters.push_back(view_of(counters, word));
  }
  return described;
}

}  // namespace meterbank::generator
