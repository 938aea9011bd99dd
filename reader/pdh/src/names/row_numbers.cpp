// SPDX-License-Identifier: Apache-2.0
#include "row_numbers.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <tuple>

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

// Positions are counted in the order of ids in each registration, as the reader counts them,
// whatever the order in which the rows are collected.
NumberedRows numbered(const ItemQuery& query, const Answers& answers) {
  NumberedRows rows;
  std::vector<std::size_t> registrations;  // of the rows, numbered as they come
  const RegisteredSet* last = nullptr;
  for (const ItemAnswer* const answer : answers) {
    for (const std::uint32_t number : *answer->rows) {
      const Row row = query.row(number);
      if (!is_shown(row)) continue;
      const std::size_t before = registrations.empty() ? 0 : registrations.back();
      registrations.push_back(row.registered == last ? before : before + 1);
      last = row.registered;
      rows.push_back({row.instance, 0});
    }
  }
  std::vector<std::size_t> counted(rows.size());
  std::iota(counted.begin(), counted.end(), std::size_t{0});
  std::sort(counted.begin(), counted.end(), [&](std::size_t left, std::size_t right) {
    return std::tuple(registrations[left], rows[left].instance->id, left) <
           std::tuple(registrations[right], rows[right].instance->id, right);
  });
  RowNumbers numbers;
  for (const std::size_t row : counted) {
    rows[row].number = numbers.next(rows[row].instance->name);
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
