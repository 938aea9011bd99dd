// SPDX-License-Identifier: Apache-2.0
//
// The 32-bit counter types of Windows performance counters (winperf.h). The bits say width, kind,
// time base and display, so a reader classifies even a type it has no formula for.
#pragma once

#include <cstdint>
#include <string_view>

namespace meterbank {

enum class CounterType : std::uint32_t {
  kRawCountHex = 0x00000000,
  kLargeRawCountHex = 0x00000100,
  kRawCount = 0x00010000,
  kLargeRawCount = 0x00010100,
  kDelta = 0x00400400,
  kLargeDelta = 0x00400500,
  kCounter = 0x10410400,    // a rate of a 32-bit count
  kBulkCount = 0x10410500,  // a rate of a 64-bit count
  kSampleCounter = 0x00410400,
  kQueueLength = 0x00450400,
  kLargeQueueLength = 0x00450500,
  kQueueLength100Ns = 0x00550500,
  kQueueLengthObject = 0x00650500,
  kTimer = 0x20410500,
  kTimerInverse = 0x21410500,
  kTimer100Ns = 0x20510500,
  kTimer100NsInverse = 0x21510500,
  kTimerObject = 0x20610500,
  kPrecisionSystemTimer = 0x20470500,
  kPrecision100NsTimer = 0x20570500,
  kPrecisionObjectTimer = 0x20670500,
  kMultiTimer = 0x22410500,
  kMultiTimerInverse = 0x23410500,
  kMultiTimer100Ns = 0x22510500,
  kMultiTimer100NsInverse = 0x23510500,
  kSampleFraction = 0x20c20400,
  kRawFraction = 0x20020400,
  kLargeRawFraction = 0x20020500,
  kAverageTimer = 0x30020400,
  kAverageBulk = 0x40020500,
  kElapsedTime = 0x30240500,
  kNoData = 0x40000200,
  kText = 0x00000b00,
  // Windows' schema of manifests has the name, and no header a code or a formula. These bits say
  // what a reader has to know: eight bytes, a number, not to be shown.
  kComposite = 0x40010100,
  kSampleBase = 0x40030401,
  kAverageBase = 0x40030402,
  kRawBase = 0x40030403,
  kLargeRawBase = 0x40030500,  // also the time stamp of precision timers
  kMultiBase = 0x42030500,
};

constexpr std::uint32_t bits_of(CounterType type) noexcept {
  return static_cast<std::uint32_t>(type);
}

// Bytes of the raw value: 4, 8, or 0 for a type without a number.
constexpr std::uint32_t width_of(CounterType type) noexcept {
  switch (bits_of(type) & 0x300) {
    case 0x000:
      return 4;
    case 0x100:
      return 8;
    default:
      return 0;
  }
}

// A denominator or other counter that exists for its neighbours only. AVERAGE_BULK carries the
// "do not show" bits too, yet every tool shows it, so the kind decides, not the display bits.
constexpr bool is_base(CounterType type) noexcept {
  return (bits_of(type) & 0xc00) == 0x400 && (bits_of(type) & 0x000f0000) == 0x00030000;
}

// Grows by what is added to it. The others are set: gauges, elapsed times, raw fractions and what
// stands beside them.
constexpr bool is_count(CounterType type) noexcept {
  switch (type) {
    case CounterType::kRawFraction:
    case CounterType::kLargeRawFraction:
    case CounterType::kElapsedTime:
    case CounterType::kRawBase:
    case CounterType::kLargeRawBase:
    case CounterType::kMultiBase:
      return false;
    default:
      return (bits_of(type) & 0xc00) == 0x400;
  }
}

// What a display appends: "/sec", "%", "secs" or nothing.
constexpr std::string_view suffix_of(CounterType type) noexcept {
  switch (bits_of(type) >> 28) {
    case 1:
      return "/sec";
    case 2:
      return "%";
    case 3:
      return "secs";
    default:
      return "";
  }
}

// "perf_100nsec_timer_inv", the manifest's spelling; empty for an unknown type.
[[nodiscard]] std::string_view name_of(CounterType type) noexcept;

}  // namespace meterbank
