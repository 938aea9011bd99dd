// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/query.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "../callback/callback_asker.hpp"
#include "../plan/query_plan.hpp"
#include "ended_values.hpp"
#include "meterbank/reader/cook.hpp"
#include "meterbank/shm/case_fold.hpp"
#include "returned_versions.hpp"

namespace meterbank {
namespace {

bool same_selection(const QueryPlan::Selection& left, const QueryPlan::Selection& right) noexcept {
  const auto is_same_group = [](const QueryPlan::Group& one, const QueryPlan::Group& other) {
    return one.memory == other.memory && one.first_slot == other.first_slot;
  };
  // Rows lie in the same memory if the groups do, as far as both plans know them.
  const std::size_t groups = std::min(left.groups->size(), right.groups->size());
  return left.word == right.word && left.set->generation == right.set->generation &&
         left.rows == right.rows && left.total == right.total && left.counters == right.counters &&
         std::equal(left.groups->begin(),
                    left.groups->begin() + static_cast<std::ptrdiff_t>(groups),
                    right.groups->begin(), is_same_group);
}

// Of plans with the same selections.
bool has_same_rows(const QueryPlan& left, const QueryPlan& right) noexcept {
  for (std::size_t row = 0; row < left.rows.size(); ++row) {
    const InstanceView& one = left.instance_of(row);
    const InstanceView& other = right.instance_of(row);
    if (one.slot != other.slot || one.generation != other.generation) return false;
  }
  return true;
}

// Both plans hold their memory mapped, so equal addresses are the same words.
bool selects_the_same(const QueryPlan& left, const QueryPlan& right) noexcept {
  return std::equal(left.selections.begin(), left.selections.end(), right.selections.begin(),
                    right.selections.end(), same_selection) &&
         has_same_rows(left, right);
}

}  // namespace

Query::Query() noexcept = default;
Query::Query(Query&&) noexcept = default;
Query& Query::operator=(Query&&) noexcept = default;
Query::~Query() = default;

bool is_same(const QueryItem& left, const QueryItem& right) noexcept {
  return left.set == right.set && left.instance_id == right.instance_id &&
         left.counter_id == right.counter_id && equal_folded(left.instances, right.instances);
}

bool fits(const QueryItem& item, InstanceKind kind) noexcept {
  return item.instances.empty() != has_instance_names(kind);
}

std::string_view name_of(ItemStatus status) noexcept {
  switch (status) {
    case ItemStatus::kFound:
      return "found";
    case ItemStatus::kInstanceAbsent:
      return "no instance";
    case ItemStatus::kCountersetAbsent:
      return "no counterset";
    case ItemStatus::kCounterAbsent:
      return "no counter";
    case ItemStatus::kWrongKind:
      return "wrong kind";
  }
  return "unknown";
}

Result<Query> Query::compile(const Catalog& catalog, const std::vector<std::string>& patterns,
                             const std::vector<std::string>& excluded) {
  return report_no_memory([&]() -> Result<Query> {
    auto request = QueryRequest::of_patterns(patterns, excluded);
    if (!request) return tl::make_unexpected(std::move(request.error()));
    Query query;
    query.build(catalog.providers(), std::make_shared<const QueryRequest>(*std::move(request)));
    return query;
  });
}

Result<Query> Query::compile_part(const Query& whole, const Catalog& catalog,
                                  const std::vector<std::string>& patterns,
                                  const std::vector<std::string>& excluded) {
  return report_no_memory([&]() -> Result<Query> {
    auto request = QueryRequest::of_patterns(patterns, excluded);
    if (!request) return tl::make_unexpected(std::move(request.error()));
    Query query;
    query.asker_ = whole.asker_;
    query.is_part_ = true;
    query.build(catalog.providers(), std::make_shared<const QueryRequest>(*std::move(request)));
    return query;
  });
}

Query Query::of_items(const Catalog& catalog, std::vector<QueryItem> items) {
  Query query;
  query.replace(catalog, std::move(items));
  return query;
}

void Query::replace(const Catalog& catalog, std::vector<QueryItem> items) {
  auto request = std::make_shared<QueryRequest>();
  request->items.reserve(items.size());
  for (QueryItem& item : items) request->items.emplace_back(std::move(item));
  build(catalog.providers(), std::move(request));
}

void Query::add(const Catalog& catalog, std::vector<QueryItem> items) {
  std::vector<QueryItem> all = this->items();
  std::move(items.begin(), items.end(), std::back_inserter(all));
  replace(catalog, std::move(all));
}

std::size_t Query::remove(const Catalog& catalog, const std::vector<QueryItem>& items) {
  std::vector<QueryItem> kept = this->items();
  const std::size_t removed = std::erase_if(kept, [&items](const QueryItem& known) {
    return std::any_of(items.begin(), items.end(),
                       [&known](const QueryItem& item) { return is_same(item, known); });
  });
  if (removed != 0) replace(catalog, std::move(kept));
  return removed;
}

std::vector<QueryItem> Query::items() const {
  std::vector<QueryItem> items;
  items.reserve(request_->items.size());
  for (const QueryRequest::Item& asked : request_->items) items.push_back(asked.item);
  return items;
}

// All or nothing: what can fail comes first.
void Query::build(const Providers& providers, std::shared_ptr<const QueryRequest> request) {
  BuiltPlan built = build_plan(providers, request, parts_.get(), asker_.get());
  std::vector<std::uint64_t> versions(built.plan->blocks);
  std::vector<std::uint64_t> one_shard(built.plan->widest_shard);
  if (plan_ != nullptr) {
    built.plan->ended = plan_->ended;
    built.plan->ended_left_out = plan_->ended_left_out;
    if (has_ended(*parts_, *built.parts)) {
      Sample last;
      prepare(last);
      collect(last, Timestamp{});
      fold_ended(*built.parts, last, *built.plan);
    }
    // What was returned of a block before binds what may be returned of it later.
    versions = carried_versions({*plan_, *parts_}, versions_, {*built.plan, *built.parts});
  }
  if (!is_part_) {
    if (asker_ == nullptr && !built.touched.empty()) asker_ = std::make_shared<CallbackAsker>();
    if (asker_ != nullptr) asker_->adapt(std::move(built.touched));
  }
  request_ = std::move(request);
  parts_ = std::move(built.parts);
  plan_ = std::move(built.plan);
  unmatched_ = std::move(built.unmatched);
  versions_ = std::move(versions);
  one_shard_ = std::move(one_shard);
}

std::vector<std::string> Query::expanded(PathSpelling spelling) const {
  Sample nothing;
  prepare(nothing);
  std::vector<std::string> paths;
  for (const CookedRow& row : cook(nullptr, nothing)) {
    paths.push_back(print_path(row.counter_path(spelling)));
  }
  return paths;
}

bool Query::update(const Catalog& catalog) {
  // Views are immutable and the plan keeps them, so the same pointers are the same catalog.
  if (plan_->providers == catalog.providers()) {
    if (asker_ != nullptr && !is_part_) asker_->catch_up();
    return false;
  }
  const std::shared_ptr<const QueryPlan> before = plan_;
  build(catalog.providers(), request_);
  return !selects_the_same(*before, *plan_);
}

bool Query::asks() const noexcept { return asker_ != nullptr && !is_part_ && asker_->asks(); }

std::shared_ptr<const std::vector<CallbackAnswer>> Query::answers() const noexcept {
  return asker_ == nullptr ? nullptr : asker_->answers();
}

AskCounts Query::ask_counts() const noexcept {
  return asker_ == nullptr ? AskCounts{} : asker_->counts();
}

void Query::ask(bool values, std::chrono::nanoseconds timeout) {
  if (asker_ == nullptr || is_part_) return;
  asker_->ask(values ? MessageType::kCollect : MessageType::kEnumerate, timeout);
  if (!asker_->has_changed()) return;
  build(plan_->providers, request_);
  asker_->take_change();
}

bool Query::enumerate(std::chrono::nanoseconds timeout) {
  const std::shared_ptr<const QueryPlan> before = plan_;
  ask(false, timeout);
  return before != plan_ && !selects_the_same(*before, *plan_);
}

CollectSummary Query::collect(Sample& sample, std::chrono::nanoseconds timeout, Cut cut) {
  ask(true, timeout);
  prepare(sample);
  return collect(sample, cut);
}

}  // namespace meterbank
