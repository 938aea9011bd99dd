// SPDX-License-Identifier: Apache-2.0
//
// In place of screen.cpp, where ncurses was not there to build with.
#include "cli/watch/terminal/screen.hpp"

namespace meterbank::cli {

struct Screen::State {};

Result<std::unique_ptr<Screen>> Screen::open(Console&, const Options&) {
  return fail(ErrorCode::kSystem, "this program was built without ncurses",
              "building it where libncurses-dev is installed");
}

Screen::Screen(std::unique_ptr<State> state) : state_(std::move(state)) {}
Screen::~Screen() = default;
Screen::Size Screen::size() const { return {80, 24}; }
DrawingStyle Screen::style() const { return {}; }
bool Screen::draw(const Grid&) { return false; }
bool Screen::stop_if_asked() { return false; }
int Screen::input() const noexcept { return -1; }
bool Screen::has_input() const noexcept { return false; }
bool Screen::awaits_rest() const noexcept { return false; }
std::vector<KeyPress> Screen::read_keys() { return {}; }

}  // namespace meterbank::cli
