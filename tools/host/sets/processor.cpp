// SPDX-License-Identifier: Apache-2.0
#include "processor.hpp"
#include "host/sets/processor_columns.hpp"
#include "host/sets/sets.hpp"

namespace meterbank::host {
namespace processor {

constexpr auto kColumns = processor_columns_of<processor_v1_counters::ProcessorCounter>();
static_assert(is_whole(kColumns, processor_v1_counters::kProcessorSet));

}  // namespace processor

const CountersetSpec& processor_set() noexcept { return processor_v1_counters::kProcessorSet; }
std::span<const Column<CpuValues>> processor_columns() noexcept { return processor::kColumns; }

}  // namespace meterbank::host
