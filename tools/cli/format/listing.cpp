// SPDX-License-Identifier: Apache-2.0
#include "cli/format/listing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/format/json.hpp"
#include "cli/format/quantity.hpp"
#include "cli/format/separated_values.hpp"
#include "cli/session/console.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {

Cell Cell::text(const std::string& both) { return text(both, both); }

Cell Cell::text(std::string human, std::string machine) {
  Cell cell;
  cell.kind = Kind::kText;
  cell.human = std::move(human);
  cell.machine = std::move(machine);
  return cell;
}

Cell Cell::number(std::uint64_t value) {
  Cell cell;
  cell.kind = Kind::kInteger;
  cell.human = cell.machine = fmt::format("{}", value);
  cell.integer = value;
  return cell;
}

Cell Cell::number(double value, std::string human) {
  Cell cell;
  cell.kind = Kind::kReal;
  cell.human = std::move(human);
  cell.machine = print_exact(value);
  cell.real = value;
  return cell;
}

Cell Cell::absent(std::string human) {
  Cell cell;
  cell.human = std::move(human);
  return cell;
}

std::string Listing::print(const RowStyle& style) const {
  switch (style.format) {
    case Format::kAuto:
    case Format::kTable:
      return print_table(style);
    case Format::kPlain:
    case Format::kTsv:
    case Format::kCsv:
    case Format::kPdhCsv:
    case Format::kPdhTsv:
      return print_lines(style);
    case Format::kJson:
    case Format::kJsonLines:
      break;
  }
  return print_json(style);
}

bool Listing::is_column(std::size_t property) const {
  if (properties_[property].heading.empty()) return false;
  if (!properties_[property].only_if_it_differs) return true;
  return std::any_of(rows_.begin(), rows_.end(), [&](const std::vector<Cell>& row) {
    return row[property].human != rows_.front()[property].human;
  });
}

std::string Listing::print_table(const RowStyle& style) const {
  std::vector<std::size_t> shown;
  std::vector<Column> columns;
  for (std::size_t i = 0; i < properties_.size(); ++i) {
    if (!is_column(i)) continue;
    shown.push_back(i);
    columns.push_back({properties_[i].heading, properties_[i].align});
  }
  Table table(std::move(columns), style.charset);
  table.limit(style.columns, Table::Overflow::kCut);
  for (const auto& row : rows_) {
    std::vector<std::string> cells;
    cells.reserve(shown.size());
    for (const auto i : shown) cells.push_back(row[i].human);
    table.add(std::move(cells));
  }
  auto headings = table.headings();
  headings.pop_back();
  return Paint(style.color).heading(headings) + "\n" + table.take_rows();
}

std::string Listing::print_blocks(const RowStyle& style) const {
  const Paint paint(style.color);
  std::size_t width = 0;
  for (const auto& property : properties_) width = std::max(width, property.heading.size());
  std::string out;
  for (const auto& row : rows_) {
    if (!out.empty()) out += '\n';
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (properties_[i].heading.empty()) continue;
      out += fmt::format("{}  {}\n", paint.heading(fit(properties_[i].heading, width)),
                         escape_for_terminal(row[i].human, style.charset));
    }
  }
  return out;
}

std::string Listing::print_json(const RowStyle& style) const {
  const bool lines = style.format == Format::kJsonLines;
  std::string out;
  JsonWriter json(style.integers_as_text, style.charset);
  if (!lines) json.begin_array();
  for (const auto& row : rows_) {
    if (lines) {
      json = JsonWriter(style.integers_as_text, style.charset);
    } else {
      json.line_break();
    }
    json.begin_object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (properties_[i].key.empty()) continue;
      json.key(properties_[i].key);
      switch (row[i].kind) {
        case Cell::Kind::kText:
          json.text(row[i].machine);
          break;
        case Cell::Kind::kInteger:
          json.number(row[i].integer);
          break;
        case Cell::Kind::kReal:
          json.number(row[i].real);
          break;
        case Cell::Kind::kAbsent:
          json.null();
          break;
      }
    }
    json.end_object();
    if (lines) out += json.take() + "\n";
  }
  if (lines) return out;
  json.end_array();
  return json.take() + "\n";
}

std::string Listing::print_lines(const RowStyle& style) const {
  const bool csv = style.format == Format::kCsv;
  const auto field = [&style, csv](std::string_view text) {
    if (style.format == Format::kPlain) return escape_for_terminal(text, style.charset);
    return csv ? csv_field(text, style.charset) : tsv_field(text, style.charset);
  };
  std::string out;
  const auto put_line = [&](const auto& fields, auto text_of) {
    bool first = true;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (properties_[i].key.empty()) continue;
      if (!first) out += csv ? ',' : '\t';
      first = false;
      out += field(text_of(fields[i]));
    }
    out += csv ? "\r\n" : "\n";
  };
  if (style.format != Format::kPlain) {
    put_line(properties_, [](const Property& property) { return property.key; });
  }
  for (const auto& row : rows_) {
    put_line(row, [](const Cell& cell) { return cell.machine; });
  }
  return out;
}

}  // namespace meterbank::cli
