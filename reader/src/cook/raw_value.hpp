// SPDX-License-Identifier: Apache-2.0
//
// From a row of a sample to what a formula needs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../plan/query_plan.hpp"

namespace meterbank {

// `time_ns`: when the sample was collected, for sets whose values carry no time of their own.
[[nodiscard]] RawValue raw_of(const SampleContent& sample, std::uint64_t time_ns, std::size_t row,
                              const Counterset& set, const CounterView& counter) noexcept;

}  // namespace meterbank
