// SPDX-License-Identifier: Apache-2.0
#include "returned_versions.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>

#include "../catalog/memory/recorded_rows.hpp"

namespace meterbank {

namespace {

using Selection = QueryPlan::Selection;

std::size_t blocks_of(const Selection& selection) noexcept {
  return selection.rows * form_of(*selection.set).shards;
}

// The slots of the rows of one selection.
class SlotsOfRows {
 public:
  SlotsOfRows(const QueryPlan& plan, const Selection& selection) noexcept
      : rows_(plan.rows.data() + selection.first_row), instances_(selection.set->instances) {}
  [[nodiscard]] std::uint32_t operator[](std::size_t row) const noexcept {
    return instances_[rows_[row].instance].slot;
  }

 private:
  const QueryPlan::Row* rows_;
  std::span<const InstanceView> instances_;
};

// The versions of one selection are taken over from another of the same registration. Rows of both
// are in the order of their slots.
void merge_versions(const QueryPlan& old_plan, const Selection& old, const SampleWords& versions,
                    const QueryPlan& new_plan, const Selection& now, SampleWords& carried) {
  const std::size_t shards = form_of(*now.set).shards;
  const SlotsOfRows old_slots(old_plan, old), new_slots(new_plan, now);
  std::size_t row = 0;
  for (std::size_t to = 0; to < now.rows; ++to) {
    const std::uint32_t slot = new_slots[to];
    while (row < old.rows && old_slots[row] < slot) ++row;
    if (row == old.rows) return;
    if (old_slots[row] != slot) continue;
    for (std::size_t shard = 0; shard < shards; ++shard) {
      std::uint64_t& known = carried[now.first_version + to * shards + shard];
      known = std::max(known, versions[old.first_version + row * shards + shard]);
    }
  }
}

}  // namespace

SampleWords carried_versions(const PlanWithParts& before, const SampleWords& versions,
                             const PlanWithParts& now) {
  std::unordered_map<const PlanPiece*, const Selection*> known_pieces;
  for (std::size_t index = 0; index < before.parts.pieces.size(); ++index) {
    known_pieces.emplace(before.parts.pieces[index].get(), &before.plan.selections[index]);
  }
  SampleWords carried(now.plan.versions);
  std::vector<const Selection*> others;
  for (std::size_t index = 0; index < now.parts.pieces.size(); ++index) {
    const Selection& selection = now.plan.selections[index];
    const auto known = known_pieces.find(now.parts.pieces[index].get());
    if (known == known_pieces.end()) {
      others.push_back(&selection);
      continue;
    }
    std::copy_n(versions.data() + known->second->first_version, blocks_of(selection),
                carried.data() + selection.first_version);
    known_pieces.erase(known);
  }
  // By their membership word: both plans hold it mapped, so the same address is the same
  // registration.
  std::multimap<const SharedWord*, const Selection*> replaced;
  for (const auto& [piece, selection] : known_pieces) {
    replaced.emplace(selection->membership, selection);
  }
  for (const Selection* const selection : others) {
    const auto [first, last] = replaced.equal_range(selection->membership);
    for (auto old = first; old != last; ++old) {
      if (form_of(*old->second->set) != form_of(*selection->set)) continue;
      merge_versions(before.plan, *old->second, versions, now.plan, *selection, carried);
    }
  }
  return carried;
}

}  // namespace meterbank
