// SPDX-License-Identifier: Apache-2.0
//
// The provider beside every attack: what it publishes, and what must be read of it throughout.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "meterbank/publisher.hpp"

namespace meterbank::hostile {

inline constexpr std::string_view kHealthyName = "healthy";

enum class Level : std::uint32_t { kLevel, kCount };

inline constexpr std::array kLevelCounters{CounterSpec{.id = 1,
                                                       .name = "Level",
                                                       .symbol = "level",
                                                       .type = CounterType::kLargeRawCount,
                                                       .help = "A value that stays as it is.",
                                                       .aggregate = kAggregateSum},
                                           CounterSpec{.id = 2,
                                                       .name = "Counts/sec",
                                                       .symbol = "counts",
                                                       .type = CounterType::kBulkCount,
                                                       .help = "A count that stays as it is.",
                                                       .aggregate = kAggregateSum}};

inline constexpr CountersetSpec kHealthyVenues{
    .name = "Healthy Venues",
    .symbol = "healthy_venues",
    .help = "Three rows, of which readers make a total.",
    .label = "venue",
    .guid = "{6d4be2d6-5b1f-4f0e-9c52-0e2a4d7f9a01}"_guid,
    .instances = InstanceKind::kMultipleAggregate,
    .counters = kLevelCounters};
inline constexpr CountersetSpec kHealthyMachine{
    .name = "Healthy Machine",
    .symbol = "healthy_machine",
    .help = "One row without a name.",
    .guid = "{6d4be2d6-5b1f-4f0e-9c52-0e2a4d7f9a02}"_guid,
    .instances = InstanceKind::kSingle,
    .counters = kLevelCounters};
inline constexpr CountersetSpec kHealthyPools{.name = "Healthy Pools",
                                              .symbol = "healthy_pools",
                                              .help = "Rows that are computed on demand.",
                                              .label = "pool",
                                              .guid = "{6d4be2d6-5b1f-4f0e-9c52-0e2a4d7f9a03}"_guid,
                                              .counters = kLevelCounters};

struct HealthyRow {
  std::string_view set;       // symbol
  std::string_view instance;  // empty: the set has one row
  std::uint64_t level;
};
inline constexpr std::uint64_t kHealthyTotal = 100 + 23 + 4000;
inline constexpr std::array kHealthyRows{
    HealthyRow{"healthy_venues", "eu", 100},    HealthyRow{"healthy_venues", "us", 23},
    HealthyRow{"healthy_venues", "asia", 4000}, HealthyRow{"healthy_machine", "", 77},
    HealthyRow{"healthy_pools", "small", 11},   HealthyRow{"healthy_pools", "large", 22}};

}  // namespace meterbank::hostile
