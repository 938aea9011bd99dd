// SPDX-License-Identifier: Apache-2.0
#include "ended_values.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "../cook/raw_value.hpp"
#include "../cook/value_form.hpp"

namespace meterbank {
namespace {

// A registration by what does not change when a segment grows or is mapped again.
using Place = std::tuple<std::array<std::uint64_t, 2>, Ref, std::uint64_t>;
using Places = std::map<Place, const RegisteredSet*>;

Place place_of(const ProviderView& provider, const RegisteredSet& set) {
  return {provider.segment_id, set.registration, set.generation};
}

// Totals are made of what trusted providers publish, before their end and after it.
bool is_kept(const ProviderView& provider, const RegisteredSet& set) noexcept {
  return keeps_history(set.set->instances) && provider.trusted;
}

Places places_of(const QueryParts& parts) {
  Places places;
  for (const auto& registered : parts.registered) {
    if (!is_kept(*registered.provider, *registered.set)) continue;
    places.emplace(place_of(*registered.provider, *registered.set), registered.set);
  }
  return places;
}

bool lives_in(const RegisteredSet& set, const InstanceView& instance) noexcept {
  const InstanceView* const now = set.instances.in_slot(instance.slot);
  return now != nullptr && now->generation == instance.generation && !now->closed;
}

// Null: the registration has ended.
const RegisteredSet* find(const Places& places, const Place& place) {
  const auto found = places.find(place);
  return found == places.end() ? nullptr : found->second;
}

// Whether an instance of the first that lived does not live in the second.
bool has_ended(const RegisteredSet& before, const RegisteredSet& now) {
  const auto lived = before.instances.pieces(), lives = now.instances.pieces();
  for (std::size_t index = 0; index < lived.size(); ++index) {
    if (index < lives.size() && lived[index] == lives[index]) continue;
    for (const InstanceView& instance : lived[index]->instances) {
      if (!instance.closed && !lives_in(now, instance)) return true;
    }
  }
  return false;
}

bool has_lived(const RegisteredSet& set) {
  return std::any_of(set.instances.begin(), set.instances.end(),
                     [](const InstanceView& instance) { return !instance.closed; });
}

// Null: the user's room is used up.
EndedValues* entry_of(std::vector<EndedValues>& all, std::uint32_t uid,
                      const std::shared_ptr<const Counterset>& set) {
  std::size_t sets = 0, counters = 0;
  for (EndedValues& ended : all) {
    if (agree(*ended.set, *set)) return &ended;
    if (ended.uid != uid) continue;
    ++sets;
    counters += ended.values.size();
  }
  const bool has_room =
      sets < kEndedSetsMax && set->counters.size() <= kEndedCountersMax - counters;
  if (!has_room) return nullptr;
  all.push_back({set, uid, std::vector<EndedValues::Value>(set->counters.size())});
  return &all.back();
}

void fold(std::optional<Distribution> last, std::shared_ptr<const Distribution>& so_far) {
  if (!last) return;
  if (so_far != nullptr) last->add(*so_far);
  so_far = std::make_shared<const Distribution>(std::move(*last));
}

void fold(const RegisteredSet& registered, const SampleContent& last, std::size_t row,
          EndedValues& ended) {
  for (std::size_t index = 0; index < ended.set->counters.size(); ++index) {
    const CounterView& known = ended.set->counters[index];
    const CounterView* const counter = registered.set->find(known.id);
    if (counter == nullptr || counter->type != known.type || counter->form != known.form) continue;
    const RawValue raw = raw_of(last.row(row), 0, *registered.set, *counter);
    const CookedValue cooked =
        cooked_in_form(*counter, cook(counter->type, nullptr, raw), raw.value);
    if (cooked.status == CookStatus::kNotFinite) continue;
    EndedValues::Value& value = ended.values[index];
    const bool is_first = value.count++ == 0;
    value.raw =
        is_first ? raw.value : joined_in_form(known.form, known.joined_by, value.raw, raw.value);
    value.cooked = is_first ? cooked.value : joined(known.aggregate, value.cooked, cooked.value);
    if (counter->form == ValueForm::kDistribution) {
      const Words words{last.row(row), registered.set->form.words};
      fold(Distribution::of({counter->shape, counter->word, counter->more}, words),
           value.distribution);
    }
  }
}

}  // namespace

bool has_ended(const QueryParts& before, const QueryParts& now) {
  const Places lived = places_of(before);
  if (lived.empty()) return false;
  const Places lives = places_of(now);
  return std::any_of(lived.begin(), lived.end(), [&lives](const auto& known) {
    const auto& [place, set] = known;
    const RegisteredSet* const successor = find(lives, place);
    return successor == nullptr ? has_lived(*set) : has_ended(*set, *successor);
  });
}

void fold_ended(const QueryParts& now, const SampleContent& last, QueryPlan& plan) {
  const Places lives = places_of(now);
  // What is selected twice, as itself and as a share, counts once.
  std::map<const RegisteredSet*, std::vector<bool>> counted;
  for (const QueryPlan::Selection& selection : last.plan->selections) {
    const RegisteredSet& set = *selection.set;
    if (!is_kept(*selection.provider, set)) continue;
    std::vector<bool>& is_counted = counted[&set];
    is_counted.resize(set.instances.index_end());
    const RegisteredSet* const successor = find(lives, place_of(*selection.provider, set));
    RowPlace row(*last.plan, selection.first_row);
    for (std::size_t index = selection.first_row; index < selection.first_row + selection.rows;
         ++index) {
      row.move_to(index);
      const std::size_t instance = row.part().index(row.in_part());
      const bool is_living = successor != nullptr && lives_in(*successor, row.instance());
      if (is_living || is_counted[instance] || !holds_values(last.status[index])) continue;
      is_counted[instance] = true;
      EndedValues* const entry = entry_of(plan.ended, selection.provider->uid, set.set);
      if (entry == nullptr) {
        ++plan.ended_left_out;
      } else {
        fold(set, last, index, *entry);
      }
    }
  }
}

}  // namespace meterbank
