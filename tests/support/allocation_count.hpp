// SPDX-License-Identifier: Apache-2.0
//
// A program that links meterbank_allocation_count counts its allocations, so that a test or a
// benchmark can show that a stretch of code makes none.
#pragma once

#include <cstddef>

namespace meterbank::test {

// By the calling thread, through operator new, since it started.
[[nodiscard]] std::size_t allocations_made() noexcept;

}  // namespace meterbank::test
