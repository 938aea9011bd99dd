// SPDX-License-Identifier: Apache-2.0
//
// Whether the blocks of a sharded set belong to processors.
#pragma once

#include <cstddef>

#include "meterbank/shm/atomics.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank::detail {

// Shards::rseq of a registration of this form: rseq_area() if there is a block for each processor
// and commits are small enough, else 0.
[[nodiscard]] std::ptrdiff_t area_for_processors(const BlockForm& form, bool by_processor) noexcept;

// Makes up the second half of a commit on a processor, which has only the first; the version stays.
// Thread safety: no other thread may write to the block until it sees this call's stores.
void settle(const BlockWriter<StdAtomics>& writer) noexcept;

}  // namespace meterbank::detail
