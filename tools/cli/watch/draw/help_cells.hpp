// SPDX-License-Identifier: Apache-2.0
//
// What keys do, as a page and in one line.
#pragma once

#include "cli/watch/draw/drawing.hpp"

namespace meterbank::cli {

// All keys, in as many columns as fit. Returns how many there was no room for.
[[nodiscard]] std::size_t draw_help(Grid& grid, const Rect& rect);
// The most wanted keys, as many as fit.
void draw_keys(Grid& grid, const Rect& rect);

}  // namespace meterbank::cli
