// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "host/sets/processor_columns.hpp"
#include "host/sets/sets.hpp"
#include "processor_information.hpp"

namespace meterbank::host {
namespace processor_information {

using C = processor_counters::ProcessorInformationCounter;
using F = CpuField;
using V = CpuValues;

std::uint64_t percent(std::uint64_t khz, const V& values) {
  const std::uint64_t maximum = values.get(F::kFrequencyMaximumKhz);
  return maximum == 0 ? 0 : khz * 100 / maximum;
}

constexpr std::uint64_t kWork = bit(F::kWork100ns) | bit(F::kPrivilegedWork100ns);
constexpr std::uint64_t kMillisecond100ns = 10'000;

// The bases of these have 32 bits, which milliseconds fill in 49 days and units of 100 ns in seven
// minutes.
template <CpuField kField>
std::uint64_t percent_milliseconds(const V& values, const Moment&) {
  return values.get(kField) / (kMillisecond100ns / 100);
}

constexpr std::array kFurtherColumns{
    Column<V>{C::kProcessorFrequency, bit(F::kFrequencyKhz),
              [](const V& values, const Moment&) { return values.get(F::kFrequencyKhz) / 1000; }},
    Column<V>{C::kPercentOfMaximumFrequency, bit(F::kFrequencyKhz) | bit(F::kFrequencyMaximumKhz),
              [](const V& values, const Moment&) {
                return percent(values.get(F::kFrequencyKhz), values);
              }},
    plain<F::kClockInterrupts, V>(C::kClockInterrupts),
    plain<F::kIdleEntries, V>(C::kIdleBreakEvents),
    Column<V>{C::kProcessorPerformance, kWork, percent_milliseconds<F::kWork100ns>},
    Column<V>{
        C::kProcessorPerformanceBase, kWork,
        [](const V& values, const Moment&) { return busy_100ns(values) / kMillisecond100ns; }},
    Column<V>{C::kProcessorUtility, kWork, percent_milliseconds<F::kWork100ns>},
    Column<V>{C::kProcessorUtilityBase, kWork,
              [](const V&, const Moment& moment) { return moment.monotonic_ns / 1'000'000; }},
    Column<V>{C::kPrivilegedUtility, kWork, percent_milliseconds<F::kPrivilegedWork100ns>},
    Column<V>{C::kPerformanceLimit, bit(F::kFrequencyLimitKhz) | bit(F::kFrequencyMaximumKhz),
              [](const V& values, const Moment&) {
                return percent(values.get(F::kFrequencyLimitKhz), values);
              }},
    plain<F::kSteal100ns, V>(C::kStealTime),
    plain<F::kIowait100ns, V>(C::kIowaitTime),
    plain<F::kNice100ns, V>(C::kNiceTime),
};
constexpr auto kColumns = joined(processor_columns_of<C>(), kFurtherColumns);
static_assert(is_whole(kColumns, processor_counters::kProcessorInformationSet));

}  // namespace processor_information

const CountersetSpec& processor_information_set() noexcept {
  return processor_counters::kProcessorInformationSet;
}
std::span<const Column<CpuValues>> processor_information_columns() noexcept {
  return processor_information::kColumns;
}

}  // namespace meterbank::host
