// SPDX-License-Identifier: Apache-2.0
//
// What queries of patterns and queries of items have in common: a request, its plan, what collects
// it, and what asks for rows that are computed on demand.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../answers/callback_asker.hpp"
#include "../collect/collector.hpp"
#include "../plan/build_plan.hpp"
#include "meterbank/reader/query.hpp"

namespace meterbank {

class CompiledQuery {
 public:
  CompiledQuery() = default;
  // A part of another query: it finds the rows of the other's answers and asks nothing itself.
  explicit CompiledQuery(const CompiledQuery& whole, std::nullptr_t) noexcept
      : asker_(whole.asker_), is_part_(true) {}

  // All or nothing: may throw std::bad_alloc, and is then what it was.
  void build(const Providers& providers, std::shared_ptr<const QueryRequest> request);
  [[nodiscard]] bool update(const Catalog& catalog);

  void prepare(Sample& sample) const;
  CollectSummary collect(Sample& sample, Timestamp time, Cut cut) noexcept;
  CollectSummary collect(Sample& sample, std::chrono::nanoseconds timeout, Cut cut);
  [[nodiscard]] bool enumerate(std::chrono::nanoseconds timeout);
  [[nodiscard]] std::vector<InterestAnswer> hear_interest(std::chrono::nanoseconds timeout);

  [[nodiscard]] bool asks() const noexcept;
  [[nodiscard]] std::shared_ptr<const std::vector<CallbackAnswer>> answers() const noexcept;
  [[nodiscard]] AskCounts ask_counts() const noexcept;

  [[nodiscard]] const QueryRequest& request() const noexcept { return *request_; }
  [[nodiscard]] const std::shared_ptr<const QueryPlan>& plan() const noexcept {
    return collector_->plan();
  }
  // Grows with every plan.
  [[nodiscard]] std::uint64_t version() const noexcept { return version_; }
  [[nodiscard]] std::vector<std::string> expanded(PathSpelling spelling) const;
  [[nodiscard]] const std::vector<Unmatched>& unmatched() const noexcept { return unmatched_; }

 private:
  void prepare(Sample& sample, Collector::Words words) const;
  void ask(MessageType type, std::chrono::nanoseconds timeout);

  std::shared_ptr<const QueryRequest> request_;
  std::shared_ptr<const QueryParts> parts_;  // what the plan is made of
  std::uint64_t version_ = 0;
  std::unique_ptr<Collector> collector_;  // null before the first build()
  std::vector<Unmatched> unmatched_;
  std::shared_ptr<CallbackAsker> asker_;  // null: no registration is touched that wants to know
  bool is_part_ = false;                  // asker_ is that of another query
};

struct QueryAccess {
  template <typename AnyQuery>
  [[nodiscard]] static const CompiledQuery& of(const AnyQuery& query) noexcept {
    return *query.compiled_;
  }
};

// Of a Query or an ItemQuery.
template <typename AnyQuery>
[[nodiscard]] const std::shared_ptr<const QueryPlan>& plan_of(const AnyQuery& query) noexcept {
  return QueryAccess::of(query).plan();
}

}  // namespace meterbank
