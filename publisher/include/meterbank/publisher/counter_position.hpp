// SPDX-License-Identifier: Apache-2.0
//
// How callers name a counter: by its position in the schema.
#pragma once

#include <cstdint>
#include <type_traits>

namespace meterbank {

// A position; an enum class of the positions reads best.
template <typename T>
concept CounterName = std::is_enum_v<T> || std::is_integral_v<T>;

// No schema has a counter here, so every function ignores it.
inline constexpr std::uint32_t kNoPosition = 0xffffffff;

// The position that `name` stands for. A value that 32 bits cannot hold is kNoPosition, never the
// position that its low bits happen to be. A negative value is outside of every schema, too.
template <CounterName C>
[[nodiscard]] constexpr std::uint32_t position_of(C name) noexcept {
  if constexpr (sizeof(C) > sizeof(std::uint32_t)) {
    return static_cast<std::uint64_t>(name) < kNoPosition ? static_cast<std::uint32_t>(name)
                                                          : kNoPosition;
  } else {
    return static_cast<std::uint32_t>(name);
  }
}
static_assert(position_of(std::uint64_t{0x1'0000'0001}) == kNoPosition);
static_assert(position_of(std::int64_t{-1}) == kNoPosition);
static_assert(position_of(std::int8_t{-1}) == kNoPosition);

}  // namespace meterbank
