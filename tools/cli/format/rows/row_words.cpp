// SPDX-License-Identifier: Apache-2.0
#include "cli/format/rows/row_words.hpp"

#include "cli/format/kinds.hpp"

namespace meterbank::cli {

const std::string& word_of(const Counterset& set) noexcept {
  return set.symbol.empty() ? set.name : set.symbol;
}

const std::string& word_of(const CounterView& counter) noexcept {
  return counter.symbol.empty() ? counter.name : counter.symbol;
}

bool is_hexadecimal(const CounterView& counter) noexcept {
  return counter.type == CounterType::kRawCountHex ||
         counter.type == CounterType::kLargeRawCountHex;
}

BaseUnit unit_for_programs(const CounterView& counter, bool raw) {
  return raw ? BaseUnit{stored_unit(counter)} : base_unit_of(cooked_unit(counter));
}

}  // namespace meterbank::cli
