// SPDX-License-Identifier: Apache-2.0
//
// The columns with which Processor and Processor Information begin, in the order of both manifests.
#pragma once

#include <array>

#include "host/sets/sets.hpp"

namespace meterbank::host {

// `C` are the counters of one of the two sets, which have the same names in both.
template <typename C>
constexpr auto processor_columns_of() noexcept {
  using F = CpuField;
  using V = CpuValues;
  return std::array{
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
  };
}

}  // namespace meterbank::host
