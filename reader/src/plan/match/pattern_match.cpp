// SPDX-License-Identifier: Apache-2.0
#include "pattern_match.hpp"

#include <algorithm>
#include <utility>

#include "meterbank/reader/sample.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank {
namespace {

Glob pattern(std::string_view text) { return Glob(text, {.backslash_escapes = true}); }

std::optional<Glob> pattern_if_any(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  return pattern(*text);
}

bool matches_either(const Glob& glob, const std::string& name, const std::string& symbol) noexcept {
  return (!name.empty() && glob.matches(name)) || (!symbol.empty() && glob.matches(symbol));
}

// f(index, instance) for each that is not closed.
template <typename F>
void for_each_live(const RegisteredSet& set, F&& f) {
  std::uint32_t first = 0;
  for (const auto& piece : set.instances.pieces()) {
    std::uint32_t index = first;
    for (const InstanceView& instance : piece->instances) {
      if (!instance.closed) f(index, instance);
      ++index;
    }
    first += InstancePiece::kSlots;
  }
}

}  // namespace

bool is_hidden(const CounterView& counter) noexcept {
  const bool has_value = width_of(counter.type) != 0 || counter.form == ValueForm::kText;
  return is_base(counter.type) || !has_value;
}

const std::string& word_of(const Counterset& set) noexcept {
  return set.symbol.empty() ? set.name : set.symbol;
}

const std::string& word_of(const CounterView& counter) noexcept {
  return counter.symbol.empty() ? counter.name : counter.symbol;
}

PatternMatch::PatternMatch(CounterPath path)
    : path_(std::move(path)),
      set_(pattern(path_.set)),
      provider_(pattern_if_any(path_.provider)),
      instance_(pattern_if_any(path_.whole_instance())),
      counter_(pattern_if_any(path_.counter)) {
  if (instance_ && path_.index && *path_.index != kAnyInstanceIndex) {
    instance_with_hash_ = pattern(*path_.whole_instance() + "#" + std::to_string(*path_.index));
  }
}

bool PatternMatch::matches(const ProviderView& provider) const noexcept {
  if (path_.provider_pid && *path_.provider_pid != provider.named_pid()) return false;
  return !provider_ || provider_->matches(provider.name);
}

bool PatternMatch::matches(const Counterset& set) const noexcept {
  return matches_either(set_, set.name, set.symbol);
}

std::vector<std::uint32_t> PatternMatch::counters_of(const Counterset& set) const {
  std::vector<std::uint32_t> found;
  const bool by_name = counter_ && counter_->is_literal();
  for (std::uint32_t index = 0; index < set.counters.size(); ++index) {
    const CounterView& counter = set.counters[index];
    if (!by_name && is_hidden(counter)) continue;
    if (!counter_ || matches_either(*counter_, counter.name, counter.symbol))
      found.push_back(index);
  }
  return found;
}

bool PatternMatch::wants_total(const RegisteredSet& set) const noexcept {
  if (is_shared(set.set->instances)) return !names_provider();
  if (set.set->instances != InstanceKind::kMultipleAggregate) return false;
  return !instance_ || (!path_.index && instance_->matches(kTotalName));
}

std::vector<std::uint32_t> live_instances(const RegisteredSet& set) {
  std::vector<std::uint32_t> live;
  live.reserve(set.instances.size());
  for_each_live(set, [&live](std::uint32_t index, const InstanceView&) { live.push_back(index); });
  return live;
}

std::vector<std::uint32_t> summed_instances(const RegisteredSet& set) {
  std::vector<std::uint32_t> summed = live_instances(set);
  std::erase_if(summed, [&set](std::uint32_t index) {
    return is_called_total(*set.set, set.instances[index]);
  });
  return summed;
}

void sort_by_id(const RegisteredSet& set, std::vector<std::uint32_t>& instances) {
  std::stable_sort(instances.begin(), instances.end(), [&set](auto left, auto right) {
    return set.instances[left].id < set.instances[right].id;
  });
}

std::vector<std::uint32_t> PatternMatch::named(const RegisteredSet& set, const Glob& name) const {
  if (name.matches_everything()) return live_instances(set);
  std::vector<std::uint32_t> found;
  for_each_live(set, [&](std::uint32_t index, const InstanceView& instance) {
    if (name.matches(instance.name)) found.push_back(index);
  });
  return found;
}

bool PatternMatch::chooses_one_by_one() const noexcept {
  const bool is_one_name = instance_ && instance_->is_literal() && !path_.index;
  return !is_one_name && !has_number();
}

std::vector<std::uint32_t> PatternMatch::instances_of(const RegisteredSet& set) const {
  if (!instance_) return live_instances(set);
  auto found = named(set, *instance_);
  const bool is_one_name = instance_->is_literal() && !path_.index;
  if (!is_one_name || found.size() < 2) return found;
  sort_by_id(set, found);
  return {found.front()};
}

std::vector<std::uint32_t> PatternMatch::instances_with_hash(const RegisteredSet& set) const {
  return named(set, *instance_with_hash_);
}

}  // namespace meterbank
