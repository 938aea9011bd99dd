// SPDX-License-Identifier: Apache-2.0
//
// Screens over a selection, on a terminal or printed.
#pragma once

#include "cli/invocation.hpp"
#include "cli/session/selection.hpp"
#include "cli/session/waiter.hpp"
#include "view/place.hpp"

namespace meterbank::cli {

// Where the options want to begin.
[[nodiscard]] view::Place first_place(const Invocation& invocation, const Selection& selection);

// Screens until the person quits; rows where this terminal cannot show screens. Returns the exit
// code.
int show_screens(const Invocation& invocation, const view::Place& place, Selection& selection,
                 Waiter& waiter, Console& console);

// Pictures as text, or with -f json as objects, one a line.
int print_screens(const Invocation& invocation, const view::Place& place, Selection& selection,
                  Waiter& waiter, Console& console);

}  // namespace meterbank::cli
