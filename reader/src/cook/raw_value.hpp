// SPDX-License-Identifier: Apache-2.0
//
// From a row of a sample to what a formula needs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../plan/query_plan.hpp"

namespace meterbank {

// `time_ns`: when the sample was collected, for sets whose values carry no time of their own.
[[nodiscard]] RawValue raw_of(const std::uint64_t* words, std::uint64_t time_ns,
                              const Counterset& set, const CounterView& counter) noexcept;

// A counter without links in a set whose values carry no time: two raw values of one moment differ
// in nothing but the value, and are otherwise as unlinked() says.
[[nodiscard]] bool is_unlinked(const Counterset& set, const CounterView& counter) noexcept;
[[nodiscard]] RawValue unlinked(std::uint64_t time_ns) noexcept;

// The bits of the counter's word that count.
[[nodiscard]] std::uint64_t value_mask(const CounterView& counter) noexcept;

}  // namespace meterbank
