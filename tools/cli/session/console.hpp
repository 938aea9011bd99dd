// SPDX-License-Identifier: Apache-2.0
//
// Where a command's words go, and what that place can do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "meterbank/base/result.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {

struct Console {
  std::ostream& out;
  std::ostream& err;
  // Set by main() when standard output is a terminal; everywhere else there is none.
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  // Cells in a line of the terminal; 0 where lines may be of any length.
  std::size_t columns = 0;
};

enum class ColorWhen : std::uint8_t { kAuto, kAlways, kNever };

// The flag decides, then NO_COLOR (not empty), then CLICOLOR_FORCE, then the terminal and TERM.
[[nodiscard]] bool wants_color(ColorWhen when, const Console& console);
// A terminal that can place text: not TERM=dumb, and not without TERM.
[[nodiscard]] bool has_screen(const Console& console);

// Of what goes to standard output.
[[nodiscard]] Charset out_charset(const Console& console);

// Colour never carries meaning alone, so everything reads the same without it.
class Paint {
 public:
  explicit Paint(bool on) noexcept : on_(on) {}
  [[nodiscard]] std::string heading(std::string_view text) const { return wrap("\x1b[1m", text); }
  [[nodiscard]] std::string faint(std::string_view text) const { return wrap("\x1b[2m", text); }
  [[nodiscard]] std::string good(std::string_view text) const { return wrap("\x1b[32m", text); }
  [[nodiscard]] std::string bad(std::string_view text) const { return wrap("\x1b[31m", text); }
  [[nodiscard]] std::string selected(std::string_view text) const { return wrap("\x1b[7m", text); }

 private:
  [[nodiscard]] std::string wrap(std::string_view code, std::string_view text) const;
  bool on_;
};

// "what: why [NAME]". The name is one of docs/errors.md, for scripts; usage errors have their exit
// code, and other system errors the text of the system.
[[nodiscard]] std::string named_cause(const Error& error);
// What to try: the error's own remedy, else the usual one for its code.
[[nodiscard]] std::string remedy_of(const Error& error);
// "what: why [NAME]; try: remedy"
[[nodiscard]] std::string named_message(const Error& error);

// A line for people on standard error. Foreign text in it should be cleaned, and is made harmless
// if it is not.
void say(const Console& console, std::string_view line, std::string_view end = "\n");
// "meterbank: what: why; try: remedy"
void complain(const Console& console, std::string_view message);
void complain(const Console& console, const Error& error);

}  // namespace meterbank::cli
