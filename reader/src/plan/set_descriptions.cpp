// SPDX-License-Identifier: Apache-2.0
#include "set_descriptions.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "meterbank/reader/query.hpp"

namespace meterbank {
namespace {

// What a value means; its name is for people.
auto meaning_of(const CounterView& counter) noexcept {
  return std::tuple(counter.type, counter.form, counter.aggregate, counter.scale,
                    std::string_view(counter.unit));
}

// Equal for sets with the same counters.
std::string fingerprint(const Counterset& set) {
  std::vector<std::string> counters;
  for (const CounterView& counter : set.counters) {
    const auto [type, form, aggregate, scale, unit] = meaning_of(counter);
    std::string text;
    for (const std::int64_t part :
         {std::int64_t{counter.id}, static_cast<std::int64_t>(type),
          static_cast<std::int64_t>(form), std::int64_t{aggregate}, std::int64_t{scale}}) {
      text += std::to_string(part) + ' ';
    }
    counters.push_back(text.append(unit));
  }
  std::sort(counters.begin(), counters.end());
  std::string all = std::to_string(static_cast<std::uint32_t>(set.instances));
  for (const std::string& counter : counters) {
    all += ' ' + std::to_string(counter.size()) + ' ' + counter;
  }
  return all;
}

}  // namespace

bool SetDescription::agrees(const Counterset& set) const {
  return set.instances == kind_ &&
         std::all_of(set.counters.begin(), set.counters.end(), [this](const CounterView& counter) {
           const auto known = counters_.find(counter.id);
           return known == counters_.end() || meaning_of(*known->second) == meaning_of(counter);
         });
}

void SetDescription::add(const Counterset& set) {
  for (const CounterView& counter : set.counters) counters_.emplace(counter.id, &counter);
}

std::uint32_t SetDescriptions::number_of(const ProviderView& provider, const Counterset& set) {
  Set& known = sets_[set.guid];
  if (!known.first) {
    known.first.emplace(set);
    return known.first_number = numbers_++;
  }
  if (known.first->agrees(set)) {
    known.first->add(set);
    return known.first_number;
  }
  const auto [apart, is_new] =
      known.apart.emplace(provider.trusted ? fingerprint(set) : std::string(), numbers_);
  if (is_new) ++numbers_;
  return apart->second;
}

SetDescriptions::Place SetDescriptions::place_of(const ProviderView& provider,
                                                 const Counterset& set) {
  const std::uint32_t number = number_of(provider, set);
  return {number, by_name_.emplace(set.name, number).first->second != number};
}

bool agree(const Counterset& left, const Counterset& right) {
  return &left == &right || (left.guid == right.guid && SetDescription(left).agrees(right));
}

bool is_called_total(const Counterset& set, const InstanceView& instance) noexcept {
  return is_aggregate(set.instances) && has_instance_names(set.instances) &&
         equal_folded(instance.name, kTotalName);
}

}  // namespace meterbank
