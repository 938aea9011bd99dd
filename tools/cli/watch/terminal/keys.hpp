// SPDX-License-Identifier: Apache-2.0
//
// What a terminal sends when keys or a mouse are pressed, taken apart. Nothing here needs a
// terminal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace meterbank::cli {

enum class Key : std::uint8_t {
  kCharacter,
  kUp,
  kDown,
  kLeft,
  kRight,
  kPageUp,
  kPageDown,
  kHome,
  kEnd,
  kTab,
  kEnter,
  kEscape,
  kBackspace,
  kHelp,   // F1
  kClick,  // the left button went down
  kWheelUp,
  kWheelDown,
  kUnknown,
};
struct KeyPress {
  Key key = Key::kUnknown;
  std::string text;          // of kCharacter: one code point
  std::size_t x = 0, y = 0;  // of the mouse: the cell, from 0
};

struct KeySequence {
  std::string bytes;
  Key key;
};

// Takes apart all that was typed. What a terminal of its own kind sends for a key stands in
// `special`; what nearly all terminals send is known here.
[[nodiscard]] std::vector<KeyPress> parse_keys(std::string_view bytes,
                                               const std::vector<KeySequence>& special = {});

// Keeps the beginning of a sequence for the read that brings the rest of it, as over a slow line.
class KeyReader {
 public:
  // A sequence that has not ended by then was never one: Escape was pressed.
  static constexpr int kRestMs = 50;

  explicit KeyReader(std::vector<KeySequence> special = {}) : special_(std::move(special)) {}
  [[nodiscard]] std::vector<KeyPress> feed(std::string_view bytes);
  // kRestMs have passed, and nothing came.
  [[nodiscard]] std::vector<KeyPress> give_up_waiting();
  [[nodiscard]] bool is_waiting() const noexcept { return !kept_.empty(); }

 private:
  std::vector<KeySequence> special_;
  std::string kept_;
};

}  // namespace meterbank::cli
