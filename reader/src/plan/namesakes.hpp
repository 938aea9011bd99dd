// SPDX-License-Identifier: Apache-2.0
//
// Which rows of a plan are called alike, so that paths can tell them apart.
#pragma once

#include <vector>

#include "build_plan.hpp"

namespace meterbank {

// Sets QueryPlan::Row::has_namesake and ::shares_name. `registered` are all registrations that the
// plan could select from.
//
// Cost  Linear in the instances of sets that several providers have, or whose names may repeat; the
//       others are not looked at. That a set says InstanceIdentity::kUnique is believed here: where
//       it is not true, rows of that provider have one path.
void mark_namesakes(const std::vector<QueryParts::Registered>& registered, QueryPlan& plan);

}  // namespace meterbank
