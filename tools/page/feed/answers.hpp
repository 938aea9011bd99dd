// SPDX-License-Identifier: Apache-2.0
//
// Pictures as the bytes that the page gets.
#pragma once

#include <string>

#include "page/feed/scene.hpp"

namespace meterbank::page {

// One JSON object: that of the picture, with the members "over" (the second one) and "shift"
// (milliseconds to add to its times) where there is a second recording.
[[nodiscard]] std::string json_of(const Shown& shown, view::JsonForm form);

// All plots as columns, little-endian, so that the page can use them as they lie:
//
//   "MBS2"   length of the header, 4 bytes   header, JSON, with spaces up to a multiple of 8
//   of each plot: times in milliseconds, binary64, left out if the plot before has the same times;
//   of each curve: low and high values, binary32, or binary64 if the header says that the curve is
//   wide; high is left out if it equals low
//
// Each column is followed by zeros up to a multiple of 8. What there is not is NaN.
[[nodiscard]] std::string series_of(const Shown& shown);

// A server-sent event.
[[nodiscard]] std::string event_of(const char* name, const std::string& json);

}  // namespace meterbank::page
