// SPDX-License-Identifier: Apache-2.0
#include "total.hpp"

#include <algorithm>
#include <utility>

#include "../plan/match/pattern_match.hpp"
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

void Total::Sum::add(const Distribution& distribution) {
  auto whole = row.distribution == nullptr ? distribution : *row.distribution;
  if (row.distribution != nullptr) whole.add(distribution);
  row.distribution = std::make_shared<const Distribution>(std::move(whole));
}

void Total::add(const CookedRow& row) {
  auto sum = std::find_if(sums_.begin(), sums_.end(), [&row](const Sum& known) {
    return known.row.counter->id == row.counter->id;
  });
  if (sum == sums_.end()) {
    sums_.push_back({row});
    sum = sums_.end() - 1;
    sum->row.instance = &total_instance(*row.selection->set->set);
    sum->row.is_total = true;
    sum->row.has_namesake = false;
    sum->row.raw = {};
    sum->row.distribution = nullptr;
  }
  const CounterView& first = *sum->row.counter;
  if (first.type != row.counter->type || first.form != row.counter->form) {
    sum->row.cooked = {0, CookStatus::kTypeChanged};  // providers that do not agree
    sum->is_known = false;
  } else if (!holds_values(row.row_status)) {
    sum->row.row_status = row.row_status;
    sum->row.cooked = {0, CookStatus::kNoValue};
    sum->is_known = false;
  }
  if (!sum->is_known) {
    sum->row.distribution = nullptr;
    return;
  }
  // A first sample has no rate, and a distribution all the same.
  if (row.distribution != nullptr) sum->add(*row.distribution);
  if (row.cooked.status != CookStatus::kNotFinite) {
    sum->row.raw.value = sum->stored++ == 0
                             ? row.raw.value
                             : joined_in_form(first, sum->row.raw.value, row.raw.value);
  }
  if (has_value(row.cooked.status)) {
    const std::uint32_t aggregate = sum->row.counter->aggregate;
    const bool is_first = sum->values++ == 0;
    sum->row.cooked.value =
        is_first ? row.cooked.value : joined(aggregate, sum->row.cooked.value, row.cooked.value);
    const bool is_new = row.cooked.status == CookStatus::kNew ||
                        (!is_first && sum->row.cooked.status == CookStatus::kNew);
    sum->row.cooked.status = is_new ? CookStatus::kNew : CookStatus::kUnchanged;
  }
}

void Total::add(const QueryPlan::Ended& ended, bool of_interval) {
  for (Sum& sum : sums_) {
    const CounterView& counter = *sum.row.counter;
    const CounterView* const known = ended.set->find(counter.id);
    const bool is_same =
        known != nullptr && known->type == counter.type && known->form == counter.form;
    if (!is_same || !sum.is_known) continue;
    const auto index = static_cast<std::size_t>(known - ended.set->counters.data());
    const QueryPlan::Ended::Value& value = ended.values[index];
    if (value.count == 0) continue;
    if (value.distribution != nullptr && !of_interval) sum.add(*value.distribution);
    if (sum.stored == 0) continue;
    const bool is_rate = needs_two_samples(counter.type);
    if (is_rate && counter.aggregate != kAggregateSum) continue;
    sum.row.raw.value = joined_in_form(counter, sum.row.raw.value, value.raw);
    if (is_rate || sum.values == 0) continue;
    sum.row.cooked.value = joined(counter.aggregate, sum.row.cooked.value, value.cooked);
    sum.values += value.count;
    sum.stored += value.count;
  }
}

bool Total::give(RowSink take) const {
  for (const Sum& sum : sums_) {
    CookedRow row = sum.row;
    if (sum.is_known && row.counter->aggregate == kAggregateAverage) {
      if (sum.values != 0) row.cooked.value /= static_cast<double>(sum.values);
      if (sum.stored != 0) {
        row.raw.value = divided_in_form(*row.counter, row.raw.value, sum.stored);
      }
    }
    if (!take(row)) return false;
  }
  return true;
}

}  // namespace meterbank
