// SPDX-License-Identifier: Apache-2.0
//
// A terminal taken over for a while, through ncurses: it knows what each kind of terminal
// understands, and sends only what changed. Keys and the mouse are read here, because ncurses would
// hold back bytes that poll() is waited for.
//
// Threads   One. Only one at a time in a process.
// Signals   SIGTSTP and SIGCONT are caught while it lives; all that their handlers do is to
// remember
//           it and to send SIGWINCH, which a Waiter waits for. See stop_if_asked().
// Locale    LC_CTYPE is set to UTF-8 where the terminal shows it, because ncurses needs that for
//           characters beyond ASCII. No other category is touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/session/console.hpp"
#include "cli/watch/draw/cells.hpp"
#include "cli/watch/draw/drawing.hpp"
#include "cli/watch/terminal/keys.hpp"
#include "meterbank/base/result.hpp"

namespace meterbank::cli {

class Screen {
 public:
  struct Options {
    bool color = false;
    bool mouse = true;
    int in = 0;   // a terminal that keys come from, or anything else
    int out = 1;  // descriptors stay the caller's
  };

  // Takes the terminal of `console` over: its alternate screen, no cursor, keys as they are
  // pressed. Undone by the destructor.
  // Errors: kNotFound, TERM names no terminal that is known, or one that cannot place text;
  // kSystem, this program was built without ncurses.
  static Result<std::unique_ptr<Screen>> open(Console& console, const Options& options);
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;
  ~Screen();

  struct Size {
    std::size_t width, height;
  };
  // 80x24 of a terminal that does not say.
  [[nodiscard]] Size size() const;
  [[nodiscard]] DrawingStyle style() const;

  // Shows a grid of any size. False if the terminal is gone.
  bool draw(const Grid& grid);
  // Ctrl-Z or a signal asks this program to stop: it gives the screen back, stops, and takes the
  // screen again when it goes on. Returns true if that, or a SIGCONT, happened: all has to be
  // drawn.
  bool stop_if_asked();

  // Where keys come from, or -1.
  [[nodiscard]] int input() const noexcept;
  // Whether read_keys() would find any.
  [[nodiscard]] bool has_input() const noexcept;
  // Keys that are there now. The end of the input closes it.
  [[nodiscard]] std::vector<KeyPress> read_keys();
  // The beginning of a sequence was read: read_keys() has to be called after KeyReader::kRestMs,
  // also if nothing comes.
  [[nodiscard]] bool awaits_rest() const noexcept;

  struct State;

 private:
  explicit Screen(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace meterbank::cli
