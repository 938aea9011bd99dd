// SPDX-License-Identifier: Apache-2.0
//
// A list of things with properties, in any format: a table for people, records for programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/format/json.hpp"
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

// Prints things as they are added, so that a list of millions is never held at once. JSON is one
// array of objects; csv and tsv have a line of keys, plain has none.
class ListingPrinter {
 public:
  ListingPrinter(std::vector<Property> properties, const RowStyle& style, TextSink out);

  void add(std::vector<Cell> cells);
  // Call once, behind the last thing.
  void finish();

 private:
  [[nodiscard]] bool is_table() const noexcept;
  [[nodiscard]] bool is_column(std::size_t property) const;
  void begin_table();
  void flush_table();
  void add_json(const std::vector<Cell>& cells);
  template <typename Fields, typename TextOf>
  void add_line(const Fields& fields, TextOf text_of);
  void flush_text();

  std::vector<Property> properties_;
  RowStyle style_;
  TextSink out_;
  std::vector<std::vector<Cell>> rows_;  // of a table, that wait
  std::optional<Table> table_;           // once the first rows have said what columns there are
  std::vector<std::size_t> shown_;       // properties that are columns
  JsonWriter json_;
  std::string text_;
};

class Listing {
 public:
  explicit Listing(std::vector<Property> properties) : properties_(std::move(properties)) {}

  void add(std::vector<Cell> cells) { rows_.push_back(std::move(cells)); }
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }

  // As a ListingPrinter does.
  [[nodiscard]] std::string print(const RowStyle& style) const;
  // For people: a block of lines for each thing, a line for each property that has a heading.
  [[nodiscard]] std::string print_blocks(const RowStyle& style) const;

 private:
  std::vector<Property> properties_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace meterbank::cli
