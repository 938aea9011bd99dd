// SPDX-License-Identifier: Apache-2.0
//
// A program that links allocation_count.cpp counts its allocations, so that a test can show that
// a stretch of code makes none.
#pragma once

#include <cstddef>

namespace meterbank::host {

// By the calling thread, through operator new, since it started.
[[nodiscard]] std::size_t allocations_made() noexcept;

}  // namespace meterbank::host
