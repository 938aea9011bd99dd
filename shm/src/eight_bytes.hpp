// SPDX-License-Identifier: Apache-2.0
//
// Eight bytes of text, looked at together.
#pragma once

#include <cstdint>

namespace meterbank {

inline constexpr std::uint64_t kEachByte = 0x0101010101010101U;
inline constexpr std::uint64_t kHighBits = kEachByte * 0x80U;

}  // namespace meterbank
