// SPDX-License-Identifier: Apache-2.0
//
// Sets that go on counting the providers that are gone (InstanceKind::kGlobalAggregateHistory):
// their last values are folded into one, so what is kept does not grow with the number of ends.
#pragma once

#include <memory>
#include <vector>

#include "meterbank/reader/query.hpp"
#include "query_plan.hpp"

namespace meterbank {

// Whether `now` lacks a registration of such a set that `before` had.
[[nodiscard]] bool has_ended(const QueryParts& before, const QueryParts& now);

// `so_far` with the last values of what `now` lacks. `last` is a sample of the plan of `before`.
[[nodiscard]] std::vector<QueryPlan::Ended> folded(std::vector<QueryPlan::Ended> so_far,
                                                   const QueryParts& before, const QueryParts& now,
                                                   const Sample& last);

}  // namespace meterbank
