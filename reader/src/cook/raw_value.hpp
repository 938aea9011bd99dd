// SPDX-License-Identifier: Apache-2.0
//
// From a row of a sample to what a formula needs.
#pragma once

#include "meterbank/reader/cook.hpp"

namespace meterbank {

[[nodiscard]] RawValue raw_of(const Sample& sample, std::size_t row, const Counterset& set,
                              const CounterView& counter) noexcept;

}  // namespace meterbank
