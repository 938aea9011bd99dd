// SPDX-License-Identifier: Apache-2.0
#include "ended_values.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "../cook/raw_value.hpp"
#include "../cook/value_form.hpp"
#include "meterbank/reader/cook.hpp"

namespace meterbank {
namespace {

// An instance by what does not change when a segment grows or is mapped again.
using Life =
    std::tuple<std::array<std::uint64_t, 2>, Ref, std::uint64_t, std::uint32_t, std::uint64_t>;

Life life_of(const ProviderView& provider, const RegisteredSet& set, const InstanceView& instance) {
  return {provider.segment_id, set.registration, set.generation, instance.slot,
          instance.generation};
}

// Totals are made of what trusted providers publish, before their end and after it.
bool is_kept(const ProviderView& provider, const RegisteredSet& set) noexcept {
  return keeps_history(set.set->instances) && provider.trusted;
}

std::set<Life> lives_of(const QueryParts& parts) {
  std::set<Life> lives;
  for (const auto& registered : parts.registered) {
    if (!is_kept(*registered.provider, *registered.set)) continue;
    for (const InstanceView& instance : registered.set->instances) {
      if (!instance.closed) lives.insert(life_of(*registered.provider, *registered.set, instance));
    }
  }
  return lives;
}

QueryPlan::Ended& entry_of(std::vector<QueryPlan::Ended>& all,
                           const std::shared_ptr<const Counterset>& set) {
  const auto known = std::find_if(all.begin(), all.end(),
                                  [&](const auto& ended) { return agree(*ended.set, *set); });
  if (known != all.end()) return *known;
  all.push_back({set, std::vector<QueryPlan::Ended::Value>(set->counters.size())});
  return all.back();
}

void fold(std::optional<Distribution> last, std::shared_ptr<const Distribution>& so_far) {
  if (!last) return;
  if (so_far != nullptr) last->add(*so_far);
  so_far = std::make_shared<const Distribution>(std::move(*last));
}

void fold(const RegisteredSet& registered, const Sample& last, std::size_t row,
          QueryPlan::Ended& ended) {
  for (std::size_t index = 0; index < ended.set->counters.size(); ++index) {
    const CounterView& known = ended.set->counters[index];
    const CounterView* const counter = registered.set->find(known.id);
    if (counter == nullptr || counter->type != known.type || counter->form != known.form) continue;
    const RawValue raw = raw_of(last, row, *registered.set, *counter);
    const CookedValue cooked =
        cooked_in_form(*counter, cook(counter->type, nullptr, raw), raw.value);
    if (cooked.status == CookStatus::kNotFinite) continue;
    QueryPlan::Ended::Value& value = ended.values[index];
    const bool is_first = value.count++ == 0;
    value.raw = is_first ? raw.value : joined_in_form(known, value.raw, raw.value);
    value.cooked = is_first ? cooked.value : joined(known.aggregate, value.cooked, cooked.value);
    if (counter->form == ValueForm::kDistribution) {
      const Words words{last.row(row), last.plan->rows[row].block.words};
      fold(distribution_in(*counter, words), value.distribution);
    }
  }
}

}  // namespace

bool has_ended(const QueryParts& before, const QueryParts& now) {
  const std::set<Life> lived = lives_of(before);
  if (lived.empty()) return false;
  const std::set<Life> lives = lives_of(now);
  return !std::includes(lives.begin(), lives.end(), lived.begin(), lived.end());
}

std::vector<QueryPlan::Ended> folded(std::vector<QueryPlan::Ended> so_far, const QueryParts& now,
                                     const Sample& last) {
  // What is selected twice, as itself and as a share, counts once: a life is in here or folded.
  std::set<Life> counted = lives_of(now);
  for (std::size_t row = 0; row < last.plan->rows.size(); ++row) {
    const QueryPlan::Row& place = last.plan->rows[row];
    const QueryPlan::Selection& selection = last.plan->selections[place.selection];
    const RegisteredSet& set = *selection.set;
    if (!is_kept(*selection.provider, set) || !holds_values(last.status[row])) continue;
    const Life life = life_of(*selection.provider, set, set.instances[place.instance]);
    if (counted.insert(life).second) fold(set, last, row, entry_of(so_far, set.set));
  }
  return so_far;
}

}  // namespace meterbank
