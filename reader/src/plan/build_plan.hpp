// SPDX-License-Identifier: Apache-2.0
//
// From a request and a catalog to the list of what to copy.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "asked_rows.hpp"
#include "match/set_descriptions.hpp"
#include "parts/plan_part.hpp"
#include "query_plan.hpp"
#include "query_request.hpp"

namespace meterbank {

// Keyed hashes of the names of a registration's instances. Immutable.
struct NameHashes {
  std::vector<std::size_t> all;             // in the order of the instances
  std::vector<std::size_t> first_of_piece;  // in `all`, for each piece of the instances
};

// What a plan is made of, kept for the next one. Immutable.
struct QueryParts {
  struct Registered {
    std::shared_ptr<const ProviderView> provider;  // keeps *set
    const RegisteredSet* set = nullptr;
    std::shared_ptr<const PlanPart> part;
    std::shared_ptr<const NameHashes> names;  // null: they were not looked at
  };
  // How a registration describes its set, for which the order of them all matters.
  struct Described {
    const Counterset* set = nullptr;
    bool trusted = false;
    SetDescriptions::Place place;
  };

  std::shared_ptr<const QueryRequest> request;
  std::vector<Registered> registered;  // all that could be selected from
  std::vector<Described> described;    // the same in the order of comes_before()
};

struct BuiltPlan {
  std::shared_ptr<QueryPlan> plan;
  std::shared_ptr<const QueryParts> parts;
  std::vector<Unmatched> unmatched;
  std::vector<TouchedSet> touched;  // in the order of the catalog
};

using Providers = std::vector<std::shared_ptr<const ProviderView>>;

// Rows that a provider computed when it was asked, as one more registration.
class AnsweredSets {
 public:
  struct Rows {
    std::shared_ptr<const ProviderView> view;  // null: nothing was ever answered
    const SharedWord* status = nullptr;        // a RowStatus, of all these rows
  };
  AnsweredSets() = default;
  AnsweredSets(const AnsweredSets&) = delete;
  AnsweredSets& operator=(const AnsweredSets&) = delete;
  [[nodiscard]] virtual Rows rows_of(const std::shared_ptr<const ProviderView>& provider,
                                     const RegisteredSet& set) = 0;

 protected:
  ~AnsweredSets() = default;
};

// `before` may be null, or of another request. `answered` may be null; its rows join those that are
// in shared memory.
[[nodiscard]] BuiltPlan build_plan(const Providers& providers,
                                   std::shared_ptr<const QueryRequest> request,
                                   const QueryParts* before, AnsweredSets* answered);

// Why a pattern selected nothing, and what comes nearest.
[[nodiscard]] Unmatched explain_unmatched(const Providers& providers, const std::string& pattern,
                                          const PatternMatch& as_counter,
                                          const PatternMatch* as_instance);

}  // namespace meterbank
