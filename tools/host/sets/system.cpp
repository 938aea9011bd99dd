// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "host/sets/sets.hpp"

namespace meterbank::host {
namespace {

using F = SystemField;
using V = SystemRow;

constexpr std::array kColumns{
    Column<V>{
        {.id = 1,
         .name = "Context Switches/sec",
         .symbol = "context_switches",
         .type = CounterType::kBulkCount,
         .unit = "{switch}",
         .help = "Switches between threads on all processors."},
        bit(F::kContextSwitches),
        [](const V& values, const Moment&) { return values.system->get(F::kContextSwitches); }},
    Column<V>{{.id = 2,
               .name = "Interrupts/sec",
               .symbol = "interrupts",
               .type = CounterType::kBulkCount,
               .unit = "{interrupt}",
               .help = "Hardware interrupts on all processors."},
              bit(F::kInterrupts),
              [](const V& values, const Moment&) { return values.system->get(F::kInterrupts); }},
    Column<V>{{.id = 3,
               .name = "Soft Interrupts/sec",
               .symbol = "soft_interrupts",
               .type = CounterType::kBulkCount,
               .unit = "{interrupt}",
               .help = "Soft interrupts on all processors."},
              bit(F::kSoftirqs),
              [](const V& values, const Moment&) { return values.system->get(F::kSoftirqs); }},
    Column<V>{{.id = 4,
               .name = "Forks/sec",
               .symbol = "forks",
               .type = CounterType::kBulkCount,
               .unit = "{fork}",
               .help = "Processes and threads started."},
              bit(F::kForks),
              [](const V& values, const Moment&) { return values.system->get(F::kForks); }},
    Column<V>{{.id = 5,
               .name = "Processes",
               .symbol = "processes",
               .type = CounterType::kRawCount,
               .unit = "{process}",
               .help = "Processes alive, kernel threads included."},
              0,
              [](const V& values, const Moment&) { return values.processes; }},
    Column<V>{{.id = 6,
               .name = "Threads",
               .symbol = "threads",
               .type = CounterType::kRawCount,
               .unit = "{thread}",
               .help = "Threads alive."},
              bit(F::kThreads),
              [](const V& values, const Moment&) { return values.system->get(F::kThreads); }},
    Column<V>{{.id = 7,
               .name = "Processor Queue Length",
               .symbol = "processor_queue_length",
               .type = CounterType::kRawCount,
               .unit = "{thread}",
               .help = "Threads that run or wait for a processor."},
              bit(F::kRunnable),
              [](const V& values, const Moment&) { return values.system->get(F::kRunnable); }},
    Column<V>{{.id = 8,
               .name = "Blocked Threads",
               .symbol = "blocked_threads",
               .type = CounterType::kRawCount,
               .unit = "{thread}",
               .help = "Threads that wait for a device."},
              bit(F::kBlocked),
              [](const V& values, const Moment&) { return values.system->get(F::kBlocked); }},
    Column<V>{{.id = 9,
               .name = "System Up Time",
               .symbol = "system_up_time",
               .type = CounterType::kElapsedTime,
               .unit = "s",
               .help = "Time since the machine started.",
               .time = 10,
               .frequency = 11},
              bit(F::kBootUnix100ns) | bit(F::kUptime100ns),
              [](const V& values, const Moment&) { return values.system->get(F::kBootUnix100ns); }},
    Column<V>{{.id = 10, .type = CounterType::kLargeRawBase},
              bit(F::kBootUnix100ns) | bit(F::kUptime100ns),
              [](const V& values, const Moment&) {
                return values.system->get(F::kBootUnix100ns) + values.system->get(F::kUptime100ns);
              }},
    Column<V>{{.id = 11, .type = CounterType::kLargeRawBase},
              bit(F::kBootUnix100ns) | bit(F::kUptime100ns),
              [](const V&, const Moment&) { return std::uint64_t{10'000'000}; }},
    Column<V>{
        {.id = 12,
         .name = "Load Average 1m",
         .symbol = "load_1m",
         .type = CounterType::kRawCount,
         .unit = "10*-2",
         .help = "Threads that ran, waited for a processor or slept in the "
                 "kernel, mean over one minute."},
        bit(F::kLoad1Hundredths),
        [](const V& values, const Moment&) { return values.system->get(F::kLoad1Hundredths); }},
    Column<V>{
        {.id = 13,
         .name = "Load Average 5m",
         .symbol = "load_5m",
         .type = CounterType::kRawCount,
         .unit = "10*-2",
         .help = "Threads that ran, waited for a processor or slept in the "
                 "kernel, mean over five minutes."},
        bit(F::kLoad5Hundredths),
        [](const V& values, const Moment&) { return values.system->get(F::kLoad5Hundredths); }},
    Column<V>{
        {.id = 14,
         .name = "Load Average 15m",
         .symbol = "load_15m",
         .type = CounterType::kRawCount,
         .unit = "10*-2",
         .help = "Threads that ran, waited for a processor or slept in the "
                 "kernel, mean over 15 minutes."},
        bit(F::kLoad15Hundredths),
        [](const V& values, const Moment&) { return values.system->get(F::kLoad15Hundredths); }},
};

constexpr CountersetSpec kSet{.name = "System",
                              .symbol = "system",
                              .help = "The machine as a whole.",
                              .guid = "{d3b2a9c4-54f1-4a55-8f1e-6b7a90c7e201}"_guid,
                              .instances = InstanceKind::kSingle};

}  // namespace

const CountersetSpec& system_set() noexcept { return kSet; }
std::span<const Column<SystemRow>> system_columns() noexcept { return kColumns; }

}  // namespace meterbank::host
