// SPDX-License-Identifier: Apache-2.0
#include "returned_versions.hpp"

#include <algorithm>
#include <unordered_map>

namespace meterbank {

std::vector<std::uint64_t> carried_versions(const PlanWithParts& before,
                                            const std::vector<std::uint64_t>& versions,
                                            const PlanWithParts& now) {
  std::unordered_map<const PlanPiece*, std::size_t> first_rows;
  for (std::size_t index = 0; index < before.parts.pieces.size(); ++index) {
    first_rows.emplace(before.parts.pieces[index].get(), before.plan.selections[index].first_row);
  }
  std::vector<std::uint64_t> carried(now.plan.rows.size());
  std::vector<std::size_t> others;
  for (std::size_t index = 0; index < now.parts.pieces.size(); ++index) {
    const auto known = first_rows.find(now.parts.pieces[index].get());
    if (known == first_rows.end()) {
      others.push_back(index);
      continue;
    }
    const QueryPlan::Selection& selection = now.plan.selections[index];
    std::copy_n(versions.data() + known->second, selection.rows,
                carried.data() + selection.first_row);
    first_rows.erase(known);
  }
  std::unordered_map<const SharedWord*, std::uint64_t> returned;
  for (const auto& [piece, first_row] : first_rows) {
    for (std::size_t row = first_row; row < first_row + piece->rows.size(); ++row) {
      auto& version = returned[before.plan.rows[row].block.seq];
      version = std::max(version, versions[row]);
    }
  }
  for (const std::size_t index : others) {
    const QueryPlan::Selection& selection = now.plan.selections[index];
    for (std::size_t row = selection.first_row; row < selection.first_row + selection.rows; ++row) {
      const auto known = returned.find(now.plan.rows[row].block.seq);
      if (known != returned.end()) carried[row] = known->second;
    }
  }
  return carried;
}

}  // namespace meterbank
