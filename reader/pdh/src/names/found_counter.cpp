// SPDX-License-Identifier: Apache-2.0
#include "found_counter.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "meterbank/base/machine_name.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/shm/case_fold.hpp"
#include "row_numbers.hpp"

namespace meterbank::pdh {
namespace {

using Provider = std::shared_ptr<const ProviderView>;

// Calls `use` with each provider and set that can be read.
template <typename F>
void for_each_set(const Catalog& catalog, F&& use) {
  for (const Provider& provider : catalog.providers()) {
    for (const RegisteredSet& set : provider->sets) {
      if (is_readable(*provider, set)) use(provider, set.set);
    }
  }
}

// All instances of a set; ready to be asked for its rows.
ItemQuery query_of_all(const Catalog& catalog, const Counterset& set) {
  constexpr std::chrono::seconds kTimeout{1};  // as on Windows, for all but values
  QueryItem all;
  all.set = set.guid;
  if (!has_instance_names(set.instances)) all.instances.clear();
  ItemQuery query = ItemQuery::compile(catalog, {std::move(all)});
  if (query.asks()) query.enumerate(kTimeout);
  return query;
}

void append_names(const ItemQuery& query, const ItemAnswer& answer,
                  std::vector<std::string>& names) {
  for (const std::uint32_t number : *answer.rows) {
    const Row row = query.row(number);
    if (is_shown(row)) names.emplace_back(row.name());
  }
  if (answer.summed->empty()) return;
  const bool is_named = has_instance_names(answer.set->set->instances);
  names.emplace_back(is_named ? kTotalName : std::string_view());
}

// Whether the path says which instance it means in the way that the set wants it.
bool fits_set(const PathElements& path, const Counterset& set) noexcept {
  return path.instance.has_value() == has_instance_names(set.instances);
}

}  // namespace

const std::string& shown_name(const Counterset& set) noexcept {
  return set.name.empty() ? set.symbol : set.name;
}

const std::string& shown_name(const CounterView& counter) noexcept {
  return counter.name.empty() ? counter.symbol : counter.name;
}

bool is_counter(const CounterView& counter) noexcept {
  return counter.form != ValueForm::kText && width_of(counter.type) != 0;
}

FoundSet find_set(const Catalog& catalog, std::string_view name) {
  Provider first;
  FoundSet found;
  for_each_set(catalog, [&](const Provider& provider, const FoundSet& set) {
    if (!equal_folded(set->name, name) && !equal_folded(set->symbol, name)) return;
    if (first != nullptr && !comes_before(*provider, *first)) return;
    first = provider;
    found = set;
  });
  return found;
}

std::vector<FoundSet> all_sets(const Catalog& catalog) {
  std::map<std::string, std::pair<Provider, FoundSet>, FoldedLess> by_name;
  for_each_set(catalog, [&](const Provider& provider, const FoundSet& set) {
    const auto [known, is_new] = by_name.try_emplace(shown_name(*set), provider, set);
    if (!is_new && comes_before(*provider, *known->second.first)) known->second = {provider, set};
  });
  std::vector<FoundSet> sets;
  sets.reserve(by_name.size());
  for (auto& [name, found] : by_name) sets.push_back(std::move(found.second));
  return sets;
}

bool is_shown(const Row& row) noexcept {
  if (row.is_total) return true;
  if (row.provider->state == ProviderState::kDead || row.instance->closed) return false;
  return !is_called_total(row.set(), *row.instance);
}

std::vector<std::string> instance_names(const Catalog& catalog, const Counterset& set) {
  const ItemQuery query = query_of_all(catalog, set);
  std::vector<std::string> names;
  for (const ItemAnswer& answer : query.item_answers()) append_names(query, answer, names);
  for (const ItemAnswer& answer : query.further_answers()) append_names(query, answer, names);
  return names;
}

std::vector<std::string> numbered_names(const std::vector<std::string>& names) {
  std::vector<std::string> numbered;
  numbered.reserve(names.size());
  RowNumbers numbers;
  for (const std::string& name : names) {
    numbered.push_back(numbered_name(name, numbers.next(name)));
  }
  return numbered;
}

PDH_STATUS find_counter(const Catalog& catalog, const PathElements& path, FoundCounter& found) {
  if (!names_this_machine(path.machine)) return PDH_CSTATUS_NO_MACHINE;
  found.set = find_set(catalog, path.object);
  if (found.set == nullptr) return PDH_CSTATUS_NO_OBJECT;
  found.counter = found.set->find(path.counter);
  if (found.counter == nullptr || !is_counter(*found.counter)) return PDH_CSTATUS_NO_COUNTER;
  if (!fits_set(path, *found.set)) return PDH_INVALID_PATH;
  found.item.set = found.set->guid;
  found.item.counter_id = found.counter->id;
  found.item.instances = path.whole_instance();
  found.is_wildcard = has_wildcard(found.item.instances) || path.index == kAnyInstanceIndex;
  if (path.index != kAnyInstanceIndex) found.index = path.index;
  if (!found.is_wildcard && !found.index) found.index = 0;
  if (path.index.value_or(0) == 0) return ERROR_SUCCESS;
  // An instance may be called so.
  FoundCounter literal = found;
  literal.item.instances = numbered_name(found.item.instances, *path.index);
  literal.index = 0;
  if (!found.is_wildcard && has_instance(catalog, literal)) found = std::move(literal);
  return ERROR_SUCCESS;
}

bool has_instance(const Catalog& catalog, const FoundCounter& found) {
  const Glob wanted(found.item.instances);
  std::vector<std::string> names = instance_names(catalog, *found.set);
  std::erase_if(names, [&wanted](const std::string& name) { return !wanted.matches(name); });
  return names.size() > found.index.value_or(0);
}

}  // namespace meterbank::pdh
