// SPDX-License-Identifier: Apache-2.0
//
// Where something stands in a manifest, and what was said there.
#pragma once

#include <utility>

#include "syntax/place.hpp"
#include "syntax/problems.hpp"

namespace meterbank::generator {

using syntax::Place;
using syntax::Problem;
using syntax::Problems;

// A value of a manifest and its place. One that was not said has its default, and no place.
template <typename T>
struct Placed {
  T value{};
  Place place{};

  [[nodiscard]] bool is_said() const noexcept { return place.is_known(); }
};

}  // namespace meterbank::generator
