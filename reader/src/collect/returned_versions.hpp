// SPDX-License-Identifier: Apache-2.0
//
// Which version of each block was returned last, when one plan follows another.
#pragma once

#include <cstdint>
#include <vector>

#include "../plan/build_plan.hpp"

namespace meterbank {

struct PlanWithParts {
  const QueryPlan& plan;
  const QueryParts& parts;
};

// `versions` belongs to the plan before; the result to the plan `now`, with 0 for blocks that the
// plan before did not have. What `now` took over is copied; other blocks are looked up.
[[nodiscard]] SampleWords carried_versions(const PlanWithParts& before, const SampleWords& versions,
                                           const PlanWithParts& now);

}  // namespace meterbank
