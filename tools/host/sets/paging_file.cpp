// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "host.hpp"
#include "host/sets/sets.hpp"

namespace meterbank::host {
namespace paging_file {

using C = host_counters::PagingFileCounter;
using F = PagingField;
using V = PagingValues;

constexpr std::array kColumns{
    Column<V>{C::kUsage, bit(F::kUsedBytes) | bit(F::kSizeBytes), field<F::kUsedBytes, V>},
    Column<V>{C::kUsageBase, bit(F::kUsedBytes) | bit(F::kSizeBytes), field<F::kSizeBytes, V>},
};
static_assert(is_whole(kColumns, host_counters::kPagingFileSet));

}  // namespace paging_file

const CountersetSpec& paging_file_set() noexcept { return host_counters::kPagingFileSet; }
std::span<const Column<PagingValues>> paging_file_columns() noexcept {
  return paging_file::kColumns;
}

}  // namespace meterbank::host
