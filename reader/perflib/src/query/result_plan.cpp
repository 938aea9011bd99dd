// SPDX-License-Identifier: Apache-2.0
#include "result_plan.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <unordered_map>

#include "../registration_blocks.hpp"
#include "meterbank/reader/path.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank {
namespace {

// With more names of one set than this, copying all of it is cheaper than to look for each.
constexpr std::size_t kNamesMax = 32;

bool is_hidden(const CounterView& counter) noexcept {
  return is_base(counter.type) || width_of(counter.type) == 0;
}

// Paths treat a backslash as an escape; in an identifier it is a character.
std::string escaped(const std::string& pattern) {
  std::string out;
  for (const char c : pattern) {
    if (c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// A counter that makes a path select instances: any that is shown. In a set of bases alone, one of
// them by its name.
std::string any_counter(const Counterset& set) {
  if (std::any_of(set.counters.begin(), set.counters.end(),
                  [](const CounterView& counter) { return !is_hidden(counter); })) {
    return "*";
  }
  for (const CounterView& counter : set.counters) {
    if (!counter.symbol.empty()) return escape_glob(counter.symbol);
    if (!counter.name.empty()) return escape_glob(counter.name);
  }
  return "*";
}

std::string path_to(const Counterset& set, const std::string& instance) {
  CounterPath path;
  path.set = escape_glob(set.name);
  path.instance = instance;
  path.counter = any_counter(set);
  return print_short(path);
}

bool sums_up(const Counterset& set) noexcept { return is_aggregate(set); }

}  // namespace

bool is_good_pattern(const Counterset& set, const std::string& pattern) noexcept {
  return pattern.empty() != has_many_instances(set);
}

std::vector<std::string> paths_for(const std::vector<QueryItem>& items,
                                   const std::vector<FoundSet>& sets) {
  std::map<Guid, std::set<std::string>> names;
  for (const QueryItem& item : items) {
    const FoundSet* const found = find_set(sets, item.set);
    if (found == nullptr) continue;
    const Counterset& set = found->described();
    const bool all = !has_many_instances(set) || sums_up(set);
    names[item.set].insert(all ? "*" : escaped(item.pattern));
  }
  std::set<std::string> paths;
  for (const auto& [guid, instances] : names) {
    const bool all = instances.size() > kNamesMax || instances.contains("*");
    for (const FoundRegistration& registration : find_set(sets, guid)->registrations) {
      const Counterset& set = *registration.set->set;
      if (all) paths.insert(path_to(set, "*"));
      if (all) continue;
      for (const std::string& instance : instances) paths.insert(path_to(set, instance));
    }
  }
  return {paths.begin(), paths.end()};
}

// Lays blocks out, item by item.
class ResultPlan::Builder {
 public:
  Builder(ResultPlan& plan, const std::vector<FoundSet>& sets, const QueryPlan* query,
          CharacterWidth width)
      : plan_(plan), sets_(sets), query_(query), width_(width) {
    if (query_ == nullptr) return;
    std::map<const RegisteredSet*, std::map<std::uint32_t, std::size_t>> rows;
    for (std::size_t row = 0; row < query_->rows.size(); ++row) {
      // An instance that is shown and added up is in the query twice; its values are the same.
      rows[selection_of(row).set].emplace(query_->rows[row].instance, row);
    }
    for (const FoundSet& set : sets_) {
      for (const FoundRegistration& registration : set.registrations) {
        const auto found = rows.find(registration.set);
        if (found == rows.end()) continue;
        for (const auto& [instance, row] : found->second) sources_[set.guid].push_back(row);
      }
    }
  }

  void add(const QueryItem& item) {
    Block block;
    const FoundSet* const found = find_set(sets_, item.set);
    if (found != nullptr) lay_out(item, *found, block);
    plan_.blocks_.push_back(block);
  }

 private:
  using Rows = std::vector<std::size_t>;  // of the query
  using ByName = std::unordered_multimap<std::string_view, std::size_t, FoldedHash, FoldedEqual>;

  [[nodiscard]] const QueryPlan::Selection& selection_of(std::size_t row) const noexcept {
    return query_->selections[query_->rows[row].selection];
  }
  [[nodiscard]] const InstanceView& instance_of(std::size_t row) const noexcept {
    return selection_of(row).set->instances[query_->rows[row].instance];
  }

  void lay_out(const QueryItem& item, const FoundSet& found, Block& block) {
    const Counterset& set = found.described();
    block.alive = found.alive();
    const bool every_counter = item.counter == kEveryCounter;
    std::vector<std::uint32_t> ids{item.counter};
    if (every_counter) {
      ids.clear();
      for (const CounterView& counter : set.counters) ids.push_back(counter.id);
    } else if (find_counter(set, item.counter) == nullptr) {
      block.error = PerfError::kNotFound;
      return;
    }
    const bool many = has_many_instances(set);
    if (!is_good_pattern(set, item.pattern)) {
      // The set was of the other kind when the identifier was added.
      block.error = PerfError::kContradictsRegistration;
      return;
    }
    const bool all_rows = many && !item.glob.is_literal();
    block.shape = shape_of(every_counter, all_rows);
    block.columns = ids.size();
    if (every_counter) lay_out_columns(ids, block);
    block.choice = all_rows ? Choice::kAll : many ? Choice::kFirst : Choice::kOnly;
    block.rows = add_rows(rows_for(item, many), ids, all_rows);
    if (sums_up(set)) lay_out_total(item, many, ids, block);
  }

  static BlockShape shape_of(bool every_counter, bool all_rows) noexcept {
    if (every_counter) return all_rows ? BlockShape::kCounterset : BlockShape::kMultipleCounters;
    return all_rows ? BlockShape::kMultipleInstances : BlockShape::kSingleCounter;
  }

  void append(const void* source, std::size_t bytes) {
    const auto* const begin = static_cast<const std::byte*>(source);
    plan_.text_.insert(plan_.text_.end(), begin, begin + bytes);
  }

  void lay_out_columns(const std::vector<std::uint32_t>& ids, Block& block) {
    const std::size_t ids_bytes = ids.size() * sizeof(std::uint32_t);
    block.head = plan_.text_.size();
    block.head_bytes = padded(sizeof(ColumnsHeader) + ids_bytes);
    const ColumnsHeader header{static_cast<std::uint32_t>(block.head_bytes),
                               static_cast<std::uint32_t>(ids.size())};
    append(&header, sizeof header);
    append(ids.data(), ids_bytes);
    plan_.text_.resize(block.head + block.head_bytes);
  }

  const Rows& rows_of(const Guid& set) { return sources_[set]; }

  // The rows of a set by name, made once it is asked for.
  const ByName& names_of(const Guid& set) {
    const auto [known, is_new] = names_.try_emplace(set);
    if (is_new) {
      for (const std::size_t row : rows_of(set)) {
        known->second.emplace(instance_of(row).name, row);
      }
    }
    return known->second;
  }

  Rows rows_for(const QueryItem& item, bool many) {
    Rows rows;
    if (many && item.glob.is_literal()) {
      const auto [first, last] = names_of(item.set).equal_range(item.pattern);
      for (auto each = first; each != last; ++each) rows.push_back(each->second);
      if (rows.size() > 1) keep_order(item.set, rows);
    } else {
      for (const std::size_t row : rows_of(item.set)) {
        if (!many || item.glob.matches(instance_of(row).name)) rows.push_back(row);
      }
    }
    if (item.instance != kEveryInstance) {
      std::erase_if(rows, [&](std::size_t row) { return instance_of(row).id != item.instance; });
    }
    return rows;
  }

  // Puts a few rows of a set into the order of all of them.
  void keep_order(const Guid& set, Rows& rows) {
    Rows ordered;
    for (const std::size_t row : rows_of(set)) {
      if (std::find(rows.begin(), rows.end(), row) != rows.end()) ordered.push_back(row);
    }
    rows = std::move(ordered);
  }

  // Where the columns of an item lie in the blocks of one registration.
  std::size_t columns_in(const QueryPlan::Selection& selection,
                         const std::vector<std::uint32_t>& ids,
                         std::map<const RegisteredSet*, std::size_t>& known) {
    const auto [place, is_new] = known.emplace(selection.set, plan_.columns_.size());
    if (!is_new) return place->second;
    for (const std::uint32_t id : ids) {
      Column column;
      if (const CounterView* const counter = find_counter(*selection.set->set, id)) {
        column = {counter->word, width_of(counter->type), counter->aggregate};
      }
      plan_.columns_.push_back(column);
    }
    return place->second;
  }

  Range add_rows(const Rows& rows, const std::vector<std::uint32_t>& ids, bool with_names) {
    const Range range{plan_.rows_.size(), rows.size()};
    std::map<const RegisteredSet*, std::size_t> columns;
    for (const std::size_t source : rows) {
      const QueryPlan::Selection& selection = selection_of(source);
      Row row;
      row.row = source;
      row.first_column = columns_in(selection, ids, columns);
      row.keeps_history = keeps_history(*selection.set->set);
      if (with_names) {
        const InstanceView& instance = instance_of(source);
        row.header = plan_.text_.size();
        row.header_bytes = append_row_header(instance.name, instance.id, width_, plan_.text_);
      }
      plan_.rows_.push_back(row);
    }
    return range;
  }

  // A set that aggregates: its rows as one, or beside them a row "_Total" unless a provider has
  // that itself.
  void lay_out_total(const QueryItem& item, bool many, const std::vector<std::uint32_t>& ids,
                     Block& block) {
    if (!many) {
      block.choice = Choice::kSum;
      block.summed = block.rows;
      return;
    }
    if (!item.glob.matches(kTotalName) || names_of(item.set).contains(kTotalName)) return;
    if (item.instance != kEveryInstance && item.instance != kTotalId) return;
    block.summed = add_rows(rows_of(item.set), ids, false);
    if (block.choice == Choice::kFirst) block.choice = Choice::kSum;
    block.total = plan_.text_.size();
    block.total_bytes = append_row_header(kTotalName, kTotalId, width_, plan_.text_);
  }

  ResultPlan& plan_;
  const std::vector<FoundSet>& sets_;
  const QueryPlan* query_;
  CharacterWidth width_;
  std::map<Guid, Rows> sources_;
  std::map<Guid, ByName> names_;
};

ResultPlan::ResultPlan(const std::vector<QueryItem>& items, const std::vector<FoundSet>& sets,
                       const QueryPlan* plan, CharacterWidth width) {
  Builder builder(*this, sets, plan, width);
  blocks_.reserve(items.size());
  for (const QueryItem& item : items) builder.add(item);
}

}  // namespace meterbank
