// SPDX-License-Identifier: Apache-2.0
//
// Where something stands in a manifest, and what was said there.
#pragma once

#include <compare>
#include <cstdint>
#include <utility>

namespace meterbank::generator {

// Both count from 1, columns in bytes as editors and compilers do. Line 0: nowhere, it was not
// said.
struct Place {
  std::uint32_t line = 0;
  std::uint32_t column = 0;

  [[nodiscard]] constexpr bool is_known() const noexcept { return line != 0; }
  friend constexpr auto operator<=>(const Place&, const Place&) = default;
};

// A value of a manifest and its place. One that was not said has its default, and no place.
template <typename T>
struct Placed {
  T value{};
  Place place{};

  [[nodiscard]] bool is_said() const noexcept { return place.is_known(); }
};

}  // namespace meterbank::generator
