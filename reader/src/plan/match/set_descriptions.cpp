// SPDX-License-Identifier: Apache-2.0
#include "set_descriptions.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include "meterbank/reader/sample.hpp"

namespace meterbank {
namespace {

// What a value means; its name is for people.
auto meaning_of(const CounterView& counter) noexcept {
  return std::tuple(counter.type, counter.form, counter.aggregate, counter.scale,
                    std::string_view(counter.unit));
}

bool has_lower_id(const CounterView* left, const CounterView* right) noexcept {
  return left->id < right->id;
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

const CounterView* AgreedSet::find(std::uint32_t id) {
  if (by_id_.empty()) {
    by_id_.reserve(first_->counters.size());
    for (const CounterView& counter : first_->counters) by_id_.push_back(&counter);
    std::sort(by_id_.begin(), by_id_.end(), has_lower_id);
  }
  const auto place = std::lower_bound(
      by_id_.begin(), by_id_.end(), id,
      [](const CounterView* counter, std::uint32_t wanted) { return counter->id < wanted; });
  return place == by_id_.end() || (*place)->id != id ? nullptr : *place;
}

bool AgreedSet::agrees(const Counterset& set) {
  return set.instances == first_->instances &&
         std::all_of(set.counters.begin(), set.counters.end(), [this](const CounterView& counter) {
           const CounterView* const known = find(counter.id);
           return known == nullptr || meaning_of(*known) == meaning_of(counter);
         });
}

void AgreedSet::add(const Counterset& set) {
  std::vector<const CounterView*> more;
  for (const CounterView& counter : set.counters) {
    if (find(counter.id) == nullptr) more.push_back(&counter);
  }
  std::sort(more.begin(), more.end(), has_lower_id);
  const auto middle = static_cast<std::ptrdiff_t>(by_id_.size());
  by_id_.insert(by_id_.end(), more.begin(), more.end());
  std::inplace_merge(by_id_.begin(), by_id_.begin() + middle, by_id_.end(), has_lower_id);
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
  return &left == &right || (left.guid == right.guid && AgreedSet(left).agrees(right));
}

bool is_called_total(const Counterset& set, const InstanceView& instance) noexcept {
  return is_aggregate(set.instances) && has_instance_names(set.instances) &&
         equal_folded(instance.name, kTotalName);
}

}  // namespace meterbank
