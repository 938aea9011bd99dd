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
[[nodiscard]] std::ptrdiff_t area_for_processors(const BlockForm& form) noexcept;

// Makes up the second half of a commit on a processor, which has only the first; the version stays.
// Company: nobody else writes to the block, nor will until this is seen.
void settle(const BlockWriter<StdAtomics>& writer) noexcept;

}  // namespace meterbank::detail
