// SPDX-License-Identifier: Apache-2.0
#include "total.hpp"

#include <algorithm>

#include "value_form.hpp"

namespace meterbank {
namespace {

// The instances that totals are of; they live as long as the program.
const InstanceView& total_instance(const Counterset& set) {
  static constexpr InstanceView kNamed{.name = kTotalName, .id = kTotalInstanceId};
  static constexpr InstanceView kNameless{.id = kTotalInstanceId};
  return is_shared(set.instances) ? kNameless : kNamed;
}

}  // namespace

void Total::Sum::begin(const Value& first) {
  row = *first.row;
  row.instance = &total_instance(first.set());
  row.is_total = true;
  row.has_namesake = row.shares_name = false;
  value = first;
  value.raw = {};
  value.distribution = nullptr;
  if (first.text) text.assign(*first.text);
  has_distribution = false;
  values = stored = 0;
  is_known = true;
}

void Total::Sum::add(const Distribution& more) {
  if (has_distribution) {
    distribution.add(more);
  } else {
    distribution = more;
    has_distribution = true;
  }
}

void Total::add(const Value& value) {
  const auto end = sums_.begin() + static_cast<std::ptrdiff_t>(used_);
  auto sum = std::find_if(sums_.begin(), end, [&value](const Sum& known) {
    return known.value.counter->id == value.counter->id;
  });
  if (sum == end) {
    if (used_ == sums_.size()) sums_.emplace_back();
    sum = sums_.begin() + static_cast<std::ptrdiff_t>(used_++);
    sum->begin(value);
  }
  const CounterView& first = *sum->value.counter;
  if (first.type != value.counter->type || first.form != value.counter->form) {
    sum->value.cooked = {0, CookStatus::kTypeChanged};  // providers that do not agree
    sum->is_known = false;
  } else if (!holds_values(value.status())) {
    sum->row.status = value.status();
    sum->value.cooked = {0, CookStatus::kNoValue};
    sum->is_known = false;
  }
  if (!sum->is_known) {
    sum->has_distribution = false;
    return;
  }
  // A first sample has no rate, and a distribution all the same.
  if (value.distribution != nullptr) sum->add(*value.distribution);
  if (value.cooked.status != CookStatus::kNotFinite) {
    sum->value.raw.value =
        sum->stored++ == 0
            ? value.raw.value
            : joined_in_form(first.form, first.aggregate, sum->value.raw.value, value.raw.value);
  }
  if (has_value(value.cooked.status)) {
    const std::uint32_t aggregate = sum->value.counter->aggregate;
    const bool is_first = sum->values++ == 0;
    sum->value.cooked.value = is_first
                                  ? value.cooked.value
                                  : joined(aggregate, sum->value.cooked.value, value.cooked.value);
    const bool is_new = value.cooked.status == CookStatus::kNew ||
                        (!is_first && sum->value.cooked.status == CookStatus::kNew);
    sum->value.cooked.status = is_new ? CookStatus::kNew : CookStatus::kUnchanged;
  }
}

void Total::add(const EndedValues& ended, bool of_interval) {
  for (std::size_t at = 0; at < used_; ++at) {
    Sum& sum = sums_[at];
    const CounterView& counter = *sum.value.counter;
    const CounterView* const known = ended.set->find(counter.id);
    const bool is_same =
        known != nullptr && known->type == counter.type && known->form == counter.form;
    if (!is_same || !sum.is_known) continue;
    const auto index = static_cast<std::size_t>(known - ended.set->counters.data());
    const EndedValues::Value& value = ended.values[index];
    if (value.count == 0) continue;
    if (value.distribution != nullptr && !of_interval) sum.add(*value.distribution);
    if (sum.stored == 0) continue;
    const bool is_rate = needs_two_samples(counter.type);
    if (is_rate && counter.aggregate != kAggregateSum) continue;
    sum.value.raw.value =
        joined_in_form(counter.form, counter.aggregate, sum.value.raw.value, value.raw);
    if (is_rate || sum.values == 0) continue;
    sum.value.cooked.value = joined(counter.aggregate, sum.value.cooked.value, value.cooked);
    sum.values += value.count;
    sum.stored += value.count;
  }
}

void Total::give(std::size_t index, Value& value) const {
  const Sum& sum = sums_[index];
  value = sum.value;
  value.row = &sum.row;
  if (value.text) value.text = sum.text;
  if (sum.has_distribution) value.distribution = &sum.distribution;
  if (!sum.is_known || value.counter->aggregate != kAggregateAverage) return;
  if (sum.values != 0) value.cooked.value /= static_cast<double>(sum.values);
  if (sum.stored != 0) {
    value.raw.value = divided_in_form(*value.counter, value.raw.value, sum.stored);
  }
}

}  // namespace meterbank
