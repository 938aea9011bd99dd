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
//   For each plot, of the first recording and then `over`, its times in milliseconds as binary64. A
//   plot whose times equal those of the plot before has none here. Then for each of its curves the
//   low and the high values. They are binary64 if the header calls the curve wide, otherwise
//   binary32. Without high values, they equal the low ones.
//
// With `unfinished`, a later answer has more of the plots. Each column is followed by zeros up to a
// multiple of 8. What there is not is NaN.
[[nodiscard]] std::string series_of(const Shown& shown);

// A server-sent event.
[[nodiscard]] std::string event_of(const char* name, const std::string& json);

}  // namespace meterbank::page
