// SPDX-License-Identifier: Apache-2.0
#include "ended_values.hpp"

#include <algorithm>
#include <set>

#include "../cook/raw_value.hpp"
#include "meterbank/reader/cook.hpp"

namespace meterbank {
namespace {

bool is_ended(const QueryParts::Registered& registered, const QueryParts& now) {
  if (registered.set->set->instances != InstanceKind::kGlobalAggregateHistory) return false;
  return std::none_of(now.registered.begin(), now.registered.end(), [&](const auto& other) {
    return other.provider->segment == registered.provider->segment &&
           other.set->registration == registered.set->registration &&
           other.set->generation == registered.set->generation;
  });
}

QueryPlan::Ended& entry_of(std::vector<QueryPlan::Ended>& all,
                           const std::shared_ptr<const Counterset>& set) {
  const auto known = std::find_if(all.begin(), all.end(),
                                  [&](const auto& ended) { return ended.set->guid == set->guid; });
  if (known != all.end()) return *known;
  all.push_back({set, std::vector<QueryPlan::Ended::Value>(set->counters.size())});
  return all.back();
}

void fold(const RegisteredSet& registered, const Sample& last, std::size_t row,
          QueryPlan::Ended& ended) {
  for (std::size_t index = 0; index < ended.set->counters.size(); ++index) {
    const CounterView& known = ended.set->counters[index];
    const CounterView* const counter = registered.set->find(known.id);
    if (counter == nullptr || counter->type != known.type) continue;
    const RawValue raw = raw_of(last, row, *registered.set, *counter);
    const CookedValue cooked = cook(counter->type, nullptr, raw);
    QueryPlan::Ended::Value& value = ended.values[index];
    const bool is_first = value.count++ == 0;
    value.raw = is_first ? raw.value : joined(known.aggregate, value.raw, raw.value);
    value.cooked = is_first ? cooked.value : joined(known.aggregate, value.cooked, cooked.value);
  }
}

}  // namespace

bool has_ended(const QueryParts& before, const QueryParts& now) {
  return std::any_of(before.registered.begin(), before.registered.end(),
                     [&now](const auto& registered) { return is_ended(registered, now); });
}

std::vector<QueryPlan::Ended> folded(std::vector<QueryPlan::Ended> so_far, const QueryParts& before,
                                     const QueryParts& now, const Sample& last) {
  for (const auto& registered : before.registered) {
    if (!is_ended(registered, now)) continue;
    // One that is selected twice, as itself and as a share, counts once.
    std::set<std::uint32_t> seen;
    for (std::size_t row = 0; row < last.plan->rows.size(); ++row) {
      const QueryPlan::Row& place = last.plan->rows[row];
      if (last.plan->selections[place.selection].set != registered.set) continue;
      if (!holds_values(last.status[row]) || !seen.insert(place.instance).second) continue;
      fold(*registered.set, last, row, entry_of(so_far, registered.set->set));
    }
  }
  return so_far;
}

}  // namespace meterbank
