// SPDX-License-Identifier: Apache-2.0
//
// The smallest thing that is compiled: some instances of one registration, as addresses.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "../query_plan.hpp"

namespace meterbank {

// A QueryPlan::Selection before it has its place in a plan.
struct UnplacedSelection {
  std::vector<std::uint32_t> counters;
  std::uint64_t counter_mask = 0;
  bool total = false;
  const SharedWord* membership = nullptr;
  const SharedWord* word = nullptr;
  std::shared_ptr<const QueryPlan::RowList> list;
  std::shared_ptr<const std::vector<QueryPlan::Group>> groups;
};

// Makes one, part by part.
class SelectionBuilder {
 public:
  // `set` is one of the provider's.
  SelectionBuilder(const ProviderView& provider, const RegisteredSet& set);

  // The next part has those of the next piece of the set's instances for which f(instance) is true.
  template <typename F>
  void add_part(F&& f) {
    auto rows = std::make_shared<QueryPlan::PieceRows>();
    const InstancePiece& piece = start_part(*rows);
    rows->places.reserve(piece.instances.size());
    for (std::size_t place = 0; place < piece.instances.size(); ++place) {
      if (f(piece.instances[place])) rows->places.push_back(static_cast<std::uint16_t>(place));
    }
    finish_part(std::move(rows));
  }
  // The next part, which was made of the same piece for a plan before. Preconditions: the groups of
  // the set have not changed since, and it is not of a recording.
  void add_known(std::shared_ptr<const QueryPlan::PieceRows> rows);
  // All parts. `instances` are indexes in RegisteredSet::instances, in rising order.
  void add_all(const std::vector<std::uint32_t>& instances);

  // Null: there are no rows. An instance whose slot is in no group has none.
  [[nodiscard]] std::shared_ptr<UnplacedSelection> finish(std::vector<std::uint32_t> counters) &&;

 private:
  const InstancePiece& start_part(QueryPlan::PieceRows& rows) const;
  void finish_part(std::shared_ptr<QueryPlan::PieceRows> rows);

  const ProviderView& provider_;
  const RegisteredSet& set_;
  std::shared_ptr<const std::vector<QueryPlan::Group>> groups_;
  std::uint32_t slots_;  // of the groups
  std::shared_ptr<QueryPlan::RowList> list_;
};

// Of indexes in RegisteredSet::instances, in rising order; null if none has a row.
[[nodiscard]] std::shared_ptr<UnplacedSelection> make_selection(
    const ProviderView& provider, const RegisteredSet& set,
    const std::vector<std::uint32_t>& instances, std::vector<std::uint32_t> counters);

}  // namespace meterbank
