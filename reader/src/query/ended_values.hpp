// SPDX-License-Identifier: Apache-2.0
//
// Sets that go on counting what is gone (InstanceKind::kGlobalAggregateHistory): last values are
// folded into one, so what is kept does not grow with the number of ends.
#pragma once

#include <vector>

#include "../plan/query_plan.hpp"
#include "meterbank/reader/query.hpp"

namespace meterbank {

// Whether an instance of such a set that lived in `before` does not live in `now`.
[[nodiscard]] bool has_ended(const QueryParts& before, const QueryParts& now);

// `so_far` with the rows of `last` whose instances do not live in `now`.
[[nodiscard]] std::vector<QueryPlan::Ended> folded(std::vector<QueryPlan::Ended> so_far,
                                                   const QueryParts& now, const Sample& last);

}  // namespace meterbank
