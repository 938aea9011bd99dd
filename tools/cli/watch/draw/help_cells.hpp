// SPDX-License-Identifier: Apache-2.0
//
// What keys do, as a page and in one line.
#pragma once

#include "cli/watch/draw/drawing.hpp"

namespace meterbank::cli {

// The keys from number `first` on, in as many columns as fit. Returns how many come behind them.
[[nodiscard]] std::size_t draw_help(Grid& grid, const Rect& rect, std::size_t first);
[[nodiscard]] std::size_t keys_of_help() noexcept;
// The most wanted keys, as many as fit.
void draw_keys(Grid& grid, const Rect& rect);

}  // namespace meterbank::cli
