// SPDX-License-Identifier: Apache-2.0
//
// Providers and instances that came, went or began anew.
#pragma once

#include <vector>

#include "compare/comparison.hpp"

namespace meterbank::compare {

// Providers are matched by name, instances by provider, set and name. An instance counts only in
// sets whose instances neither came nor went within A or B: elsewhere that is what they always do.
void find_events(const Observation& a, const Observation& b, std::vector<Finding>& findings);

}  // namespace meterbank::compare
