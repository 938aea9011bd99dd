// SPDX-License-Identifier: Apache-2.0
//
// The smallest thing that is compiled: some instances of one registration, as addresses.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "../query_plan.hpp"

namespace meterbank {

// A QueryPlan::Selection before it has its place in a plan: rows and runs count from 0.
struct PlanPiece {
  std::vector<std::uint32_t> counters;
  std::uint64_t counter_mask = 0;
  bool total = false;
  const SharedWord* membership = nullptr;
  const SharedWord* word = nullptr;
  std::vector<std::uint32_t> instances;  // in RegisteredSet::instances, a row each
  std::vector<QueryPlan::Run> runs;
  std::shared_ptr<const std::vector<QueryPlan::Group>> groups;
};

// `instances` are indexes in RegisteredSet::instances, in rising order. An instance whose slot is
// in no group has no row; null if none has.
[[nodiscard]] std::shared_ptr<PlanPiece> make_piece(const ProviderView& provider,
                                                    const RegisteredSet& set,
                                                    std::vector<std::uint32_t> instances,
                                                    std::vector<std::uint32_t> counters);

}  // namespace meterbank
