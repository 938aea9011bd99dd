// SPDX-License-Identifier: Apache-2.0
//
// A screen as a grid of cells, before a terminal shows it. Drawing code fills it; nothing here
// knows a terminal, so a test prints it as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {

inline constexpr std::int16_t kNoColor = -1;  // the terminal's own

struct Look {
  std::int16_t color = kNoColor;  // of 256
  std::int16_t behind = kNoColor;
  bool bold = false;
  bool faint = false;
  bool reverse = false;

  friend bool operator==(const Look&, const Look&) = default;
};

struct GridCell {
  std::string text = " ";  // one character with its marks; empty: the right half of a wide one
  Look look;

  friend bool operator==(const GridCell&, const GridCell&) = default;
};

class Grid {
 public:
  Grid(std::size_t width, std::size_t height, Charset charset);

  [[nodiscard]] std::size_t width() const noexcept { return width_; }
  [[nodiscard]] std::size_t height() const noexcept { return height_; }
  [[nodiscard]] Charset charset() const noexcept { return charset_; }
  [[nodiscard]] bool is_ascii() const noexcept { return charset_ == Charset::kAscii; }
  // Precondition: inside the grid.
  [[nodiscard]] const GridCell& at(std::size_t x, std::size_t y) const {
    return cells_[y * width_ + x];
  }

  // Text as the grid shows it: clean, and of ASCII where the grid is. Widths are measured on this.
  [[nodiscard]] std::string shown(std::string_view text) const;

  // Puts text that is a result of shown() or fit() into at most `room` cells; what does not fit,
  // or lies outside the grid, is cut. Returns the cells that it took.
  std::size_t put(std::size_t x, std::size_t y, std::string_view text, Look look,
                  std::size_t room = SIZE_MAX);
  // The same for drawing characters, which pass no gate: `text` is one cell wide.
  void draw(std::size_t x, std::size_t y, std::string_view text, Look look);
  // Gives cells another look, and leaves their text.
  void paint(std::size_t x, std::size_t y, std::size_t cells, Look look);

  // Lines without spaces at their ends.
  [[nodiscard]] std::string text() const;
  // One letter a cell: '.' plain, 'B' bold, 'f' faint, 'R' reverse, 'c' coloured.
  [[nodiscard]] std::string looks() const;

 private:
  void set(std::size_t x, std::size_t y, std::string_view text, Look look);

  std::size_t width_, height_;
  Charset charset_;
  std::vector<GridCell> cells_;
};

}  // namespace meterbank::cli
