// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/query.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "compiled_query.hpp"
#include "meterbank/reader/cook.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank {
Query::Query(std::unique_ptr<CompiledQuery> compiled) noexcept : compiled_(std::move(compiled)) {}
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
    Query query(std::make_unique<CompiledQuery>());
    query.compiled_->build(catalog.providers(),
                           std::make_shared<const QueryRequest>(*std::move(request)));
    return query;
  });
}

Result<Query> Query::compile_part(const Query& whole, const Catalog& catalog,
                                  const std::vector<std::string>& patterns,
                                  const std::vector<std::string>& excluded) {
  return report_no_memory([&]() -> Result<Query> {
    auto request = QueryRequest::of_patterns(patterns, excluded);
    if (!request) return tl::make_unexpected(std::move(request.error()));
    Query query(std::make_unique<CompiledQuery>(*whole.compiled_, nullptr));
    query.compiled_->build(catalog.providers(),
                           std::make_shared<const QueryRequest>(*std::move(request)));
    return query;
  });
}

Query Query::of_items(const Catalog& catalog, std::vector<QueryItem> items) {
  Query query(std::make_unique<CompiledQuery>());
  query.replace(catalog, std::move(items));
  return query;
}

void Query::replace(const Catalog& catalog, std::vector<QueryItem> items) {
  auto request = std::make_shared<QueryRequest>();
  request->items.reserve(items.size());
  for (QueryItem& item : items) request->items.emplace_back(std::move(item));
  compiled_->build(catalog.providers(), std::move(request));
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
  const auto& asked = compiled_->request().items;
  std::vector<QueryItem> items;
  items.reserve(asked.size());
  for (const QueryRequest::Item& one : asked) items.push_back(one.item);
  return items;
}

bool Query::update(const Catalog& catalog) { return compiled_->update(catalog); }

CollectSummary Query::collect(Sample& sample, Timestamp time, Cut cut) noexcept {
  return compiled_->collect(sample, time, cut);
}

CollectSummary Query::collect(Sample& sample, std::chrono::nanoseconds timeout, Cut cut) {
  return compiled_->collect(sample, timeout, cut);
}

bool Query::enumerate(std::chrono::nanoseconds timeout) { return compiled_->enumerate(timeout); }

bool Query::asks() const noexcept { return compiled_->asks(); }

std::shared_ptr<const std::vector<CallbackAnswer>> Query::answers() const noexcept {
  return compiled_->answers();
}

AskCounts Query::ask_counts() const noexcept { return compiled_->ask_counts(); }

void Query::prepare(Sample& sample) const { compiled_->prepare(sample); }

const std::shared_ptr<const QueryPlan>& Query::plan() const noexcept { return compiled_->plan(); }

const std::vector<Unmatched>& Query::unmatched() const noexcept { return compiled_->unmatched(); }

std::vector<std::string> Query::expanded(PathSpelling spelling) const {
  Sample nothing;
  prepare(nothing);
  std::vector<std::string> paths;
  for (const CookedRow& row : cook(nullptr, nothing)) {
    paths.push_back(print_path(row.counter_path(spelling)));
  }
  return paths;
}

}  // namespace meterbank
