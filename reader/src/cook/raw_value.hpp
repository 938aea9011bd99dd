// SPDX-License-Identifier: Apache-2.0
//
// From a row of a sample to what a formula needs.
#pragma once

#include "meterbank/reader/cook.hpp"

namespace meterbank {

[[nodiscard]] inline bool holds_values(RowStatus status) noexcept {
  return status != RowStatus::kBusy && status != RowStatus::kGone &&
         status != RowStatus::kTimeout && status != RowStatus::kOverloaded &&
         status != RowStatus::kUnanswered;
}

[[nodiscard]] RawValue raw_of(const Sample& sample, std::size_t row, const Counterset& set,
                              const CounterView& counter) noexcept;

}  // namespace meterbank
