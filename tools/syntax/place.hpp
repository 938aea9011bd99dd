// SPDX-License-Identifier: Apache-2.0
//
// A position in a file.
#pragma once

#include <compare>
#include <cstdint>

namespace meterbank::syntax {

// Both count from 1, columns in bytes as editors and compilers do. Line 0: not in the file.
struct Place {
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  [[nodiscard]] constexpr bool is_known() const noexcept { return line != 0; }
  friend constexpr auto operator<=>(const Place&, const Place&) = default;
};

}  // namespace meterbank::syntax
