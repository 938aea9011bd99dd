// SPDX-License-Identifier: Apache-2.0
#include "row_numbers.hpp"

#include <map>

#include "found_counter.hpp"

namespace meterbank::pdh {
namespace {

// What an item has: the answer about the first description of its set, and those about others.
using Answers = std::vector<const ItemAnswer*>;

std::vector<Answers> answers_by_item(const ItemQuery& query) {
  std::vector<Answers> items;
  for (const ItemAnswer& answer : query.item_answers()) items.push_back({&answer});
  for (const ItemAnswer& answer : query.further_answers()) items[answer.index].push_back(&answer);
  return items;
}

NumberedRows numbered(const ItemQuery& query, const Answers& answers) {
  NumberedRows rows;
  RowNumbers numbers;
  for (const ItemAnswer* const answer : answers) {
    for (const std::uint32_t number : *answer->rows) {
      const Row row = query.row(number);
      if (is_shown(row)) rows.push_back({row.instance, numbers.next(row.name())});
    }
  }
  return rows;
}

}  // namespace

std::vector<std::shared_ptr<const NumberedRows>> number_rows(const ItemQuery& query) {
  std::map<std::vector<const void*>, std::shared_ptr<const NumberedRows>> known;
  std::vector<std::shared_ptr<const NumberedRows>> lists;
  for (const Answers& answers : answers_by_item(query)) {
    std::vector<const void*> rows;
    for (const ItemAnswer* const answer : answers) rows.push_back(answer->rows.get());
    auto& list = known[std::move(rows)];
    if (list == nullptr) list = std::make_shared<const NumberedRows>(numbered(query, answers));
    lists.push_back(list);
  }
  return lists;
}

}  // namespace meterbank::pdh
