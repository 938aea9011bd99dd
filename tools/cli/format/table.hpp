// SPDX-License-Identifier: Apache-2.0
//
// Columns for people: widths in terminal cells, text cleaned of anything a terminal would obey.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace meterbank::cli {

// Cells that a terminal gives to `text`: none for combining marks, two for wide East Asian
// characters and emoji. Expects printable text.
[[nodiscard]] std::size_t display_width(std::string_view text) noexcept;

// Cuts to `width` cells, with "…" as the last one if anything was cut, and fills with spaces.
[[nodiscard]] std::string fit(std::string_view text, std::size_t width);

// Lines of at most `width` cells, broken between words, the further ones behind `indent` spaces. A
// longer word keeps its length.
[[nodiscard]] std::string wrap(std::string_view text, std::size_t width, std::size_t indent);

enum class Align : std::uint8_t { kLeft, kRight };

struct Column {
  std::string heading;
  Align align = Align::kLeft;
  std::size_t width_min = 0;  // what later rows may need, so that they stay below earlier ones
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // Lines of at most `columns` cells; 0: of any length. The last column gives way: it is cut, or
  // goes on in further lines below itself.
  enum class Overflow : std::uint8_t { kCut, kWrap };
  void limit(std::size_t columns, Overflow overflow) noexcept {
    limit_ = columns;
    overflow_ = overflow;
  }

  // Missing cells are empty. Cells may hold foreign text.
  void add(std::vector<std::string> cells);
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
  // That were added and not taken.
  [[nodiscard]] std::size_t rows() const noexcept { return rows_.size(); }

  // Lines with two spaces between columns and none at the end. Widths only grow from one call to
  // the next, so a table that is printed piece by piece stays straight.
  [[nodiscard]] std::string headings();
  [[nodiscard]] std::string take_rows();

 private:
  void measure();
  [[nodiscard]] std::string line(const std::vector<std::string>& cells) const;
  [[nodiscard]] std::string last_cell(const std::string& cell, std::size_t begin) const;

  std::vector<Column> columns_;
  std::size_t limit_ = 0;
  Overflow overflow_ = Overflow::kCut;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace meterbank::cli
