// SPDX-License-Identifier: Apache-2.0
#include "cli/format/listing.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/format/quantity.hpp"
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

// ---- ListingPrinter ----

ListingPrinter::ListingPrinter(std::vector<Property> properties, const RowStyle& style,
                               TextSink out)
    : properties_(std::move(properties)),
      style_(style),
      out_(std::move(out)),
      json_(style.integers_as_text, style.charset) {
  const Format format = style_.format;
  if (format == Format::kJson) json_.begin_array();
  const bool has_keys = !is_table() && format != Format::kPlain && format != Format::kJson &&
                        format != Format::kJsonLines;
  if (has_keys) add_line(properties_, [](const Property& property) { return property.key; });
}

bool ListingPrinter::is_table() const noexcept {
  return style_.format == Format::kAuto || style_.format == Format::kTable;
}

void ListingPrinter::add(std::vector<Cell> cells) {
  constexpr std::size_t kRowsAtOnce = 4096;
  if (is_table()) {
    rows_.push_back(std::move(cells));
    if (rows_.size() == kRowsAtOnce) flush_table();
    return;
  }
  if (style_.format == Format::kJson || style_.format == Format::kJsonLines) {
    add_json(cells);
  } else {
    add_line(cells, [](const Cell& cell) { return cell.machine; });
  }
  if (text_.size() >= kBytesAtOnce) flush_text();
}

void ListingPrinter::finish() {
  if (is_table()) flush_table();
  if (style_.format == Format::kJson) text_ += json_.end_array().take() + "\n";
  flush_text();
}

void ListingPrinter::flush_text() {
  if (!text_.empty()) out_(text_);
  text_.clear();
}

bool ListingPrinter::is_column(std::size_t property) const {
  if (properties_[property].heading.empty()) return false;
  if (!properties_[property].only_if_it_differs) return true;
  return std::any_of(rows_.begin(), rows_.end(), [&](const std::vector<Cell>& row) {
    return row[property].human != rows_.front()[property].human;
  });
}

void ListingPrinter::begin_table() {
  std::vector<Column> columns;
  for (std::size_t i = 0; i < properties_.size(); ++i) {
    if (!is_column(i)) continue;
    shown_.push_back(i);
    columns.push_back({properties_[i].heading, properties_[i].align});
  }
  table_.emplace(std::move(columns), style_.charset);
  table_->limit(style_.columns, Table::Overflow::kCut);
}

void ListingPrinter::flush_table() {
  const bool is_first = !table_;
  if (is_first) begin_table();
  for (const auto& row : rows_) {
    std::vector<std::string> cells;
    cells.reserve(shown_.size());
    for (const auto i : shown_) cells.push_back(row[i].human);
    table_->add(std::move(cells));
  }
  rows_.clear();
  if (is_first) {
    auto headings = table_->headings();
    headings.pop_back();
    text_ += Paint(style_.color).heading(headings) + "\n";
  }
  text_ += table_->take_rows();
  flush_text();
}

void ListingPrinter::add_json(const std::vector<Cell>& cells) {
  const bool lines = style_.format == Format::kJsonLines;
  if (lines) {
    json_ = JsonWriter(style_.integers_as_text, style_.charset);
  } else {
    json_.line_break();
  }
  json_.begin_object();
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (properties_[i].key.empty()) continue;
    json_.key(properties_[i].key);
    switch (cells[i].kind) {
      case Cell::Kind::kText:
        json_.text(cells[i].machine);
        break;
      case Cell::Kind::kInteger:
        json_.number(cells[i].integer);
        break;
      case Cell::Kind::kReal:
        json_.number(cells[i].real);
        break;
      case Cell::Kind::kAbsent:
        json_.null();
        break;
    }
  }
  json_.end_object();
  text_ += json_.take();
  if (lines) text_ += "\n";
}

template <typename Fields, typename TextOf>
void ListingPrinter::add_line(const Fields& fields, TextOf text_of) {
  FieldLine line(style_, text_);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (!properties_[i].key.empty()) line.add(text_of(fields[i]));
  }
  line.end();
}

// ---- Listing ----

std::string Listing::print(const RowStyle& style) const {
  std::string text;
  ListingPrinter printer(properties_, style, [&text](std::string_view more) {
    text += more;
    return true;
  });
  for (const auto& row : rows_) printer.add(row);
  printer.finish();
  return text;
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

}  // namespace meterbank::cli
