// SPDX-License-Identifier: Apache-2.0
//
// What the shards of one instance make together, word by word: the same for the owner, which writes
// the first values, and for readers, who join.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>

#include "meterbank/shm/counter_type.hpp"
#include "meterbank/shm/distribution.hpp"
#include "meterbank/shm/schema_layout.hpp"

namespace meterbank {

enum class ShardJoin : std::uint8_t {
  kSum,
  kMinimum,
  kMaximum,
  kRealSum,  // of doubles, as bits
  kRealMinimum,
  kRealMaximum,
};

// The first value of a shard: joined with another it leaves that as it is.
[[nodiscard]] constexpr std::uint64_t first_value(ShardJoin join) noexcept {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  switch (join) {
    case ShardJoin::kMinimum:
      return ~std::uint64_t{0};
    case ShardJoin::kRealMinimum:
      return std::bit_cast<std::uint64_t>(kInfinity);
    case ShardJoin::kRealMaximum:
      return std::bit_cast<std::uint64_t>(-kInfinity);
    default:
      return 0;
  }
}

[[nodiscard]] constexpr std::uint64_t joined_word(ShardJoin join, std::uint64_t left,
                                                  std::uint64_t right) noexcept {
  const auto real = [](std::uint64_t bits) { return std::bit_cast<double>(bits); };
  switch (join) {
    case ShardJoin::kMinimum:
      return std::min(left, right);
    case ShardJoin::kMaximum:
      return std::max(left, right);
    case ShardJoin::kRealSum:
      return std::bit_cast<std::uint64_t>(real(left) + real(right));
    case ShardJoin::kRealMinimum:
      return real(right) < real(left) ? right : left;
    case ShardJoin::kRealMaximum:
      return real(right) > real(left) ? right : left;
    default:
      return left + right;
  }
}

// Counts add up whatever becomes of rows; what is set has a meaning in shards only if its rows have
// one.
[[nodiscard]] constexpr ShardJoin join_of(CounterType type, std::uint32_t aggregate) noexcept {
  if (is_count(type)) return ShardJoin::kSum;
  if (aggregate == kAggregateMinimum) return ShardJoin::kMinimum;
  return aggregate == kAggregateMaximum ? ShardJoin::kMaximum : ShardJoin::kSum;
}

// Of all words of a distribution; `joins` holds kSum for each word of the block before.
constexpr void set_joins(std::span<ShardJoin> joins, std::uint32_t more) noexcept {
  joins[more + DistributionShape::kSum] = ShardJoin::kRealSum;
  joins[more + DistributionShape::kLeast] = ShardJoin::kRealMinimum;
  joins[more + DistributionShape::kMost] = ShardJoin::kRealMaximum;
}

}  // namespace meterbank
