// SPDX-License-Identifier: Apache-2.0
//
// Percentiles of distributions: as they are typed, named and found.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "meterbank/base/result.hpp"
#include "meterbank/reader/sample.hpp"
#include "meterbank/shm/distribution.hpp"

namespace meterbank::cli {

inline constexpr std::string_view kUsualPercentiles = "50,99,99.9";
inline constexpr std::size_t kPercentilesMax = 32;

struct Percentile {
  double percent = 0;  // 0..100
  double share = 0;    // a hundredth of it, rounded once: 99.9 is 0.999
};
using Percentiles = std::vector<Percentile>;

// "50,99,99.9", or "none". Errors are usage errors about option -p.
[[nodiscard]] Result<Percentiles> parse_percentiles(std::string_view text);

// "99.9"
[[nodiscard]] std::string percent_text(const Percentile& percentile);

// Where a percentile of this status lies.
[[nodiscard]] constexpr Quantile::Side side_of(CookStatus status) noexcept {
  if (status == CookStatus::kBelowRange) return Quantile::Side::kBelow;
  return status == CookStatus::kAboveRange ? Quantile::Side::kAbove : Quantile::Side::kWithin;
}

// What is printed in front of a value that is only the end of the buckets: "> ".
[[nodiscard]] std::string_view sign_of(Quantile::Side side, bool ascii) noexcept;

}  // namespace meterbank::cli
