// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "host.hpp"
#include "host/sets/sets.hpp"

namespace meterbank::host {
namespace memory {

using C = host_counters::MemoryCounter;
using F = MemoryField;
using V = MemoryValues;

constexpr std::array kColumns{
    plain<F::kAvailableBytes, V>(C::kAvailableBytes),
    plain<F::kTotalBytes, V>(C::kTotalBytes),
    plain<F::kFreeBytes, V>(C::kFreeBytes),
    plain<F::kCachedBytes, V>(C::kCacheBytes),
    plain<F::kBuffersBytes, V>(C::kBufferBytes),
    plain<F::kCommittedBytes, V>(C::kCommittedBytes),
    plain<F::kCommitLimitBytes, V>(C::kCommitLimit),
    Column<V>{C::kCommittedInUse, bit(F::kCommittedBytes) | bit(F::kCommitLimitBytes),
              field<F::kCommittedBytes, V>},
    Column<V>{C::kCommittedInUseBase, bit(F::kCommittedBytes) | bit(F::kCommitLimitBytes),
              field<F::kCommitLimitBytes, V>},
    plain<F::kActiveBytes, V>(C::kActiveBytes),
    plain<F::kInactiveBytes, V>(C::kInactiveBytes),
    plain<F::kDirtyBytes, V>(C::kModifiedPageListBytes),
    plain<F::kWritebackBytes, V>(C::kWritebackBytes),
    plain<F::kAnonymousBytes, V>(C::kAnonymousBytes),
    plain<F::kMappedBytes, V>(C::kMappedBytes),
    plain<F::kSharedBytes, V>(C::kSharedBytes),
    plain<F::kSlabReclaimableBytes, V>(C::kPoolPagedBytes),
    plain<F::kSlabUnreclaimableBytes, V>(C::kPoolNonpagedBytes),
    plain<F::kKernelStackBytes, V>(C::kKernelStackBytes),
    plain<F::kPageTablesBytes, V>(C::kPageTableBytes),
    plain<F::kSwapTotalBytes, V>(C::kSwapTotalBytes),
    plain<F::kSwapFreeBytes, V>(C::kSwapFreeBytes),
    Column<V>{C::kAvailableKbytes, bit(F::kAvailableBytes),
              [](const V& values, const Moment&) { return values.get(F::kAvailableBytes) >> 10U; }},
    Column<V>{C::kAvailableMbytes, bit(F::kAvailableBytes),
              [](const V& values, const Moment&) { return values.get(F::kAvailableBytes) >> 20U; }},
    plain<F::kFreeBytes, V>(C::kFreeAndZeroPageListBytes),
    plain<F::kPageFaults, V>(C::kPageFaults),
    plain<F::kMajorPageFaults, V>(C::kPageReads),
    plain<F::kSwappedInPages, V>(C::kPagesInput),
    plain<F::kSwappedOutPages, V>(C::kPagesOutput),
    plain<F::kPagedInBytes, V>(C::kBlockInputBytes),
    plain<F::kPagedOutBytes, V>(C::kBlockOutputBytes),
    plain<F::kReclaimedPages, V>(C::kPagesReclaimed),
    plain<F::kRefaultedPages, V>(C::kTransitionFaults),
    plain<F::kOomKills, V>(C::kOomKills),
    Column<V>{C::kPages, bit(F::kSwappedInPages) | bit(F::kSwappedOutPages),
              [](const V& values, const Moment&) {
                return values.get(F::kSwappedInPages) + values.get(F::kSwappedOutPages);
              }},
};
static_assert(is_whole(kColumns, host_counters::kMemorySet));

}  // namespace memory

const CountersetSpec& memory_set() noexcept { return host_counters::kMemorySet; }
std::span<const Column<MemoryValues>> memory_columns() noexcept { return memory::kColumns; }

}  // namespace meterbank::host
