// SPDX-License-Identifier: Apache-2.0
//
// Pictures of a made-up shop, and names that are made to break a drawing.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "view/picture.hpp"

namespace meterbank::cli {

// 2026-11-27 09:04:40 UTC
inline constexpr std::uint64_t kMadeTimeNs = 1'795'770'280'000'000'000;

[[nodiscard]] view::Picture overview_of_shop();
[[nodiscard]] view::Picture set_of_shop();
// With a plot, a heat map and a histogram.
[[nodiscard]] view::Picture instance_of_shop();

[[nodiscard]] std::vector<std::pair<std::string, std::string>> odd_names();

}  // namespace meterbank::cli
