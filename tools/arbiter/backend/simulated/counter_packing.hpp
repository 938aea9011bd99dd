// SPDX-License-Identifier: Apache-2.0
//
// How a kernel puts events on counters: its own way to do it, and the best there is.
//
// x86 serves the event with the fewest counters first, gives it a fixed one if that will do, else
// the lowest general one, and never takes a step back. On the rules of the processors that are sold
// today this loses nothing against a matching; rules that overlap otherwise need kExact.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "arbiter/core/topology.hpp"

namespace meterbank::arbiter {

enum class Packing : std::uint8_t { kGreedy, kExact };

// For each event, of which any counter of its mask will do, the one it gets. Nothing: they cannot
// all be on at the same time.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> pack(std::span<const CounterMask> events,
                                                             Packing packing);

}  // namespace meterbank::arbiter
