// SPDX-License-Identifier: Apache-2.0
#include "host.hpp"
#include "host/sets/disk_columns.hpp"
#include "host/sets/sets.hpp"

namespace meterbank::host {
namespace physical_disk {

constexpr auto kColumns = disk_columns_of<host_counters::PhysicalDiskCounter>();
static_assert(is_whole(kColumns, host_counters::kPhysicalDiskSet));

}  // namespace physical_disk

const CountersetSpec& disk_set() noexcept { return host_counters::kPhysicalDiskSet; }
std::span<const Column<DiskValues>> disk_columns() noexcept { return physical_disk::kColumns; }

}  // namespace meterbank::host
