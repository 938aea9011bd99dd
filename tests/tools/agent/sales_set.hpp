// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "meterbank/publisher.hpp"

namespace meterbank::agent {

// A counterset with one counter.
inline constexpr std::array kSalesCounters{CounterSpec{.id = 1, .name = "Sold", .symbol = "sold"}};
inline constexpr CountersetSpec kSales{
    .name = "sales", .symbol = "sales", .counters = kSalesCounters};

}  // namespace meterbank::agent
