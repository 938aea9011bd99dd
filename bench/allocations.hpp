// SPDX-License-Identifier: Apache-2.0
//
// This program counts what it allocates, so that a row can show that a loop allocates nothing.
#pragma once

#include <cstdint>

namespace meterbank::bench {

// By the calling thread, through operator new, since it started.
[[nodiscard]] std::uint64_t allocations_made() noexcept;

}  // namespace meterbank::bench
