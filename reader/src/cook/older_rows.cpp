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

bool OlderRows::find(const RowPlace& newer, std::size_t row, std::size_t& found) const noexcept {
  if (older_ == nullptr) return false;
  found = row;
  if (!same_plan_ && !find_slot(newer, found)) return false;
  return holds_values(older_->status[found]);
}

// A part that both plans have at the same place has the same rows.
bool OlderRows::find_slot(const RowPlace& newer, std::size_t& found) const noexcept {
  const std::uint32_t slot = newer.instance().slot;
  for (const Selection* const selection : selections_[newer.number_of_selection()]) {
    const auto& parts = selection->list->parts;
    const std::size_t same = newer.number_of_part();
    if (same < parts.size() && parts[same].rows.get() == &newer.part()) {
      found = selection->first_row + parts[same].first_row + newer.in_part();
      return true;
    }
    const std::size_t index = selection->set->instances.index_of(slot);
    if (index == InstanceViews::kNoIndex) continue;
    const auto& [rows, first_row] = parts[index / InstancePiece::kSlots];
    const std::size_t wanted = index % InstancePiece::kSlots;
    const auto place = std::lower_bound(rows->places.begin(), rows->places.end(), wanted);
    if (place == rows->places.end() || *place != wanted) continue;
    found =
        selection->first_row + first_row + static_cast<std::size_t>(place - rows->places.begin());
    return true;
  }
  return false;
}

}  // namespace meterbank
