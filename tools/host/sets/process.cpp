// SPDX-License-Identifier: Apache-2.0
#include "process.hpp"
#include "host/sets/process_columns.hpp"
#include "host/sets/sets.hpp"

namespace meterbank::host {
namespace process {

constexpr auto kColumns = process_columns_of(process_v1_counters::ProcessCounter::kIdProcess);
static_assert(is_whole(kColumns, process_v1_counters::kProcessSet));

}  // namespace process

const CountersetSpec& process_set() noexcept { return process_v1_counters::kProcessSet; }
std::span<const Column<ProcessReading>> process_columns() noexcept { return process::kColumns; }

}  // namespace meterbank::host
