// SPDX-License-Identifier: Apache-2.0
//
// Sets that go on counting what is gone (InstanceKind::kGlobalAggregateHistory): last values are
// folded into one, so what is kept does not grow with the number of ends. Nor does it grow with the
// number of sets that a provider invents: the providers of one user are given room for
// kEndedSetsMax sets and kEndedCountersMax counters. What ends beyond it is not counted on, and
// QueryPlan::ended_left_out says how much that was.
#pragma once

#include <vector>

#include "../plan/build_plan.hpp"

namespace meterbank {

inline constexpr std::size_t kEndedSetsMax = 64;
inline constexpr std::size_t kEndedCountersMax = 16384;

// Whether an instance of such a set that lived in `before` does not live in `now`.
[[nodiscard]] bool has_ended(const QueryParts& before, const QueryParts& now);

// Adds the rows of `last` whose instances do not live in `now` to the ended values of `plan`.
void fold_ended(const QueryParts& now, const SampleContent& last, QueryPlan& plan);

}  // namespace meterbank
