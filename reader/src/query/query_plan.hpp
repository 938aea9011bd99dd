// SPDX-License-Identifier: Apache-2.0
//
// From patterns and a catalog to the list of what to copy.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "meterbank/base/result.hpp"
#include "meterbank/reader/query.hpp"

namespace meterbank {

class PatternMatch;

struct BuiltPlan {
  std::shared_ptr<const QueryPlan> plan;
  std::vector<Unmatched> unmatched;
};

// Fails with kBadPath only, and for the same patterns always.
[[nodiscard]] Result<BuiltPlan> build_plan(const Catalog& catalog,
                                           const std::vector<std::string>& patterns,
                                           const std::vector<std::string>& excluded);

// Why a pattern selected nothing, and what comes nearest.
[[nodiscard]] Unmatched explain_unmatched(const Catalog& catalog, const std::string& pattern,
                                          const PatternMatch& as_counter,
                                          const PatternMatch* as_instance);

}  // namespace meterbank
