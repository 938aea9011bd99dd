// SPDX-License-Identifier: Apache-2.0
//
// The columns of Process V2 and Process, in the order of both manifests.
#pragma once

#include <time.h>

#include <array>

#include "host/sets/sets.hpp"

namespace meterbank::host {

// The clock that start times are given in: it counts through suspends.
inline std::uint64_t boot_clock_100ns() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 10'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 100;
}

// `C` are the counters of one of the two sets. They have the same names in both, but for the number
// of the process.
template <typename C>
constexpr auto process_columns_of(C process_id) noexcept {
  using F = ProcessField;
  using V = ProcessReading;
  return std::array{
      Column<V>{C::kProcessorTime, bit(F::kUser100ns) | bit(F::kSystem100ns),
                [](const V& values, const Moment&) {
                  return values.values.get(F::kUser100ns) + values.values.get(F::kSystem100ns);
                }},
      plain<F::kUser100ns, V>(C::kUserTime),
      plain<F::kSystem100ns, V>(C::kPrivilegedTime),
      plain<F::kVirtualBytes, V>(C::kVirtualBytes),
      plain<F::kVirtualPeakBytes, V>(C::kVirtualBytesPeak),
      plain<F::kResidentBytes, V>(C::kWorkingSet),
      plain<F::kResidentPeakBytes, V>(C::kWorkingSetPeak),
      plain<F::kResidentPrivateBytes, V>(C::kWorkingSetPrivate),
      plain<F::kSwapBytes, V>(C::kPageFileBytes),
      plain<F::kPageFaults, V>(C::kPageFaults),
      plain<F::kMajorPageFaults, V>(C::kPageReads),
      plain<F::kThreads, V>(C::kThreadCount),
      Column<V>{C::kPrivateBytes, bit(F::kPrivateDataBytes) | bit(F::kPrivateStackBytes),
                [](const V& values, const Moment&) {
                  return values.values.get(F::kPrivateDataBytes) +
                         values.values.get(F::kPrivateStackBytes);
                }},
      Column<V>{process_id, 0,
                [](const V& values, const Moment&) { return std::uint64_t{values.pid}; }},
      plain<F::kParentPid, V>(C::kCreatingProcessId),
      plain<F::kStartedAfterBoot100ns, V>(C::kElapsedTime),
      Column<V>{C::kElapsedTimeTime, bit(F::kStartedAfterBoot100ns),
                [](const V&, const Moment&) { return boot_clock_100ns(); }},
      Column<V>{C::kElapsedTimeFrequency, bit(F::kStartedAfterBoot100ns),
                [](const V&, const Moment&) { return std::uint64_t{10'000'000}; }},
  };
}

}  // namespace meterbank::host
