// SPDX-License-Identifier: Apache-2.0
//
// What all parts of a drawing share: how it may look, where it goes, and what of it can be clicked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/format/quantity.hpp"
#include "cli/watch/draw/cells.hpp"
#include "view/picture.hpp"

namespace meterbank::cli {

struct DrawingStyle {
  Charset charset = Charset::kUtf8;
  unsigned colors = 0;  // 0, 8 or 256
  bool has_braille = true;
  UnitStyle units = UnitStyle::kAuto;  // of plots, heat maps and histograms

  [[nodiscard]] bool is_ascii() const noexcept { return charset == Charset::kAscii; }
  // Of a character and its replacement.
  [[nodiscard]] std::string_view pick(std::string_view utf8,
                                      std::string_view ascii) const noexcept {
    return is_ascii() ? ascii : utf8;
  }
};

struct Rect {
  std::size_t x = 0, y = 0, width = 0, height = 0;
};

struct Target {
  enum class Kind : std::uint8_t { kLine, kHeading, kTime, kBack, kOverview };
  Kind kind = Kind::kLine;
  Rect rect;
  std::size_t section = 0;
  std::size_t index = 0;                // of the line among all of the section, or of the column
  std::vector<std::uint64_t> times_ns;  // kTime: one a cell; 0: there is none
};

struct Drawing {
  Grid grid;
  std::size_t lines = 0;  // room of the chosen section
  std::vector<Target> targets;
  std::size_t help_next = 0;  // the key with which the help goes on; 0: all of the rest is shown

  // The last that was drawn at a place; null: nothing there means anything.
  [[nodiscard]] const Target* target_at(std::size_t x, std::size_t y) const noexcept;
};

inline constexpr Look kBoldLook{.bold = true};
inline constexpr Look kFaintLook{.faint = true};
// Colours of 256 that 8 colours have as well.
inline constexpr std::int16_t kRed = 1, kGreen = 2, kYellow = 3, kBlue = 4, kMagenta = 5, kCyan = 6;

// Colour never carries meaning alone: the text of such a cell says the same.
[[nodiscard]] Look look_of(view::Mood mood, const DrawingStyle& style) noexcept;
[[nodiscard]] Look colored(std::int16_t color, const DrawingStyle& style) noexcept;

// A title in bold, words behind it, and a rule up to the edge.
void draw_title(Grid& grid, const Rect& rect, std::string_view title, std::string_view words,
                const DrawingStyle& style);

}  // namespace meterbank::cli
