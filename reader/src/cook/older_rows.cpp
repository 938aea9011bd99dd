// SPDX-License-Identifier: Apache-2.0
#include "older_rows.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

namespace meterbank {
namespace {

using Selection = QueryPlan::Selection;

// The same registration of the same segment.
using Place = std::tuple<std::array<std::uint64_t, 2>, Ref, std::uint64_t>;

Place place_of(const Selection& selection) {
  return {selection.provider->segment_id, selection.set->registration, selection.set->generation};
}

}  // namespace

void OlderRows::pair(const SampleContent* older, const SampleContent& newer) {
  older_ = older;
  selections_.clear();
  same_plan_ = older == nullptr || older->plan == newer.plan;
  if (same_plan_) return;
  std::map<Place, std::vector<const Selection*>> places;
  for (const Selection& selection : older->plan->selections) {
    places[place_of(selection)].push_back(&selection);
  }
  selections_.reserve(newer.plan->selections.size());
  for (const Selection& selection : newer.plan->selections) {
    const auto found = places.find(place_of(selection));
    selections_.push_back(found == places.end() ? std::vector<const Selection*>() : found->second);
  }
}

bool OlderRows::find(const QueryPlan& newer, std::size_t row, std::size_t& found) const noexcept {
  if (older_ == nullptr) return false;
  found = row;
  if (!same_plan_ && !find_slot(newer, row, found)) return false;
  return holds_values(older_->status[found]);
}

// Rows of a selection are in the order of their slots.
bool OlderRows::find_slot(const QueryPlan& newer, std::size_t row,
                          std::size_t& found) const noexcept {
  const QueryPlan& plan = *older_->plan;
  const std::uint32_t slot = newer.instance_of(row).slot;
  for (const Selection* const selection : selections_[newer.rows[row].selection]) {
    const auto* const first = plan.rows.data() + selection->first_row;
    const auto* const last = first + selection->rows;
    const auto* const place =
        std::lower_bound(first, last, slot, [&](const QueryPlan::Row& one, std::uint32_t wanted) {
          return selection->set->instances[one.instance].slot < wanted;
        });
    if (place == last || selection->set->instances[place->instance].slot != slot) continue;
    found = static_cast<std::size_t>(place - plan.rows.data());
    return true;
  }
  return false;
}

}  // namespace meterbank
