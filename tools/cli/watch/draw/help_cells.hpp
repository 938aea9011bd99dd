// SPDX-License-Identifier: Apache-2.0
//
// What keys do, as a page and in one line.
#pragma once

#include "cli/watch/draw/drawing.hpp"
#include "view/place.hpp"

namespace meterbank::cli {

struct HelpPart {
  std::size_t next = 0;  // the first key that comes behind what is shown
  std::size_t left = 0;  // how many come there
};
// The keys from number `first` on, in as many columns as fit.
[[nodiscard]] HelpPart draw_help(Grid& grid, const Rect& rect, std::size_t first);
// The most wanted keys of those that have an effect on that screen, as many as fit.
void draw_keys(Grid& grid, const Rect& rect, view::Screen screen);

}  // namespace meterbank::cli
