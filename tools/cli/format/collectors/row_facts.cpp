// SPDX-License-Identifier: Apache-2.0
#include "cli/format/collectors/row_facts.hpp"

#include "cli/format/kinds.hpp"
#include "cli/format/rows/row_words.hpp"
#include "exposition/page/row_walk.hpp"

namespace meterbank::cli {

bool is_for_collectors(const Value& value, bool raw) noexcept {
  return exposition::is_shown(value.status()) && row_has_value(value, raw);
}

std::string counter_name(const CounterView& counter) {
  const bool counts = counter.form == ValueForm::kDistribution && counter.word != kNoCounter;
  return counts ? word_of(counter) + ".count" : word_of(counter);
}

std::string provider_name(const Row& row) {
  if (row.is_total && !row.needs_provider()) return {};
  return row.has_namesake ? row.provider->label() : row.provider->name;
}

bool is_stored_count(const CounterView& counter) noexcept {
  if (counter.form == ValueForm::kReal || counter.form == ValueForm::kText) return false;
  return needs_two_samples(counter.type) || counter.type == CounterType::kSampleBase ||
         counter.type == CounterType::kAverageBase;
}

}  // namespace meterbank::cli
