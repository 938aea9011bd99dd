// SPDX-License-Identifier: Apache-2.0
//
// How a counterset describes itself inside the segment: one immutable piece of bytes, complete, so
// that a reader needs no header, manifest or installation of the provider.
//
//   +--------------+-----------------+-----------------+-- --+------------------------------+
//   | SchemaHeader | CounterRecord 0 | CounterRecord 1 | ... | text: all strings, no NULs   |
//   +--------------+-----------------+-----------------+-- --+------------------------------+
//
// Counter i lives in word i of each block, whatever its form: there is its number, or the count of
// a distribution, or the length of a text. What else it needs lies behind these, counter by
// counter. A stamped set has one more word at the end: the CLOCK_MONOTONIC nanoseconds of the
// values beside it, stored in the same commit.
//
//   +-----------+-----------+-- --+----------------------+----------------------+-- --+-------+
//   | counter 0 | counter 1 | ... | what else of 0, if   | what else of 1, if   | ... | stamp |
//   +-----------+-----------+-- --+----------------------+----------------------+-- --+-------+
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "meterbank/base/guid.hpp"

namespace meterbank {

// A string of the schema: offset from SchemaHeader, bytes of UTF-8.
struct TextRef {
  std::uint32_t offset;  //  0
  std::uint32_t bytes;   //  4
};
static_assert(offsetof(TextRef, offset) == 0);
static_assert(offsetof(TextRef, bytes) == 4);

enum class InstanceKind : std::uint32_t {  // values of Windows' PERF_COUNTERSET_... constants
  kSingle = 0,
  kMultiple = 2,
  kGlobalAggregate = 4,
  kMultipleAggregate = 6,
  kGlobalAggregateHistory = 12,
};

// A kind may be a number that another process wrote.
[[nodiscard]] constexpr bool is_known(InstanceKind kind) noexcept {
  switch (kind) {
    case InstanceKind::kSingle:
    case InstanceKind::kMultiple:
    case InstanceKind::kGlobalAggregate:
    case InstanceKind::kMultipleAggregate:
    case InstanceKind::kGlobalAggregateHistory:
      return true;
  }
  return false;
}

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

// What tells the live instances of one registration apart. Means something where they have names.
enum class InstanceIdentity : std::uint32_t {
  kUnique = 0,     // a name belongs to one instance, and so does an id
  kNameAndId = 1,  // both together do, as on Windows: names and ids may repeat
};

// CounterRecord::aggregate: what a reader makes of several rows. Values of PERF_AGGREGATE_...
inline constexpr std::uint32_t kAggregateUndefined = 0;  // no row is made
inline constexpr std::uint32_t kAggregateSum = 1;
inline constexpr std::uint32_t kAggregateAverage = 2;
inline constexpr std::uint32_t kAggregateMinimum = 3;
inline constexpr std::uint32_t kAggregateMaximum = 4;

// What the words of a counter are.
enum class ValueForm : std::uint32_t {
  kUnsigned = 0,
  kSigned = 1,        // two's complement
  kReal = 2,          // the bits of a double
  kText = 3,          // bytes of UTF-8, then the text
  kDistribution = 4,  // distribution.hpp
};

// CounterRecord::flags
inline constexpr std::uint32_t kCounterTimed = 1;      // one more word: when it was set, see below
inline constexpr std::uint32_t kCounterAnyThread = 2;  // added to atomically, by several threads

inline constexpr std::uint32_t kTextBytesMax = 256;  // of a text as a value
inline constexpr std::uint32_t kBucketsMax = 2048;   // of one distribution

// SchemaHeader::flags
inline constexpr std::uint32_t kSchemaStamped = 1;
inline constexpr std::uint32_t kSchemaNameAndId = 2;  // InstanceIdentity::kNameAndId; since 1.1

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
  std::uint32_t flags;          // 80  kSchema...
  std::uint32_t reserved[3];    // 84  zero
};
static_assert(offsetof(SchemaHeader, bytes) == 0);
static_assert(offsetof(SchemaHeader, counters) == 4);
static_assert(offsetof(SchemaHeader, counter_bytes) == 8);
static_assert(offsetof(SchemaHeader, instances) == 12);
static_assert(offsetof(SchemaHeader, guid) == 16);
static_assert(offsetof(SchemaHeader, provider_guid) == 32);
static_assert(offsetof(SchemaHeader, name) == 48);
static_assert(offsetof(SchemaHeader, symbol) == 56);
static_assert(offsetof(SchemaHeader, help) == 64);
static_assert(offsetof(SchemaHeader, label) == 72);
static_assert(offsetof(SchemaHeader, flags) == 80);
static_assert(offsetof(SchemaHeader, reserved) == 84);
static_assert(sizeof(SchemaHeader) == 96);
static_assert(std::is_trivially_copyable_v<SchemaHeader>);
static_assert(std::has_unique_object_representations_v<SchemaHeader>);

struct CounterRecord {
  std::uint32_t id;           //  0  unique in the set; gaps are normal
  std::uint32_t type;         //  4  Windows counter type, 32 bits that describe themselves
  std::uint64_t attributes;   //  8
  std::int32_t scale;         // 16  shown value = value * 10^scale, -10..10
  std::uint32_t detail;       // 20  100 standard, 200 advanced
  std::uint32_t base;         // 24  id of the base counter, or kNoCounter
  std::uint32_t time;         // 28  id of the object clock
  std::uint32_t frequency;    // 32  id of the object clock's frequency
  std::uint32_t multi;        // 36  id of the component count
  std::uint32_t aggregate;    // 40  kAggregate...
  ValueForm form;             // 44
  TextRef name;               // 48  "% Processor Time", may be empty for bases
  TextRef symbol;             // 56  "processor_time"
  TextRef unit;               // 64  UCUM code: "s", "By", "{order}"
  TextRef help;               // 72
  std::uint32_t more_words;   // 80  behind the words of all counters
  std::uint32_t flags;        // 84  kCounter...; timed: CLOCK_MONOTONIC_COARSE nanoseconds
  std::int32_t bucket_scale;  // 88  of a distribution
  std::int32_t bucket_first;  // 92  index of its first bucket
};
static_assert(offsetof(CounterRecord, id) == 0);
static_assert(offsetof(CounterRecord, type) == 4);
static_assert(offsetof(CounterRecord, attributes) == 8);
static_assert(offsetof(CounterRecord, scale) == 16);
static_assert(offsetof(CounterRecord, detail) == 20);
static_assert(offsetof(CounterRecord, base) == 24);
static_assert(offsetof(CounterRecord, time) == 28);
static_assert(offsetof(CounterRecord, frequency) == 32);
static_assert(offsetof(CounterRecord, multi) == 36);
static_assert(offsetof(CounterRecord, aggregate) == 40);
static_assert(offsetof(CounterRecord, form) == 44);
static_assert(offsetof(CounterRecord, name) == 48);
static_assert(offsetof(CounterRecord, symbol) == 56);
static_assert(offsetof(CounterRecord, unit) == 64);
static_assert(offsetof(CounterRecord, help) == 72);
static_assert(offsetof(CounterRecord, more_words) == 80);
static_assert(offsetof(CounterRecord, flags) == 84);
static_assert(offsetof(CounterRecord, bucket_scale) == 88);
static_assert(offsetof(CounterRecord, bucket_first) == 92);
static_assert(sizeof(CounterRecord) == 96);
static_assert(std::is_trivially_copyable_v<CounterRecord>);
static_assert(std::has_unique_object_representations_v<CounterRecord>);

}  // namespace meterbank
