// SPDX-License-Identifier: Apache-2.0
//
// What copying plain bytes costs: the better of memcpy, which changes to streaming stores for large
// sizes, and a plain loop of 32-byte loads and stores, which does not.
#pragma once

#include <cstddef>
#include <cstdint>

namespace meterbank::bench {

void plain_copy(std::uint64_t* target, const std::uint64_t* source, std::size_t words) noexcept;
void library_copy(std::uint64_t* target, const std::uint64_t* source, std::size_t words) noexcept;

}  // namespace meterbank::bench
