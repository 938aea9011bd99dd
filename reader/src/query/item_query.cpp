// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/item_query.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "compiled_query.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank {

ItemQuery::ItemQuery() noexcept = default;
ItemQuery::ItemQuery(ItemQuery&&) noexcept = default;
ItemQuery& ItemQuery::operator=(ItemQuery&&) noexcept = default;
ItemQuery::~ItemQuery() = default;

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

ItemQuery ItemQuery::compile(const Catalog& catalog, std::vector<QueryItem> items) {
  ItemQuery query;
  query.compiled_ = std::make_unique<CompiledQuery>();
  query.replace(catalog, std::move(items));
  return query;
}

void ItemQuery::replace(const Catalog& catalog, std::vector<QueryItem> items) {
  auto request = std::make_shared<QueryRequest>();
  request->items.reserve(items.size());
  for (QueryItem& item : items) request->items.emplace_back(std::move(item));
  compiled_->build(catalog.providers(), std::move(request));
}

void ItemQuery::add(const Catalog& catalog, std::vector<QueryItem> items) {
  std::vector<QueryItem> all = this->items();
  std::move(items.begin(), items.end(), std::back_inserter(all));
  replace(catalog, std::move(all));
}

std::size_t ItemQuery::remove(const Catalog& catalog, const std::vector<QueryItem>& items) {
  std::vector<QueryItem> kept = this->items();
  const std::size_t removed = std::erase_if(kept, [&items](const QueryItem& known) {
    return std::any_of(items.begin(), items.end(),
                       [&known](const QueryItem& item) { return is_same(item, known); });
  });
  if (removed != 0) replace(catalog, std::move(kept));
  return removed;
}

std::vector<QueryItem> ItemQuery::items() const {
  const auto& asked = compiled_->request().items;
  std::vector<QueryItem> items;
  items.reserve(asked.size());
  for (const QueryRequest::Item& one : asked) items.push_back(one.item);
  return items;
}

const std::vector<ItemAnswer>& ItemQuery::item_answers() const noexcept {
  return compiled_->plan()->answers;
}

const std::vector<ItemAnswer>& ItemQuery::further_answers() const noexcept {
  return compiled_->plan()->others;
}

const std::vector<EndedValues>& ItemQuery::ended() const noexcept {
  return compiled_->plan()->ended;
}

Row ItemQuery::row(std::size_t number) const noexcept {
  const RowPlace place(*compiled_->plan(), number);
  const QueryPlan::Selection& selection = place.selection();
  const QueryPlan::NameMark mark = selection.mark_of(place.in_selection());
  Row row;
  row.provider = selection.provider.get();
  row.registered = selection.set;
  row.instance = &place.instance();
  row.has_namesake = mark.has_namesake;
  row.shares_name = mark.shares_name;
  row.is_apart = selection.is_apart;
  return row;
}

std::uint64_t ItemQuery::version() const noexcept { return compiled_->version(); }

bool ItemQuery::update(const Catalog& catalog) { return compiled_->update(catalog); }

CollectSummary ItemQuery::collect(Sample& sample, Timestamp time, Cut cut) noexcept {
  return compiled_->collect(sample, time, cut);
}

CollectSummary ItemQuery::collect(Sample& sample, std::chrono::nanoseconds timeout, Cut cut) {
  return compiled_->collect(sample, timeout, cut);
}

bool ItemQuery::enumerate(std::chrono::nanoseconds timeout) {
  return compiled_->enumerate(timeout);
}

std::vector<InterestAnswer> ItemQuery::hear_interest(std::chrono::nanoseconds timeout) {
  return compiled_->hear_interest(timeout);
}

bool ItemQuery::asks() const noexcept { return compiled_->asks(); }

std::shared_ptr<const std::vector<CallbackAnswer>> ItemQuery::answers() const noexcept {
  return compiled_->answers();
}

AskCounts ItemQuery::ask_counts() const noexcept { return compiled_->ask_counts(); }

void ItemQuery::prepare(Sample& sample) const { compiled_->prepare(sample); }

std::vector<SelectedSet> ItemQuery::selected() const { return selected_in(*compiled_->plan()); }

std::vector<std::string> ItemQuery::expanded(PathSpelling spelling) const {
  return compiled_->expanded(spelling);
}

}  // namespace meterbank
