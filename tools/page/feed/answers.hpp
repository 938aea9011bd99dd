// SPDX-License-Identifier: Apache-2.0
//
// Pictures as the bytes that the page gets.
#pragma once

#include <optional>
#include <string>

#include "page/feed/scene.hpp"

namespace meterbank::page {

// One JSON object: that of the picture, with the members "over" (the second one) and "shift"
// (milliseconds to add to its times) where there is a second recording. `plots_apart`: the plots
// have no columns.
[[nodiscard]] std::string json_of(const Shown& shown, bool plots_apart);

// The same without the moments that `before` had too. "kept" says of each plot, and "heatKept" of
// the heat map, how many moments of the one before are to be dropped and how many of the next to
// be kept; what is here follows them. Nothing: it would spare nothing, or the pictures differ in
// more than that.
[[nodiscard]] std::optional<std::string> tail_json(const Shown& before, const Shown& now);

// All plots as columns of binary64, little-endian, so that the page can use them as they lie:
//
//   "MBS1"   length of the header, 4 bytes   header, JSON, with spaces up to a multiple of 8
//   of each plot: times in milliseconds; of each curve: low, and high unless it is the same
//
// What there is not is NaN.
[[nodiscard]] std::string series_of(const Shown& shown);

// A server-sent event.
[[nodiscard]] std::string event_of(const char* name, const std::string& json);

}  // namespace meterbank::page
