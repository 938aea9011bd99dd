// SPDX-License-Identifier: Apache-2.0
//
// Which counters are needed for those that are wanted, as Windows tells a provider.
#pragma once

#include <cstdint>
#include <vector>

#include "meterbank/reader/catalog.hpp"

namespace meterbank {

inline constexpr std::uint64_t kEveryCounter = ~std::uint64_t{0};

// Bit x of word x / 64: the counter with id x, which is wanted or is the base or clock of one that
// is. A single kEveryCounter: all that are shown are wanted, or an id has no place in a request.
// `counters` are indexes in Counterset::counters.
[[nodiscard]] std::vector<std::uint64_t> counter_mask_of(
    const Counterset& set, const std::vector<std::uint32_t>& counters);

// The same for counters that are named one by one: kEveryCounter only where an id has no place.
[[nodiscard]] std::vector<std::uint64_t> mask_of_each(const Counterset& set,
                                                      const std::vector<std::uint32_t>& counters);

}  // namespace meterbank
