// SPDX-License-Identifier: Apache-2.0
//
// The blocks that cross the PerfLib interface, byte by byte. <perflib.h> has the same structs under
// their Windows names; code that must not drag those names in uses these.
//
//   result        ResultHeader, then one block for each identifier of the query, by its index
//   block         BlockHeader, then by its shape
//     kError              nothing
//     kSingleCounter      value
//     kMultipleCounters   columns, one value a column
//     kMultipleInstances  rows; a row is RowHeader, name, one value
//     kCounterset         columns, rows; a row has one value a column
//   columns       ColumnsHeader, ids, zeros up to a multiple of 8
//   rows          RowsHeader, rows
//   value         ValueHeader, bytes, zeros up to a multiple of 8
//
// Everything is little-endian, begins at a multiple of 8 from the start of the result, and is
// padded with zeros. Names end with a NUL; a character has two bytes (UTF-16) or four, as the
// program's wchar_t has.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "meterbank/base/guid.hpp"
#include "meterbank/windows/wide_text.hpp"

namespace meterbank {

static_assert(std::endian::native == std::endian::little);

enum class BlockShape : std::uint32_t {
  kError = 0,
  kSingleCounter = 1,
  kMultipleCounters = 2,
  kMultipleInstances = 4,
  kCounterset = 6,
};

inline constexpr std::uint32_t kEveryCounter = 0xffffffff;   // as a counter id: all of the set
inline constexpr std::uint32_t kEveryInstance = 0xffffffff;  // as an instance id: no filter
inline constexpr std::uint32_t kNoString = 0xffffffff;       // StringRef::offset
inline constexpr std::size_t kResultBytesMax = std::size_t{1} << 30;
inline constexpr std::size_t kIdentifierBytesMax = std::size_t{64} << 20;
inline constexpr std::size_t kInstanceNameMax = 1023;  // characters, without the NUL

struct ResultHeader {
  std::uint32_t bytes;                       //  0  of the whole result
  std::uint32_t blocks;                      //  4
  std::int64_t counter_ticks;                //  8  high-resolution clock
  std::int64_t time_100ns;                   // 16  since 1601-01-01 UTC
  std::int64_t ticks_per_second;             // 24
  std::array<std::uint16_t, 8> system_time;  // 32  year, month, day of week, day, h, m, s, ms
};

struct BlockHeader {
  std::uint32_t status;    //  0
  BlockShape shape;        //  4
  std::uint32_t bytes;     //  8  with this header; a multiple of 8
  std::uint32_t reserved;  // 12
};

struct ColumnsHeader {
  std::uint32_t bytes;  //  0  with this header, the ids and the padding
  std::uint32_t count;  //  4
};

struct RowsHeader {
  std::uint32_t bytes;  //  0  with this header and all rows
  std::uint32_t count;  //  4
};

struct RowHeader {
  std::uint32_t bytes;  //  0  with this header, the name and the padding; not the values
  std::uint32_t id;     //  4
};

struct ValueHeader {
  std::uint32_t value_bytes;  //  0  4 or 8; 0 where there is no value
  std::uint32_t bytes;        //  4  with this header and the padding; at least 16
};

// One item of a query, followed by the name pattern.
struct IdentifierHeader {
  Guid set;                //  0
  std::uint32_t status;    // 16  written back
  std::uint32_t bytes;     // 20  with the name and the padding; a multiple of 8
  std::uint32_t counter;   // 24  an id, or kEveryCounter
  std::uint32_t instance;  // 28  an id, or kEveryInstance
  std::uint32_t index;     // 32  position of the block in the result
  std::uint32_t reserved;  // 36
};

struct SetDescription {
  Guid set;                 //  0
  std::uint32_t type;       // 16  zero
  std::uint32_t detail;     // 20
  std::uint32_t counters;   // 24
  std::uint32_t instances;  // 28  InstanceKind
};

struct CounterDescription {
  std::uint32_t id;          //  0
  std::uint32_t type;        //  4
  std::uint64_t attributes;  //  8
  std::uint32_t detail;      // 16
  std::int32_t scale;        // 20
  std::uint32_t base;        // 24  ids of linked counters, kEveryCounter where there is none
  std::uint32_t time;        // 28
  std::uint32_t frequency;   // 32
  std::uint32_t multi;       // 36
  std::uint32_t aggregate;   // 40
  std::uint32_t reserved;    // 44
};

struct StringsHeader {
  std::uint32_t bytes;  //  0  of the whole block
  std::uint32_t count;  //  4
};
struct StringRef {
  std::uint32_t counter;  //  0
  std::uint32_t offset;   //  4  from the start of the block, or kNoString
};

static_assert(sizeof(ResultHeader) == 48 && offsetof(ResultHeader, system_time) == 32);
static_assert(sizeof(BlockHeader) == 16 && offsetof(BlockHeader, bytes) == 8);
static_assert(sizeof(ColumnsHeader) == 8 && sizeof(RowsHeader) == 8 && sizeof(RowHeader) == 8);
static_assert(sizeof(ValueHeader) == 8 && sizeof(StringsHeader) == 8 && sizeof(StringRef) == 8);
static_assert(sizeof(IdentifierHeader) == 40 && offsetof(IdentifierHeader, counter) == 24);
static_assert(sizeof(SetDescription) == 32 && offsetof(SetDescription, instances) == 28);
static_assert(sizeof(CounterDescription) == 48 && offsetof(CounterDescription, detail) == 16);
static_assert(std::has_unique_object_representations_v<ResultHeader>);
static_assert(std::has_unique_object_representations_v<CounterDescription>);

[[nodiscard]] constexpr std::size_t padded(std::size_t bytes) noexcept {
  return (bytes + 7) / 8 * 8;
}

}  // namespace meterbank
