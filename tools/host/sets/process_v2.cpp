// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "host.hpp"
#include "host/sets/process_columns.hpp"
#include "host/sets/sets.hpp"

namespace meterbank::host {
namespace process_v2 {

using I = host_counters::ProcessIoCounter;
using F = ProcessField;
using V = ProcessReading;

constexpr auto kColumns = process_columns_of(host_counters::ProcessV2Counter::kProcessId);
static_assert(is_whole(kColumns, host_counters::kProcessV2Set));

constexpr std::array kIoColumns{
    plain<F::kHandles, V>(I::kHandleCount),
    plain<F::kReadOperations, V>(I::kIoReadOperations),
    plain<F::kWriteOperations, V>(I::kIoWriteOperations),
    plain<F::kReadBytes, V>(I::kIoReadBytes),
    plain<F::kWriteBytes, V>(I::kIoWriteBytes),
    plain<F::kStorageReadBytes, V>(I::kStorageReadBytes),
    plain<F::kStorageWriteBytes, V>(I::kStorageWriteBytes),
    Column<V>{I::kIoDataOperations, bit(F::kReadOperations) | bit(F::kWriteOperations),
              [](const V& values, const Moment&) {
                return values.values.get(F::kReadOperations) +
                       values.values.get(F::kWriteOperations);
              }},
    Column<V>{I::kIoDataBytes, bit(F::kReadBytes) | bit(F::kWriteBytes),
              [](const V& values, const Moment&) {
                return values.values.get(F::kReadBytes) + values.values.get(F::kWriteBytes);
              }},
};
static_assert(is_whole(kIoColumns, host_counters::kProcessIoSet));

}  // namespace process_v2

const CountersetSpec& process_v2_set() noexcept { return host_counters::kProcessV2Set; }
std::span<const Column<ProcessReading>> process_v2_columns() noexcept {
  return process_v2::kColumns;
}
const CountersetSpec& process_io_set() noexcept { return host_counters::kProcessIoSet; }
std::span<const Column<ProcessReading>> process_io_columns() noexcept {
  return process_v2::kIoColumns;
}

}  // namespace meterbank::host
