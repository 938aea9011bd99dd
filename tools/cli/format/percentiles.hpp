// SPDX-License-Identifier: Apache-2.0
//
// Percentiles of distributions: as they are typed, named and found.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/base/result.hpp"
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

// To within the distribution's error bound. 0 and 100 are the least and the greatest value itself
// where these are known. Nothing: there are no values.
[[nodiscard]] std::optional<double> value_at(const Distribution& distribution,
                                             const Percentile& percentile) noexcept;

}  // namespace meterbank::cli
