// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "host/sets/disk_columns.hpp"
#include "host/sets/sets.hpp"
#include "logical_disk.hpp"

namespace meterbank::host {
namespace logical_disk {

using C = logical_disk_counters::LogicalDiskCounter;
using F = DiskField;
using V = DiskValues;

constexpr std::array kSpaceColumns{
    Column<V>{C::kFreeSpace, bit(F::kFreeBytes) | bit(F::kUsableBytes), field<F::kFreeBytes, V>},
    Column<V>{C::kFreeSpaceBase, bit(F::kFreeBytes) | bit(F::kUsableBytes),
              field<F::kUsableBytes, V>},
    Column<V>{C::kFreeMegabytes, bit(F::kFreeBytes),
              [](const V& values, const Moment&) { return values.get(F::kFreeBytes) >> 20U; }},
};

constexpr auto kColumns = joined(disk_columns_of<C>(), kSpaceColumns);
static_assert(is_whole(kColumns, logical_disk_counters::kLogicalDiskSet));

}  // namespace logical_disk

const CountersetSpec& logical_disk_set() noexcept { return logical_disk_counters::kLogicalDiskSet; }
std::span<const Column<DiskValues>> logical_disk_columns() noexcept {
  return logical_disk::kColumns;
}

}  // namespace meterbank::host
