// SPDX-License-Identifier: Apache-2.0
//
// Rows of one name are told apart by their position among them: registration by registration, and
// there in the order of ids.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "meterbank/reader/item_query.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank::pdh {

class RowNumbers {
 public:
  // How many rows of this name came before. Names must outlive the numbers.
  [[nodiscard]] std::uint32_t next(std::string_view name) { return seen_[name]++; }

 private:
  std::unordered_map<std::string_view, std::uint32_t, KeyedFoldedHash, FoldedEqual> seen_;
};

// A row that is shown, and how many rows of its name are before it. Valid while the query's plan
// is.
struct NumberedRow {
  const InstanceView* instance = nullptr;
  std::uint32_t number = 0;
};
using NumberedRows = std::vector<NumberedRow>;

// One list an item, in the order in which its rows are collected, without totals. Items that differ
// in the counter alone share one.
[[nodiscard]] std::vector<std::shared_ptr<const NumberedRows>> number_rows(const ItemQuery& query);

}  // namespace meterbank::pdh
