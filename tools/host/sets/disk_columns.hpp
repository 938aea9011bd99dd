// SPDX-License-Identifier: Apache-2.0
//
// The columns that PhysicalDisk and LogicalDisk share, in the order of both manifests. A row that
// is a file system without a block device has none of their fields.
#pragma once

#include <array>

#include "host/sets/sets.hpp"

namespace meterbank::host {

// `C` are the counters of one of the two sets, which have the same names in both.
template <typename C>
constexpr auto disk_columns_of() noexcept {
  using F = DiskField;
  using V = DiskValues;
  constexpr std::uint64_t kTransfers = bit(F::kReads) | bit(F::kWrites);
  return std::array{
      plain<F::kReads, V>(C::kDiskReads),
      plain<F::kWrites, V>(C::kDiskWrites),
      Column<V>{C::kDiskTransfers, kTransfers,
                [](const V& values, const Moment&) {
                  return values.get(F::kReads) + values.get(F::kWrites);
                }},
      plain<F::kReadBytes, V>(C::kDiskReadBytes),
      plain<F::kWriteBytes, V>(C::kDiskWriteBytes),
      Column<V>{C::kDiskBytes, bit(F::kReadBytes) | bit(F::kWriteBytes),
                [](const V& values, const Moment&) {
                  return values.get(F::kReadBytes) + values.get(F::kWriteBytes);
                }},
      plain<F::kInFlight, V>(C::kCurrentDiskQueueLength),
      plain<F::kBusyTime100ns, V>(C::kDiskTime),
      Column<V>{C::kIdleTime, bit(F::kBusyTime100ns),
                [](const V& values, const Moment& moment) {
                  const std::uint64_t now = moment.monotonic_ns / 100;
                  const std::uint64_t busy = values.get(F::kBusyTime100ns);
                  return now - busy;
                }},
      plain<F::kQueueTime100ns, V>(C::kAvgDiskQueueLength),
      Column<V>{C::kAvgDiskBytesPerRead, bit(F::kReadBytes) | bit(F::kReads),
                field<F::kReadBytes, V>},
      Column<V>{C::kAvgDiskBytesPerWrite, bit(F::kWriteBytes) | bit(F::kWrites),
                field<F::kWriteBytes, V>},
      Column<V>{C::kAvgDiskSecPerRead, bit(F::kReadTime100ns) | bit(F::kReads),
                [](const V& values, const Moment&) { return values.get(F::kReadTime100ns) * 100; }},
      Column<V>{
          C::kAvgDiskSecPerWrite, bit(F::kWriteTime100ns) | bit(F::kWrites),
          [](const V& values, const Moment&) { return values.get(F::kWriteTime100ns) * 100; }},
      plain<F::kReadsMerged, V>(C::kReadsMerged),
      plain<F::kWritesMerged, V>(C::kWritesMerged),
      plain<F::kDiscards, V>(C::kDiscards),
      plain<F::kFlushes, V>(C::kFlushes),
      Column<V>{C::kAvgDiskBytesPerTransfer, kTransfers | bit(F::kReadBytes) | bit(F::kWriteBytes),
                [](const V& values, const Moment&) {
                  return values.get(F::kReadBytes) + values.get(F::kWriteBytes);
                }},
      Column<V>{C::kAvgDiskSecPerTransfer,
                kTransfers | bit(F::kReadTime100ns) | bit(F::kWriteTime100ns),
                [](const V& values, const Moment&) {
                  return (values.get(F::kReadTime100ns) + values.get(F::kWriteTime100ns)) * 100;
                }},
      Column<V>{C::kDiskReadTime, bit(F::kReadTime100ns) | bit(F::kBusyTime100ns),
                field<F::kReadTime100ns, V>},
      Column<V>{C::kDiskWriteTime, bit(F::kWriteTime100ns) | bit(F::kBusyTime100ns),
                field<F::kWriteTime100ns, V>},
      plain<F::kReadTime100ns, V>(C::kAvgDiskReadQueueLength),
      plain<F::kWriteTime100ns, V>(C::kAvgDiskWriteQueueLength),
      Column<V>{C::kDiskTimeBase, bit(F::kBusyTime100ns),
                [](const V&, const Moment& moment) { return moment.monotonic_ns / 100; }},
      plain<F::kReads, V>(C::kAvgDiskBytesPerReadBase),
      plain<F::kWrites, V>(C::kAvgDiskBytesPerWriteBase),
      Column<V>{C::kAvgDiskBytesPerTransferBase, kTransfers,
                [](const V& values, const Moment&) {
                  return values.get(F::kReads) + values.get(F::kWrites);
                }},
  };
}

}  // namespace meterbank::host
