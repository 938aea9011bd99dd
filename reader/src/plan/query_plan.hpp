// SPDX-License-Identifier: Apache-2.0
//
// From a request and a catalog to the list of what to copy.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "../callback/asked_rows.hpp"
#include "meterbank/reader/query.hpp"
#include "plan_part.hpp"
#include "query_request.hpp"

namespace meterbank {

// What a plan is made of, kept for the next one. Immutable.
struct QueryParts {
  struct Registered {
    std::shared_ptr<const ProviderView> provider;  // keeps *set
    const RegisteredSet* set = nullptr;
    std::shared_ptr<const PlanPart> part;
  };

  std::shared_ptr<const QueryRequest> request;
  std::vector<Registered> registered;                    // all that could be selected from
  std::vector<std::shared_ptr<const PlanPiece>> pieces;  // one a selection of the plan
};

struct BuiltPlan {
  std::shared_ptr<QueryPlan> plan;
  std::shared_ptr<const QueryParts> parts;
  std::vector<Unmatched> unmatched;
  std::vector<TouchedSet> touched;  // in the order of the catalog
};

using Providers = std::vector<std::shared_ptr<const ProviderView>>;

// `before` may be null, or of another request. `asker` may be null; what it was answered before
// joins the rows that are in shared memory.
[[nodiscard]] BuiltPlan build_plan(const Providers& providers,
                                   std::shared_ptr<const QueryRequest> request,
                                   const QueryParts* before, CallbackAsker* asker);

// Why a pattern selected nothing, and what comes nearest.
[[nodiscard]] Unmatched explain_unmatched(const Providers& providers, const std::string& pattern,
                                          const PatternMatch& as_counter,
                                          const PatternMatch* as_instance);

}  // namespace meterbank
