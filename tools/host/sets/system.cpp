// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "host.hpp"
#include "host/sets/sets.hpp"

namespace meterbank::host {
namespace system {

using C = host_counters::SystemCounter;
using F = SystemField;
using V = SystemValues;

constexpr std::array kColumns{
    plain<F::kContextSwitches, V>(C::kContextSwitches),
    plain<F::kInterrupts, V>(C::kInterrupts),
    plain<F::kSoftirqs, V>(C::kSoftInterrupts),
    plain<F::kForks, V>(C::kForks),
    plain<F::kProcesses, V>(C::kProcesses),
    plain<F::kThreads, V>(C::kThreads),
    plain<F::kRunnable, V>(C::kProcessorQueueLength),
    plain<F::kBlocked, V>(C::kBlockedThreads),
    Column<V>{C::kSystemUpTime, bit(F::kBootUnix100ns) | bit(F::kUptime100ns),
              field<F::kBootUnix100ns, V>},
    Column<V>{C::kSystemUpTimeTime, bit(F::kBootUnix100ns) | bit(F::kUptime100ns),
              [](const V& values, const Moment&) {
                return values.get(F::kBootUnix100ns) + values.get(F::kUptime100ns);
              }},
    Column<V>{C::kSystemUpTimeFrequency, bit(F::kBootUnix100ns) | bit(F::kUptime100ns),
              [](const V&, const Moment&) { return std::uint64_t{10'000'000}; }},
    plain<F::kLoad1Hundredths, V>(C::kLoad1m),
    plain<F::kLoad5Hundredths, V>(C::kLoad5m),
    plain<F::kLoad15Hundredths, V>(C::kLoad15m),
};
static_assert(is_whole(kColumns, host_counters::kSystemSet));

using O = host_counters::ObjectsCounter;

constexpr std::array kObjectColumns{
    plain<F::kProcesses, V>(O::kProcesses),
    plain<F::kThreads, V>(O::kThreads),
};
static_assert(is_whole(kObjectColumns, host_counters::kObjectsSet));

}  // namespace system

const CountersetSpec& system_set() noexcept { return host_counters::kSystemSet; }
std::span<const Column<SystemValues>> system_columns() noexcept { return system::kColumns; }
const CountersetSpec& objects_set() noexcept { return host_counters::kObjectsSet; }
std::span<const Column<SystemValues>> objects_columns() noexcept { return system::kObjectColumns; }

}  // namespace meterbank::host
