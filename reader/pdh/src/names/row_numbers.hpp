// SPDX-License-Identifier: Apache-2.0
//
// Rows of one name are told apart by their position among them.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "meterbank/shm/case_fold.hpp"

namespace meterbank::pdh {

class RowNumbers {
 public:
  // How many rows of this name came before. Names must outlive the numbers.
  [[nodiscard]] std::uint32_t next(std::string_view name) { return seen_[name]++; }
  void clear() noexcept { seen_.clear(); }

 private:
  std::unordered_map<std::string_view, std::uint32_t, KeyedFoldedHash, FoldedEqual> seen_;
};

}  // namespace meterbank::pdh
