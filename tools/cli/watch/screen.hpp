// SPDX-License-Identifier: Apache-2.0
//
// A terminal taken over for a while. Plain ANSI sequences instead of a curses library: lines are
// drawn whole, so nothing of it would be used, and the program stays free of a locale.
#pragma once

#include <termios.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/session/console.hpp"
#include "cli/watch/live_table.hpp"

namespace meterbank::cli {

enum class Key : std::uint8_t {
  kCharacter,
  kUp,
  kDown,
  kPageUp,
  kPageDown,
  kHome,
  kEnd,
  kEnter,
  kEscape,
  kBackspace,
  kUnknown,
};
struct KeyPress {
  Key key = Key::kUnknown;
  std::string text;  // of kCharacter: one code point
};
// What was typed, taken apart. `bytes` is all that one read returned.
[[nodiscard]] std::vector<KeyPress> parse_keys(std::string_view bytes);

class Screen {
 public:
  // Alternate screen, no cursor, keys as they are pressed. Undone by the destructor.
  Screen(Console& console, bool color);
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen();

  struct Size {
    std::size_t width, height;
  };
  [[nodiscard]] Size size() const;
  // False if the terminal is gone.
  bool draw(const std::vector<ScreenLine>& lines);

  // Where keys come from, or -1.
  [[nodiscard]] int input() const noexcept { return input_; }
  // Whether read_keys() would find any.
  [[nodiscard]] bool has_input() const noexcept;
  // Keys that are there now. The end of the input closes it.
  [[nodiscard]] std::vector<KeyPress> read_keys();

 private:
  Console* console_;
  Paint paint_;
  int input_ = -1;
  termios before_{};
};

}  // namespace meterbank::cli
