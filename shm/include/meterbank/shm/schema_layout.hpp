// SPDX-License-Identifier: Apache-2.0
//
// How a counterset describes itself inside the segment: one immutable piece of bytes, complete, so
// that a reader needs no header, manifest or installation of the provider.
//
//   +--------------+-----------------+-----------------+-- --+------------------------------+
//   | SchemaHeader | CounterRecord 0 | CounterRecord 1 | ... | text: all strings, no NULs   |
//   +--------------+-----------------+-----------------+-- --+------------------------------+
//
// Counter i lives in word i of each block. A stamped set has one more word at the end: the
// CLOCK_MONOTONIC nanoseconds of the values beside it, stored in the same commit.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "meterbank/base/guid.hpp"
#include "meterbank/shm/counter_type.hpp"

namespace meterbank {

// A string of the schema: offset from SchemaHeader, bytes of UTF-8.
struct TextRef {
  std::uint32_t offset;  //  0
  std::uint32_t bytes;   //  4
};

enum class InstanceKind : std::uint32_t {  // values of Windows' PERF_COUNTERSET_... constants
  kSingle = 0,
  kMultiple = 2,
  kGlobalAggregate = 4,
  kMultipleAggregate = 6,
  kGlobalAggregateHistory = 12,
};

// Rows have names. Otherwise each provider has one row, without a name.
[[nodiscard]] constexpr bool has_instance_names(InstanceKind kind) noexcept {
  constexpr std::uint32_t kMultipleBit = 2;
  return (static_cast<std::uint32_t>(kind) & kMultipleBit) != 0;
}

// A reader makes one row of many. Windows: PERF_COUNTERSET_FLAG_AGGREGATE.
[[nodiscard]] constexpr bool is_aggregate(InstanceKind kind) noexcept {
  constexpr std::uint32_t kAggregateBit = 4;
  return (static_cast<std::uint32_t>(kind) & kAggregateBit) != 0;
}

// Each provider of the set holds a share of its one row.
[[nodiscard]] constexpr bool is_shared(InstanceKind kind) noexcept {
  return is_aggregate(kind) && !has_instance_names(kind);
}
// Rows of providers that are gone count on. Windows: PERF_COUNTERSET_FLAG_HISTORY.
[[nodiscard]] constexpr bool keeps_history(InstanceKind kind) noexcept {
  constexpr std::uint32_t kHistoryBit = 8;
  return (static_cast<std::uint32_t>(kind) & kHistoryBit) != 0;
}

// CounterRecord::aggregate: what a reader makes of several rows. Values of PERF_AGGREGATE_...
inline constexpr std::uint32_t kAggregateUndefined = 0;  // no row is made
inline constexpr std::uint32_t kAggregateSum = 1;
inline constexpr std::uint32_t kAggregateAverage = 2;
inline constexpr std::uint32_t kAggregateMinimum = 3;
inline constexpr std::uint32_t kAggregateMaximum = 4;

// What one counter's shards make together. Counts add up whatever becomes of rows; what is set has
// a meaning in shards only if its rows have one.
enum class ShardJoin : std::uint32_t { kSum, kMinimum, kMaximum };

[[nodiscard]] constexpr ShardJoin shard_join(CounterType type, std::uint32_t aggregate) noexcept {
  if (is_count(type)) return ShardJoin::kSum;
  if (aggregate == kAggregateMinimum) return ShardJoin::kMinimum;
  return aggregate == kAggregateMaximum ? ShardJoin::kMaximum : ShardJoin::kSum;
}
// The first value of a shard: joined with another it leaves that as it is.
[[nodiscard]] constexpr std::uint64_t first_value(ShardJoin join) noexcept {
  return join == ShardJoin::kMinimum ? ~std::uint64_t{0} : 0;
}

inline constexpr std::uint32_t kSchemaStamped = 1;  // SchemaHeader::flags
inline constexpr std::uint32_t kNoCounter = 0xffffffff;

struct SchemaHeader {
  std::uint32_t bytes;          //  0  of the whole schema
  std::uint32_t counters;       //  4
  std::uint32_t counter_bytes;  //  8  sizeof(CounterRecord) of the writer; grows, never shrinks
  std::uint32_t instances;      // 12  InstanceKind
  Guid guid;                    // 16
  Guid provider_guid;           // 32
  TextRef name;                 // 48  "Processor Information"
  TextRef symbol;               // 56  "processor_information"
  TextRef help;                 // 64
  TextRef label;                // 72  what an instance is: "venue"
  std::uint32_t flags;          // 80
  std::uint32_t reserved[3];    // 84  zero
};
static_assert(sizeof(SchemaHeader) == 96);
static_assert(std::is_trivially_copyable_v<SchemaHeader>);
static_assert(std::has_unique_object_representations_v<SchemaHeader>);

struct CounterRecord {
  std::uint32_t id;          //  0  unique in the set; gaps are normal
  std::uint32_t type;        //  4  Windows counter type, 32 bits that describe themselves
  std::uint64_t attributes;  //  8
  std::int32_t scale;        // 16  shown value = value * 10^scale, -10..10
  std::uint32_t detail;      // 20  100 standard, 200 advanced
  std::uint32_t base;        // 24  id of the base counter, or kNoCounter
  std::uint32_t time;        // 28  id of the object clock
  std::uint32_t frequency;   // 32  id of the object clock's frequency
  std::uint32_t multi;       // 36  id of the component count
  std::uint32_t aggregate;   // 40  kAggregate...
  std::uint32_t reserved;    // 44  zero
  TextRef name;              // 48  "% Processor Time", may be empty for bases
  TextRef symbol;            // 56  "processor_time"
  TextRef unit;              // 64  UCUM code: "s", "By", "{order}"
  TextRef help;              // 72
};
static_assert(sizeof(CounterRecord) == 80);
static_assert(std::is_trivially_copyable_v<CounterRecord>);
static_assert(std::has_unique_object_representations_v<CounterRecord>);

}  // namespace meterbank
