// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/query.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "query_plan.hpp"

namespace meterbank {
namespace {

bool same_selection(const QueryPlan::Selection& left, const QueryPlan::Selection& right) noexcept {
  return left.word == right.word && left.set->generation == right.set->generation &&
         left.rows == right.rows && left.total == right.total && left.counters == right.counters;
}

bool same_row(const QueryPlan::Row& left, const QueryPlan::Row& right) noexcept {
  return left.block.seq == right.block.seq && left.generation == right.generation;
}

// Both plans hold their memory mapped, so equal addresses are the same words.
bool selects_the_same(const QueryPlan& left, const QueryPlan& right) noexcept {
  return std::equal(left.selections.begin(), left.selections.end(), right.selections.begin(),
                    right.selections.end(), same_selection) &&
         std::equal(left.rows.begin(), left.rows.end(), right.rows.begin(), right.rows.end(),
                    same_row);
}

}  // namespace

Result<Query> Query::compile(const Catalog& catalog, std::vector<std::string> patterns,
                             std::vector<std::string> excluded) {
  auto built = build_plan(catalog, patterns, excluded);
  if (!built) return tl::make_unexpected(std::move(built.error()));
  Query query;
  query.patterns_ = std::move(patterns);
  query.excluded_ = std::move(excluded);
  query.plan_ = std::move(built->plan);
  query.unmatched_ = std::move(built->unmatched);
  query.versions_.resize(query.plan_->rows.size());
  return query;
}

bool Query::update(const Catalog& catalog) {
  // Views are immutable and the plan keeps them, so the same pointers are the same catalog.
  if (plan_->providers == catalog.providers()) return false;
  auto built = build_plan(catalog, patterns_, excluded_);
  if (!built) return false;  // cannot be: the same patterns have been parsed before
  unmatched_ = std::move(built->unmatched);
  const std::shared_ptr<const QueryPlan> before = std::exchange(plan_, std::move(built->plan));
  if (selects_the_same(*before, *plan_)) return false;
  // What was returned of a block before binds what may be returned of it later.
  std::unordered_map<const SharedWord*, std::uint64_t> returned;
  for (std::size_t row = 0; row < before->rows.size(); ++row) {
    auto& version = returned[before->rows[row].block.seq];
    version = std::max(version, versions_[row]);
  }
  versions_.assign(plan_->rows.size(), 0);
  for (std::size_t row = 0; row < plan_->rows.size(); ++row) {
    const auto known = returned.find(plan_->rows[row].block.seq);
    if (known != returned.end()) versions_[row] = known->second;
  }
  return true;
}

}  // namespace meterbank
