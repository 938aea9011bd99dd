// SPDX-License-Identifier: Apache-2.0
#include "returned_versions.hpp"

#include <algorithm>
#include <unordered_map>

namespace meterbank {

namespace {

// f(number of the version, sequence word) for each block of the rows.
template <typename F>
void for_each_block(const QueryPlan& plan, const QueryPlan::Selection& selection, F&& f) {
  const BlockForm& form = selection.set->set->form;
  std::size_t version = selection.first_version;
  for (std::size_t row = selection.first_row; row < selection.first_row + selection.rows; ++row) {
    for (std::uint32_t shard = 0; shard < form.shards; ++shard) {
      f(version++, shard_parts(plan.rows[row].block, form, shard).seq);
    }
  }
}

std::size_t blocks_of(const QueryPlan::Selection& selection) noexcept {
  return selection.rows * selection.set->set->form.shards;
}

}  // namespace

std::vector<std::uint64_t> carried_versions(const PlanWithParts& before,
                                            const std::vector<std::uint64_t>& versions,
                                            const PlanWithParts& now) {
  std::unordered_map<const PlanPiece*, const QueryPlan::Selection*> known_pieces;
  for (std::size_t index = 0; index < before.parts.pieces.size(); ++index) {
    known_pieces.emplace(before.parts.pieces[index].get(), &before.plan.selections[index]);
  }
  std::vector<std::uint64_t> carried(now.plan.blocks);
  std::vector<const QueryPlan::Selection*> others;
  for (std::size_t index = 0; index < now.parts.pieces.size(); ++index) {
    const QueryPlan::Selection& selection = now.plan.selections[index];
    const auto known = known_pieces.find(now.parts.pieces[index].get());
    if (known == known_pieces.end()) {
      others.push_back(&selection);
      continue;
    }
    std::copy_n(versions.data() + known->second->first_version, blocks_of(selection),
                carried.data() + selection.first_version);
    known_pieces.erase(known);
  }
  std::unordered_map<const SharedWord*, std::uint64_t> returned;
  for (const auto& [piece, selection] : known_pieces) {
    for_each_block(before.plan, *selection, [&](std::size_t version, const SharedWord* seq) {
      auto& known = returned[seq];
      known = std::max(known, versions[version]);
    });
  }
  for (const QueryPlan::Selection* const selection : others) {
    for_each_block(now.plan, *selection, [&](std::size_t version, const SharedWord* seq) {
      const auto known = returned.find(seq);
      if (known != returned.end()) carried[version] = known->second;
    });
  }
  return carried;
}

}  // namespace meterbank
