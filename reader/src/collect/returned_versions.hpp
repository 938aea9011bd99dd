// SPDX-License-Identifier: Apache-2.0
//
// Which version of each block was returned last, when one plan follows another.
#pragma once

#include "collector.hpp"

namespace meterbank {

// `versions` belongs to the plan before; the result to the plan `now`, with 0 for blocks that the
// plan before did not have. Of rows that both plans share, both have the same words then; other
// blocks are looked up.
[[nodiscard]] Versions carried_versions(const QueryPlan& before, const Versions& versions,
                                        const QueryPlan& now);

}  // namespace meterbank
