// SPDX-License-Identifier: Apache-2.0
//
// Which key is which message. The help (draw/help_cells.cpp) says the same to people.
#pragma once

#include <optional>

#include "cli/watch/draw/drawing.hpp"
#include "cli/watch/terminal/keys.hpp"
#include "view/navigator.hpp"

namespace meterbank::cli {

// Nothing: the key has no meaning on these screens, or it is one of the mouse.
[[nodiscard]] std::optional<view::Message> message_of(const KeyPress& press);

// Tells the navigator what was pressed: a message, a character of what is typed, or what of
// `drawing` was pointed at. `is_second_click`: the same cell was clicked just before.
[[nodiscard]] view::Request handle_press(const KeyPress& press, bool is_second_click,
                                         const Drawing& drawing, view::Navigator& navigator);

}  // namespace meterbank::cli
