// SPDX-License-Identifier: Apache-2.0
//
// A list of things with properties, in any format: a table for people, records for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/format/row_writer.hpp"
#include "cli/format/table.hpp"

namespace meterbank::cli {

// One property of one thing: what people read, and what programs do.
class Cell {
 public:
  static Cell text(const std::string& both);
  static Cell text(std::string human, std::string machine);
  static Cell number(std::uint64_t value);
  static Cell number(double value, std::string human);
  static Cell absent(std::string human = "-");

  enum class Kind : std::uint8_t { kText, kInteger, kReal, kAbsent };
  Kind kind = Kind::kAbsent;
  std::string human, machine;
  std::uint64_t integer = 0;
  double real = 0;
};

struct Property {
  std::string heading;  // of a table; empty: not shown there
  std::string key;      // of a record; empty: not there
  Align align = Align::kLeft;
  bool only_if_it_differs = false;  // no column of a table where every row would say the same
};

class Listing {
 public:
  explicit Listing(std::vector<Property> properties) : properties_(std::move(properties)) {}

  void add(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }

  // JSON is one array of objects; csv and tsv have a line of keys, plain has none.
  [[nodiscard]] std::string print(const RowStyle& style) const;
  // For people: a block of lines for each thing, a line for each property that has a heading.
  [[nodiscard]] std::string print_blocks(const RowStyle& style) const;

 private:
  [[nodiscard]] std::string print_table(const RowStyle& style) const;
  [[nodiscard]] bool is_column(std::size_t property) const;
  [[nodiscard]] std::string print_json(const RowStyle& style) const;
  [[nodiscard]] std::string print_lines(const RowStyle& style) const;

  std::vector<Property> properties_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace meterbank::cli
