// SPDX-License-Identifier: Apache-2.0
#include "result_plan.hpp"

#include <algorithm>
#include <map>

#include "../found_sets.hpp"
#include "../registration_blocks.hpp"
#include "../rows_by_name.hpp"
#include "meterbank/reader/glob.hpp"

namespace meterbank {
namespace {

PerfError error_of(ItemStatus status) noexcept {
  switch (status) {
    case ItemStatus::kCounterAbsent:
      return PerfError::kNotFound;
    case ItemStatus::kWrongKind:
      return PerfError::kContradictsRegistration;  // it was of the other kind when it was asked for
    default:
      return PerfError::kInstanceNotFound;
  }
}

}  // namespace

// Lays blocks out, answer by answer.
class ResultPlan::Builder {
 public:
  Builder(ResultPlan& plan, const ItemQuery& query, CharacterWidth width)
      : plan_(plan), query_(query), width_(width) {}

  void add(const ItemAnswer& answer) {
    Block block;
    block.set = answer.item.set;
    block.alive = answer.alive;
    block.trusted = answer.trusted;
    block.error = error_of(answer.status);
    const bool has_rows =
        answer.status == ItemStatus::kFound || answer.status == ItemStatus::kInstanceAbsent;
    if (has_rows) lay_out(answer, block);
    plan_.blocks_.push_back(block);
  }

 private:
  using Rows = std::vector<std::uint32_t>;  // of the query

  void lay_out(const ItemAnswer& answer, Block& block) {
    const Counterset& set = *answer.set->set;
    const bool every_counter = answer.item.counter_id == kAnyCounterId;
    std::vector<std::uint32_t> ids{answer.item.counter_id};
    if (every_counter) {
      ids.clear();
      for (const CounterView& counter : set.counters) {
        if (is_described(counter)) ids.push_back(counter.id);
      }
    }
    const bool many = has_instance_names(set.instances);
    const bool all_rows = many && !Glob(answer.item.instances).is_literal();
    block.shape = shape_of(every_counter, all_rows);
    block.columns = ids.size();
    if (every_counter) lay_out_columns(ids, block);
    block.choice = all_rows ? Choice::kAll : many ? Choice::kFirst : Choice::kOnly;
    block.rows = add_rows(shown(*answer.rows), ids, all_rows);
    if (answer.summed->empty()) return;
    block.summed = add_rows(*answer.summed, ids, false);
    block.ended = add_ended(set, ids);
    if (!all_rows) block.choice = Choice::kSum;
    block.total = plan_.text_.size();
    block.total_bytes = append_row_header(kTotalName, kTotalInstanceId, width_, plan_.text_);
  }

  [[nodiscard]] Rows shown(const Rows& rows) const {
    if (rows.empty()) return {};
    RowsByName by_name(!query_.row(rows.back()).provider->trusted);
    Rows shown;
    shown.reserve(rows.size());
    for (const std::uint32_t number : rows) {
      const meterbank::Row row = query_.row(number);
      if (by_name.shows(*row.provider, row.set(), *row.instance)) shown.push_back(number);
    }
    return shown;
  }

  Range add_ended(const Counterset& set, const std::vector<std::uint32_t>& ids) {
    Range range{plan_.ended_.size(), 0};
    for (const EndedValues& ended : query_.ended()) {
      if (range.count != 0 || !agree(*ended.set, set)) continue;
      for (const std::uint32_t id : ids) {
        const CounterView* const counter = ended.set->find(id);
        if (counter == nullptr) plan_.ended_.emplace_back();
        if (counter == nullptr) continue;
        plan_.ended_.push_back(
            ended.values[static_cast<std::size_t>(counter - ended.set->counters.data())]);
      }
      range.count = ids.size();
    }
    return range;
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

  // Where the columns of an item lie in the blocks of one registration.
  std::size_t columns_in(const RegisteredSet& registered, const std::vector<std::uint32_t>& ids,
                         std::map<const RegisteredSet*, std::size_t>& known) {
    const auto [place, is_new] = known.emplace(&registered, plan_.columns_.size());
    if (!is_new) return place->second;
    for (const std::uint32_t id : ids) {
      Column column;
      if (const CounterView* const counter = registered.set->find(id)) {
        column = {counter->word, width_of(counter->type), counter->joined_by, counter->form};
      }
      plan_.columns_.push_back(column);
    }
    return place->second;
  }

  Range add_rows(const Rows& rows, const std::vector<std::uint32_t>& ids, bool with_names) {
    const Range range{plan_.rows_.size(), rows.size()};
    std::map<const RegisteredSet*, std::size_t> columns;
    for (const std::uint32_t source : rows) {
      const meterbank::Row from = query_.row(source);
      Row row;
      row.row = source;
      row.first_column = columns_in(*from.registered, ids, columns);
      row.keeps_history = keeps_history(from.set().instances);
      if (with_names) {
        row.header = plan_.text_.size();
        row.header_bytes = append_row_header(from.name(), from.id(), width_, plan_.text_);
      }
      plan_.rows_.push_back(row);
    }
    return range;
  }

  ResultPlan& plan_;
  const ItemQuery& query_;
  CharacterWidth width_;
};

ResultPlan::ResultPlan(const ItemQuery& query, CharacterWidth width,
                       std::span<const Refused> refused) {
  Builder builder(*this, query, width);
  blocks_.reserve(query.item_answers().size() + refused.size());
  const auto add_refused = [this, &refused] {
    for (; !refused.empty() && refused.front().index == blocks_.size();
         refused = refused.subspan(1)) {
      Block block;
      block.error = refused.front().error;
      blocks_.push_back(block);
    }
  };
  add_refused();
  for (const ItemAnswer& answer : query.item_answers()) {
    builder.add(answer);
    add_refused();
    too_large_ = rows_.size() * sizeof(Row) + text_.size() > kResultBytesMax;
    if (too_large_) break;
  }
}

}  // namespace meterbank
