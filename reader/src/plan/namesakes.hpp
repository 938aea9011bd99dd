// SPDX-License-Identifier: Apache-2.0
//
// Which rows of a plan are called alike, so that paths can tell them apart.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "build_plan.hpp"

namespace meterbank {

// Sets Selection::marks. `registered` are all registrations that the plan could select from, and
// `of_selections` has the number of the one that each selection is of.
//
// Cost  Linear in the instances of sets that several providers have, or whose names may repeat; the
//       others are not looked at. That a set says InstanceIdentity::kUnique is believed here: where
//       it is not true, rows of that provider have one path.
void mark_namesakes(std::vector<QueryParts::Registered>& registered,
                    std::span<const std::uint32_t> of_selections, QueryPlan& plan);

}  // namespace meterbank
