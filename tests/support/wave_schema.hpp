// SPDX-License-Identifier: Apache-2.0
//
// The countersets of tests that ask for rows.
#pragma once

#include <array>

#include "meterbank/publisher/schema.hpp"

namespace meterbank::test {

inline constexpr std::array kWaveCounters{
    CounterSpec{.id = 1,
                .name = "Height",
                .symbol = "height",
                .type = CounterType::kLargeRawCount,
                .unit = "1"},
    CounterSpec{.id = 2,
                .name = "Crests/sec",
                .symbol = "crests",
                .type = CounterType::kBulkCount,
                .unit = "{crest}",
                .aggregate = kAggregateSum},
    CounterSpec{.id = 7,
                .name = "Time per Crest",
                .symbol = "time_per_crest",
                .type = CounterType::kAverageTimer,
                .unit = "ns",
                .base = 70},
    CounterSpec{.id = 70, .name = "", .symbol = "", .type = CounterType::kAverageBase},
};

inline constexpr CountersetSpec kWaves{.name = "Waves",
                                       .symbol = "waves",
                                       .label = "wave",
                                       .guid = "{0b1d9f44-7c5e-4f0a-9a3d-5a3c1f0e6d21}"_guid,
                                       .counters = kWaveCounters};

inline constexpr CountersetSpec kTide{.name = "Tide",
                                      .symbol = "tide",
                                      .guid = "{1b1d9f44-7c5e-4f0a-9a3d-5a3c1f0e6d21}"_guid,
                                      .instances = InstanceKind::kSingle,
                                      .counters = kWaveCounters};

}  // namespace meterbank::test
