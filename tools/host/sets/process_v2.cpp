// SPDX-License-Identifier: Apache-2.0
#include <time.h>

#include <array>

#include "host/sets/sets.hpp"

namespace meterbank::host {
namespace {

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
    Column<V>{{.id = 1,
               .name = "% Processor Time",
               .symbol = "processor_time",
               .type = CounterType::kTimer100Ns,
               .unit = "s",
               .help = "Processor time of all threads; 100 % is one processor."},
              bit(F::kUser100ns) | bit(F::kSystem100ns),
              [](const V& values, const Moment&) {
                return values.values.get(F::kUser100ns) + values.values.get(F::kSystem100ns);
              }},
    Column<V>{{.id = 2,
               .name = "% User Time",
               .symbol = "user_time",
               .type = CounterType::kTimer100Ns,
               .unit = "s",
               .help = "Processor time in user mode."},
              bit(F::kUser100ns),
              [](const V& values, const Moment&) { return values.values.get(F::kUser100ns); }},
    Column<V>{{.id = 3,
               .name = "% Privileged Time",
               .symbol = "privileged_time",
               .type = CounterType::kTimer100Ns,
               .unit = "s",
               .help = "Processor time in the kernel."},
              bit(F::kSystem100ns),
              [](const V& values, const Moment&) { return values.values.get(F::kSystem100ns); }},
    Column<V>{{.id = 4,
               .name = "Virtual Bytes",
               .symbol = "virtual_bytes",
               .type = CounterType::kLargeRawCount,
               .unit = "By",
               .help = "Address space in use."},
              bit(F::kVirtualBytes),
              [](const V& values, const Moment&) { return values.values.get(F::kVirtualBytes); }},
    Column<V>{
        {.id = 5,
         .name = "Virtual Bytes Peak",
         .symbol = "virtual_bytes_peak",
         .type = CounterType::kLargeRawCount,
         .unit = "By",
         .help = "Most address space ever in use; 0 for what has none."},
        bit(F::kVirtualPeakBytes),
        [](const V& values, const Moment&) { return values.values.get(F::kVirtualPeakBytes); }},
    Column<V>{{.id = 6,
               .name = "Working Set",
               .symbol = "working_set",
               .type = CounterType::kLargeRawCount,
               .unit = "By",
               .help = "Memory resident."},
              bit(F::kResidentBytes),
              [](const V& values, const Moment&) { return values.values.get(F::kResidentBytes); }},
    Column<V>{
        {.id = 7,
         .name = "Working Set Peak",
         .symbol = "working_set_peak",
         .type = CounterType::kLargeRawCount,
         .unit = "By",
         .help = "Most memory ever resident; 0 for what has none."},
        bit(F::kResidentPeakBytes),
        [](const V& values, const Moment&) { return values.values.get(F::kResidentPeakBytes); }},
    Column<V>{
        {.id = 8,
         .name = "Working Set - Private",
         .symbol = "working_set_private",
         .type = CounterType::kLargeRawCount,
         .unit = "By",
         .help = "Resident memory that no file backs."},
        bit(F::kResidentPrivateBytes),
        [](const V& values, const Moment&) { return values.values.get(F::kResidentPrivateBytes); }},
    Column<V>{{.id = 9,
               .name = "Page File Bytes",
               .symbol = "page_file_bytes",
               .type = CounterType::kLargeRawCount,
               .unit = "By",
               .help = "Memory in swap."},
              bit(F::kSwapBytes),
              [](const V& values, const Moment&) { return values.values.get(F::kSwapBytes); }},
    Column<V>{{.id = 10,
               .name = "Page Faults/sec",
               .symbol = "page_faults",
               .type = CounterType::kBulkCount,
               .unit = "{fault}",
               .help = "All page faults."},
              bit(F::kPageFaults),
              [](const V& values, const Moment&) { return values.values.get(F::kPageFaults); }},
    Column<V>{
        {.id = 11,
         .name = "Page Reads/sec",
         .symbol = "page_reads",
         .type = CounterType::kBulkCount,
         .unit = "{fault}",
         .help = "Page faults that waited for a device."},
        bit(F::kMajorPageFaults),
        [](const V& values, const Moment&) { return values.values.get(F::kMajorPageFaults); }},
    Column<V>{{.id = 12,
               .name = "Thread Count",
               .symbol = "thread_count",
               .type = CounterType::kRawCount,
               .unit = "{thread}",
               .help = "Threads."},
              bit(F::kThreads),
              [](const V& values, const Moment&) { return values.values.get(F::kThreads); }},
    Column<V>{{.id = 14,
               .name = "Process ID",
               .symbol = "process_id",
               .type = CounterType::kRawCount,
               .help = "The number of the process."},
              0,
              [](const V& values, const Moment&) { return std::uint64_t{values.pid}; }},
    Column<V>{{.id = 15,
               .name = "Creating Process ID",
               .symbol = "creating_process_id",
               .type = CounterType::kRawCount,
               .help = "The number of its parent."},
              bit(F::kParentPid),
              [](const V& values, const Moment&) { return values.values.get(F::kParentPid); }},
    Column<V>{{.id = 16,
               .name = "Elapsed Time",
               .symbol = "elapsed_time",
               .type = CounterType::kElapsedTime,
               .unit = "s",
               .help = "Time since the process started.",
               .time = 40,
               .frequency = 41},
              bit(F::kStartedAfterBoot100ns),
              [](const V& values, const Moment&) {
                return values.values.get(F::kStartedAfterBoot100ns);
              }},
    Column<V>{{.id = 40, .type = CounterType::kLargeRawBase},
              bit(F::kStartedAfterBoot100ns),
              [](const V&, const Moment&) { return boot_clock_100ns(); }},
    Column<V>{{.id = 41, .type = CounterType::kLargeRawBase},
              bit(F::kStartedAfterBoot100ns),
              [](const V&, const Moment&) { return std::uint64_t{10'000'000}; }},
};

constexpr std::array kIoColumns{
    Column<V>{{.id = 13,
               .name = "Handle Count",
               .symbol = "handle_count",
               .type = CounterType::kRawCount,
               .unit = "{descriptor}",
               .help = "Open file descriptors."},
              bit(F::kHandles),
              [](const V& values, const Moment&) { return values.values.get(F::kHandles); }},
    Column<V>{{.id = 17,
               .name = "IO Read Operations/sec",
               .symbol = "io_read_operations",
               .type = CounterType::kBulkCount,
               .unit = "{call}",
               .help = "Read calls on anything."},
              bit(F::kReadOperations),
              [](const V& values, const Moment&) { return values.values.get(F::kReadOperations); }},
    Column<V>{
        {.id = 18,
         .name = "IO Write Operations/sec",
         .symbol = "io_write_operations",
         .type = CounterType::kBulkCount,
         .unit = "{call}",
         .help = "Write calls on anything."},
        bit(F::kWriteOperations),
        [](const V& values, const Moment&) { return values.values.get(F::kWriteOperations); }},
    Column<V>{{.id = 19,
               .name = "IO Read Bytes/sec",
               .symbol = "io_read_bytes",
               .type = CounterType::kBulkCount,
               .unit = "By",
               .help = "Bytes moved by read calls."},
              bit(F::kReadBytes),
              [](const V& values, const Moment&) { return values.values.get(F::kReadBytes); }},
    Column<V>{{.id = 20,
               .name = "IO Write Bytes/sec",
               .symbol = "io_write_bytes",
               .type = CounterType::kBulkCount,
               .unit = "By",
               .help = "Bytes moved by write calls."},
              bit(F::kWriteBytes),
              [](const V& values, const Moment&) { return values.values.get(F::kWriteBytes); }},
    Column<V>{
        {.id = 21,
         .name = "Storage Read Bytes/sec",
         .symbol = "storage_read_bytes",
         .type = CounterType::kBulkCount,
         .unit = "By",
         .help = "Bytes fetched from block devices."},
        bit(F::kStorageReadBytes),
        [](const V& values, const Moment&) { return values.values.get(F::kStorageReadBytes); }},
    Column<V>{
        {.id = 22,
         .name = "Storage Write Bytes/sec",
         .symbol = "storage_write_bytes",
         .type = CounterType::kBulkCount,
         .unit = "By",
         .help = "Bytes sent to block devices."},
        bit(F::kStorageWriteBytes),
        [](const V& values, const Moment&) { return values.values.get(F::kStorageWriteBytes); }},
};

constexpr CountersetSpec kSet{
    .name = "Process V2",
    .symbol = "process_v2",
    .help = "Processes; names are name:pid, and a number used again is a new instance.",
    .label = "process",
    .guid = "{e1f4a3b2-6d0c-4a5e-b3c7-9f8d2a1b5c05}"_guid,
    .many = true,
    .checkpoint = false};

// A set of its own, because an instance has all counters of its set or does not exist: what a
// process reads, writes and holds open is shown to its user and to root only.
constexpr CountersetSpec kIoSet{
    .name = "Process IO",
    .symbol = "process_io",
    .help = "Input and output of the processes whose numbers may be seen; names are name:pid.",
    .label = "process",
    .guid = "{3d8f52c7-5b0a-4f0e-9d35-6a1c0e7b4407}"_guid,
    .many = true,
    .checkpoint = false};

}  // namespace

const CountersetSpec& process_set() noexcept { return kSet; }
std::span<const Column<ProcessReading>> process_columns() noexcept { return kColumns; }
const CountersetSpec& process_io_set() noexcept { return kIoSet; }
std::span<const Column<ProcessReading>> process_io_columns() noexcept { return kIoColumns; }

}  // namespace meterbank::host
