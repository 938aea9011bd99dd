// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "host/sets/sets.hpp"
#include "processor_information.hpp"

namespace meterbank::host {
namespace {

using C = processor_counters::ProcessorInformationCounter;
using F = CpuField;
using V = CpuValues;

std::uint64_t percent(std::uint64_t khz, const V& values) {
  const std::uint64_t maximum = values.get(F::kFrequencyMaximumKhz);
  return maximum == 0 ? 0 : khz * 100 / maximum;
}

constexpr std::array kColumns{
    Column<V>{C::kProcessorTime, bit(F::kIdle100ns),
              [](const V& values, const Moment&) { return idle_100ns(values); }},
    Column<V>{C::kUserTime, bit(F::kUser100ns),
              [](const V& values, const Moment&) { return user_100ns(values); }},
    Column<V>{C::kPrivilegedTime, bit(F::kSystem100ns),
              [](const V& values, const Moment&) { return privileged_100ns(values); }},
    plain<F::kInterrupts, V>(C::kInterrupts),
    plain<F::kSoftirq100ns, V>(C::kDpcTime),
    plain<F::kIrq100ns, V>(C::kInterruptTime),
    plain<F::kSoftirqs, V>(C::kDpcsQueued),
    Column<V>{C::kIdleTime, bit(F::kIdle100ns),
              [](const V& values, const Moment&) { return idle_100ns(values); }},
    plain<F::kC1Time100ns, V>(C::kC1Time),
    plain<F::kC2Time100ns, V>(C::kC2Time),
    plain<F::kC3Time100ns, V>(C::kC3Time),
    plain<F::kC1Entries, V>(C::kC1Transitions),
    plain<F::kC2Entries, V>(C::kC2Transitions),
    plain<F::kC3Entries, V>(C::kC3Transitions),
    Column<V>{C::kProcessorFrequency, bit(F::kFrequencyKhz),
              [](const V& values, const Moment&) { return values.get(F::kFrequencyKhz) / 1000; }},
    Column<V>{C::kPercentOfMaximumFrequency, bit(F::kFrequencyKhz) | bit(F::kFrequencyMaximumKhz),
              [](const V& values, const Moment&) {
                return percent(values.get(F::kFrequencyKhz), values);
              }},
    plain<F::kClockInterrupts, V>(C::kClockInterrupts),
    plain<F::kIdleEntries, V>(C::kIdleBreakEvents),
    Column<V>{C::kPerformanceLimit, bit(F::kFrequencyLimitKhz) | bit(F::kFrequencyMaximumKhz),
              [](const V& values, const Moment&) {
                return percent(values.get(F::kFrequencyLimitKhz), values);
              }},
    plain<F::kSteal100ns, V>(C::kStealTime),
    plain<F::kIowait100ns, V>(C::kIowaitTime),
    plain<F::kNice100ns, V>(C::kNiceTime),
};
static_assert(is_whole(kColumns, processor_counters::kProcessorInformationSet));

}  // namespace

const CountersetSpec& processor_information() noexcept {
  return processor_counters::kProcessorInformationSet;
}
std::span<const Column<CpuValues>> processor_columns() noexcept { return kColumns; }

}  // namespace meterbank::host
