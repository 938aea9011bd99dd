// SPDX-License-Identifier: Apache-2.0
//
// Structs that begin with their size, from callers that know an older or a newer version of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "meterbank/border/refusal.hpp"

namespace meterbank::border {

// No struct of any version is larger; a larger size was never set.
inline constexpr std::uint32_t kStructBytesMax = 4096;

// The struct that the caller gave, with the members of `defaults` where it has none.
// `first_bytes`: the size of its first version, less than which no caller can have.
// Errors: MB_INVALID_ARGUMENT.
template <typename Struct>
[[nodiscard]] Outcome<Struct> take_versioned(const Struct* given, const Struct& defaults,
                                             std::size_t first_bytes, std::string_view name) {
  static_assert(std::is_trivially_copyable_v<Struct> && std::is_standard_layout_v<Struct>);
  static_assert(offsetof(Struct, size) == 0 && sizeof(Struct::size) == sizeof(std::uint32_t));
  if (given == nullptr) {
    return refuse(MB_INVALID_ARGUMENT, std::string(name) + " is NULL", "pass the struct");
  }
  std::uint32_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size < first_bytes || size > kStructBytesMax) {
    return refuse(
        MB_INVALID_ARGUMENT,
        std::string(name) + ": size is " + std::to_string(size) + ", not that of any version",
        "begin with the initialiser of the struct");
  }
  const auto* const bytes = reinterpret_cast<const std::byte*>(given);
  const bool has_unknown =
      std::any_of(bytes + std::min<std::size_t>(size, sizeof(Struct)), bytes + size,
                  [](std::byte byte) { return byte != std::byte{0}; });
  if (has_unknown) {
    return refuse(MB_INVALID_ARGUMENT,
                  std::string(name) + ": has members that this library does not know",
                  "update libmeterbank, or leave the newer members zero");
  }
  Struct taken = defaults;
  std::memcpy(&taken, given, std::min<std::size_t>(size, sizeof taken));
  taken.size = sizeof taken;
  return taken;
}

}  // namespace meterbank::border
