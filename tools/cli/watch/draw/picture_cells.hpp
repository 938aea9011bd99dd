// SPDX-License-Identifier: Apache-2.0
//
// A picture of the view model, drawn in cells. What does not fit is left out: first the other
// sections, then details, plots and heat maps, in the end columns.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/watch/draw/drawing.hpp"
#include "view/navigator.hpp"
#include "view/picture.hpp"

namespace meterbank::cli {

// What a drawing shows beside the picture.
struct ScreenState {
  std::size_t section = 0;
  std::size_t line = 0;  // of the section
  view::Navigator::Typing typing = view::Navigator::Typing::kNothing;
  std::string typed;
  std::string complaint;
  std::string notice;  // "saved 5 min of history as shop.mbr"; until the next key
  bool shows_help = false;
  std::size_t help_first = 0;  // the first key that is shown of it
  bool shows_details = true;
  std::vector<std::uint64_t> marks;
  std::chrono::nanoseconds interval{};  // between samples
  std::uint64_t missed = 0;             // samples
};
[[nodiscard]] ScreenState state_of(const view::Navigator& navigator);

[[nodiscard]] Drawing draw_picture(const view::Picture& picture, const ScreenState& state,
                                   const DrawingStyle& style, std::size_t width,
                                   std::size_t height);

// How much of a picture fits, to be asked for before it is drawn.
[[nodiscard]] view::Window window_for(view::Window window, std::size_t width, std::size_t height);

}  // namespace meterbank::cli
