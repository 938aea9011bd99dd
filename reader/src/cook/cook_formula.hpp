// SPDX-License-Identifier: Apache-2.0
//
// Which formula a counter type has. Rows of a table, so that a golden test can walk it.
#pragma once

#include <cstdint>
#include <span>

#include "meterbank/shm/counter_type.hpp"

namespace meterbank {

// N, B, T: value, base and time; d: newer minus older.
enum class Formula : std::uint8_t {
  kNone,            // not for itself
  kValue,           // N
  kDelta,           // dN
  kRate,            // dN / dT in seconds
  kQueue,           // dN / dT
  kPercent,         // 100 dN / dT
  kPercentInverse,  // 100 (1 - dN / dT)
  kMulti,           // 100 (dN / dT) / components
  kMultiInverse,    // 100 (1 - (dN / dT) / components)
  kPercentOfBase,   // 100 dN / dB
  kRawPercent,      // 100 N / B
  kAverage,         // dN / dB
  kAverageTime,     // (dN in seconds) / dB
  kElapsed,         // (object time - N) in seconds
};

inline constexpr double kTicksPerSecond = 1e9;  // the performance clock counts nanoseconds

enum class Clock : std::uint8_t { kNone, kPerformance, k100Ns, kObject };

struct TypeRow {
  CounterType type;
  Formula formula;
  Clock clock;
  std::uint32_t base_bytes;  // usual width of the base; 0: has none
};

[[nodiscard]] std::span<const TypeRow> type_rows() noexcept;
// Null: the type has no row.
[[nodiscard]] const TypeRow* type_row_of(CounterType type) noexcept;

}  // namespace meterbank
