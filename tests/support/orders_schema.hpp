// SPDX-License-Identifier: Apache-2.0
//
// The small counterset that tests publish.
#pragma once

#include <array>

#include "meterbank/publisher.hpp"

namespace meterbank::test {

enum class Venue : std::uint32_t { kAccepted, kBytes, kDepth };

inline constexpr std::array kVenueCounters{
    CounterSpec{.id = 1,
                .name = "Accepted/sec",
                .symbol = "accepted",
                .type = CounterType::kBulkCount,
                .unit = "{order}",
                .help = "Orders accepted."},
    CounterSpec{.id = 2,
                .name = "Bytes/sec",
                .symbol = "bytes",
                .type = CounterType::kBulkCount,
                .unit = "By",
                .help = "Bytes of orders accepted."},
    CounterSpec{.id = 5,
                .name = "Queue Depth",
                .symbol = "queue_depth",
                .type = CounterType::kLargeRawCount,
                .unit = "{order}",
                .help = "Orders waiting."},
};

inline constexpr CountersetSpec kOrders{.name = "Demo Orders",
                                        .symbol = "demo_orders",
                                        .help = "Order gateway, one instance per venue.",
                                        .label = "venue",
                                        .guid = "{5f0c1e2a-3d6b-4a57-9a51-6c1d0e8f7b42}"_guid,
                                        .counters = kVenueCounters};

[[nodiscard]] constexpr CountersetSpec orders_with_cuts() noexcept {
  CountersetSpec spec = kOrders;
  spec.cuts = true;
  return spec;
}

}  // namespace meterbank::test
