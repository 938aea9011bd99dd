// SPDX-License-Identifier: Apache-2.0
#include <time.h>

#include <array>

#include "host.hpp"
#include "host/sets/sets.hpp"

namespace meterbank::host {
namespace {

using C = host_counters::ProcessV2Counter;
using I = host_counters::ProcessIoCounter;
using F = ProcessField;
using V = ProcessReading;

// The clock that start times are given in: it counts through suspends.
std::uint64_t boot_clock_100ns() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 10'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec) / 100;
}

constexpr std::array kColumns{
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
    Column<V>{C::kProcessId, 0,
              [](const V& values, const Moment&) { return std::uint64_t{values.pid}; }},
    plain<F::kParentPid, V>(C::kCreatingProcessId),
    plain<F::kStartedAfterBoot100ns, V>(C::kElapsedTime),
    Column<V>{C::kElapsedTimeTime, bit(F::kStartedAfterBoot100ns),
              [](const V&, const Moment&) { return boot_clock_100ns(); }},
    Column<V>{C::kElapsedTimeFrequency, bit(F::kStartedAfterBoot100ns),
              [](const V&, const Moment&) { return std::uint64_t{10'000'000}; }},
};
static_assert(is_whole(kColumns, host_counters::kProcessV2Set));

constexpr std::array kIoColumns{
    plain<F::kHandles, V>(I::kHandleCount),
    plain<F::kReadOperations, V>(I::kIoReadOperations),
    plain<F::kWriteOperations, V>(I::kIoWriteOperations),
    plain<F::kReadBytes, V>(I::kIoReadBytes),
    plain<F::kWriteBytes, V>(I::kIoWriteBytes),
    plain<F::kStorageReadBytes, V>(I::kStorageReadBytes),
    plain<F::kStorageWriteBytes, V>(I::kStorageWriteBytes),
};
static_assert(is_whole(kIoColumns, host_counters::kProcessIoSet));

}  // namespace

const CountersetSpec& process_set() noexcept { return host_counters::kProcessV2Set; }
std::span<const Column<ProcessReading>> process_columns() noexcept { return kColumns; }
const CountersetSpec& process_io_set() noexcept { return host_counters::kProcessIoSet; }
std::span<const Column<ProcessReading>> process_io_columns() noexcept { return kIoColumns; }

}  // namespace meterbank::host
