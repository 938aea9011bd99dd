// SPDX-License-Identifier: Apache-2.0
//
// What holds for every Counterset of a catalog, wherever its description came from. Queries and
// cooking rely on it.
#pragma once

#include <cstdint>

#include "meterbank/base/result.hpp"
#include "meterbank/reader/catalog.hpp"

namespace meterbank {

inline constexpr std::int32_t kDisplayScaleMax = 10;  // and its negative

// As DistributionShape::of() makes them: of doubles.
[[nodiscard]] bool is_sound(const DistributionShape& shape) noexcept;

// Of a set that another library has decoded, from a file perhaps. Errors: kCorrupt.
[[nodiscard]] Result<void> check_counterset(const Counterset& set);

}  // namespace meterbank
