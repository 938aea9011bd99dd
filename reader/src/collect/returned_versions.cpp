// SPDX-License-Identifier: Apache-2.0
#include "returned_versions.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "../catalog/memory/recorded_rows.hpp"

namespace meterbank {

namespace {

using Selection = QueryPlan::Selection;
using Part = QueryPlan::RowList::Part;
using PieceRows = QueryPlan::PieceRows;

// The versions of rows are taken over from others of the same registration. Rows of both are in
// the order of their slots.
void merge_versions(const PieceRows& old, const std::uint64_t* versions, const PieceRows& now,
                    std::size_t shards, std::uint64_t* carried) {
  std::size_t row = 0;
  for (std::size_t to = 0; to < now.size(); ++to) {
    const std::uint32_t slot = now.instance(to).slot;
    while (row < old.size() && old.instance(row).slot < slot) ++row;
    if (row == old.size()) return;
    if (old.instance(row).slot != slot) continue;
    for (std::size_t shard = 0; shard < shards; ++shard) {
      std::uint64_t& known = carried[to * shards + shard];
      known = std::max(known, versions[row * shards + shard]);
    }
  }
}

bool have_slots_in_common(const PieceRows& left, const PieceRows& right) noexcept {
  if (left.size() == 0 || right.size() == 0) return false;
  return left.instance(0).slot <= right.instance(right.size() - 1).slot &&
         right.instance(0).slot <= left.instance(left.size() - 1).slot;
}

// A selection of the plan before, with what was returned of it.
struct Known {
  const Selection* selection;
  std::span<const PartVersions> versions;  // one a part
};

std::span<const PartVersions> versions_of(const Selection& selection,
                                          const Versions& versions) noexcept {
  return std::span(versions).subspan(selection.first_part, selection.list->parts.size());
}

// Null: no selection has the part.
PartVersions shared_versions(std::span<const Known> known, std::size_t index, const Part& part) {
  for (const Known& one : known) {
    const std::vector<Part>& parts = one.selection->list->parts;
    if (index < parts.size() && parts[index].rows == part.rows) return one.versions[index];
  }
  return nullptr;
}

PartVersions merged_versions(std::span<const Known> known, const Part& part, std::size_t shards) {
  PartVersions carried = no_versions(part.rows->size() * shards);
  for (const Known& one : known) {
    const std::vector<Part>& parts = one.selection->list->parts;
    for (std::size_t index = 0; index < parts.size(); ++index) {
      if (!have_slots_in_common(*parts[index].rows, *part.rows)) continue;
      merge_versions(*parts[index].rows, one.versions[index].get(), *part.rows, shards,
                     carried.get());
    }
  }
  return carried;
}

// The selections of the plan before by their membership word: both plans hold it mapped, so the
// same address is the same registration.
using ByRegistration = std::map<const SharedWord*, std::vector<Known>>;

ByRegistration by_registration(const QueryPlan& plan, const Versions& versions) {
  ByRegistration all;
  for (const Selection& selection : plan.selections) {
    all[selection.membership].push_back({&selection, versions_of(selection, versions)});
  }
  return all;
}

}  // namespace

Versions carried_versions(const QueryPlan& before, const Versions& versions, const QueryPlan& now) {
  Versions carried;
  carried.reserve(now.parts);
  ByRegistration known;
  std::size_t next = 0;  // most selections follow one another as they did
  for (const Selection& selection : now.selections) {
    const std::vector<Selection>& old = before.selections;
    if (next < old.size() && old[next].list == selection.list) {
      const auto all = versions_of(old[next++], versions);
      carried.insert(carried.end(), all.begin(), all.end());
      continue;
    }
    if (known.empty()) known = by_registration(before, versions);
    std::vector<Known>& of_registration = known[selection.membership];
    std::erase_if(of_registration, [&selection](const Known& one) {
      return form_of(*one.selection->set) != form_of(*selection.set);
    });
    if (!of_registration.empty()) {
      next = static_cast<std::size_t>(of_registration.back().selection - old.data()) + 1;
    }
    const std::vector<Part>& parts = selection.list->parts;
    for (std::size_t index = 0; index < parts.size(); ++index) {
      auto words = shared_versions(of_registration, index, parts[index]);
      if (words == nullptr) {
        words = merged_versions(of_registration, parts[index], form_of(*selection.set).shards);
      }
      carried.push_back(std::move(words));
    }
  }
  return carried;
}

}  // namespace meterbank
