// SPDX-License-Identifier: Apache-2.0
//
// Columns for people: widths in terminal cells, text cleaned of anything a terminal would obey.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {

// Cells that a terminal gives to `text`: none for combining marks, two for wide East Asian
// characters and emoji. Expects printable text.
[[nodiscard]] std::size_t display_width(std::string_view text) noexcept;

// Cuts cleaned text to `width` cells, with "…" as the last one if anything was cut, and fills with
// spaces. Never cuts an escape in two, or marks off their character.
[[nodiscard]] std::string fit(std::string_view text, std::size_t width);

// Cleaned text in lines of at most `width` cells, broken between words, the further ones behind
// `indent` spaces. A word that is longer than a line is broken.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

enum class Align : std::uint8_t { kLeft, kRight };

struct Column {
  std::string heading;
  Align align = Align::kLeft;
  std::size_t width_min = 0;  // what later rows may need, so that they stay below earlier ones
  std::size_t width_max = std::numeric_limits<std::size_t>::max();  // wider cells are cut
};

class Table {
 public:
  explicit Table(std::vector<Column> columns, Charset charset = Charset::kUtf8)
      : columns_(std::move(columns)), charset_(charset) {}

  // Lines of at most `columns` cells; 0: of any length. The last column gives way: it is cut, or
  // goes on in further lines below itself. Where that is not enough, the widest columns of text are
  // cut, to kTextCellsMin or their width_min at the least; in a terminal that is narrower still,
  // lines are too long.
  static constexpr std::size_t kTextCellsMin = 8;
  static constexpr std::size_t kNumberCells = 20;  // of a column that holds numbers, too
  enum class Overflow : std::uint8_t { kCut, kWrap };
  void limit(std::size_t columns, Overflow overflow) noexcept {
    limit_ = columns;
    overflow_ = overflow;
  }

  // Missing cells are empty. Cells may hold foreign text.
  void add(std::vector<std::string> cells);
  // Cells are messages, in which foreign text is cleaned already.
  void add_messages(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
  // That were added and not taken.
  [[nodiscard]] std::size_t rows() const noexcept { return rows_.size(); }

  // Lines with two spaces between columns and none at the end. Widths only grow from one call to
  // the next, so a table that is printed piece by piece stays straight.
  [[nodiscard]] std::string headings();
  [[nodiscard]] std::string take_rows();

 private:
  void add_cleaned(std::vector<std::string> cells);
  void measure();
  void share_room();
  [[nodiscard]] std::size_t widest_that_gives_way(Align align) const;
  [[nodiscard]] std::string line(const std::vector<std::string>& cells) const;
  [[nodiscard]] std::string last_cell(const std::string& cell, std::size_t begin) const;

  std::vector<Column> columns_;
  std::size_t limit_ = 0;
  Overflow overflow_ = Overflow::kCut;
  Charset charset_;
  std::vector<std::size_t> widths_wanted_;
  std::vector<std::size_t> widths_;  // no more than there is room for
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace meterbank::cli
