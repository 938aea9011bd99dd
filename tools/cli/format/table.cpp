// SPDX-License-Identifier: Apache-2.0
#include "cli/format/table.hpp"

#include <algorithm>

namespace meterbank::cli {
namespace {

// For the last column. In less, nothing can be read: let the terminal break it.
constexpr std::size_t kRoomMin = 12;

// Bytes of the longest front of `text` that takes at most `width` cells.
std::size_t front_within(std::string_view text, std::size_t width) noexcept {
  std::size_t bytes = 0;
  std::size_t used = 0;
  while (bytes < text.size()) {
    const auto unit = text.substr(bytes, unit_bytes(text.substr(bytes)));
    used += display_width(unit);
    if (used > width) break;
    bytes += unit.size();
  }
  return bytes;
}

}  // namespace

std::size_t display_width(std::string_view text) noexcept {
  std::size_t width = 0;
  while (!text.empty()) {
    const auto decoded = decode_utf8(text);
    width += cells_of(decoded.code_point);
    text.remove_prefix(decoded.length);
  }
  return width;
}

std::string fit(std::string_view text, std::size_t width) {
  const std::size_t whole = display_width(text);
  if (whole <= width) return std::string(text) + std::string(width - whole, ' ');
  if (width == 0) return {};
  const auto kept = text.substr(0, front_within(text, width - 1));
  return std::string(kept) + "…" + std::string(width - 1 - display_width(kept), ' ');
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    auto word = text.substr(0, text.find(' '));
    std::size_t behind = word.size() + 1;
    std::size_t cells = display_width(word);
    if (cells > width) {
      // At least one unit, however narrow the line is.
      word = word.substr(0, std::max(front_within(word, width), unit_bytes(word)));
      behind = word.size();
      cells = display_width(word);
    }
    text.remove_prefix(std::min(behind, text.size()));
    if (used > 0 && used + 1 + cells > width) {
      out.erase(out.find_last_not_of(' ') + 1);
      out += '\n' + std::string(indent, ' ');
      used = 0;
    } else if (used > 0) {
      out += ' ';
      ++used;
    }
    out += word;
    used += cells;
  }
  return out;
}

void Table::add(std::vector<std::string> cells) {
  for (auto& cell : cells) cell = escape_for_terminal(cell, charset_);
  add_cleaned(std::move(cells));
}

void Table::add_messages(std::vector<std::string> cells) {
  for (auto& cell : cells) cell = escape_composed(cell, Composed::kLine, charset_);
  add_cleaned(std::move(cells));
}

void Table::add_cleaned(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  rows_.push_back(std::move(cells));
}

void Table::measure() {
  widths_wanted_.resize(columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    auto& width = widths_wanted_[i];
    width = std::max({width, columns_[i].width_min, display_width(columns_[i].heading)});
    for (const auto& row : rows_) width = std::max(width, display_width(row[i]));
    width = std::min(width, columns_[i].width_max);
  }
  widths_ = widths_wanted_;
  if (limit_ != 0) share_room();
}

// Takes cells from the widest column of text until a line fits; then from values that are texts.
void Table::share_room() {
  const bool last_gives_way = columns_.back().align == Align::kLeft;
  const auto last = last_gives_way ? std::min(widths_.back(), kRoomMin) : widths_.back();
  std::size_t used = last + 2 * (columns_.size() - 1);
  for (std::size_t i = 0; i + 1 < widths_.size(); ++i) used += widths_[i];
  for (const Align align : {Align::kLeft, Align::kRight}) {
    while (used > limit_) {
      const auto widest = widest_that_gives_way(align);
      if (widest == columns_.size()) break;
      --widths_[widest];
      --used;
    }
  }
}

// The number of columns if there is none.
std::size_t Table::widest_that_gives_way(Align align) const {
  std::size_t widest = columns_.size();
  for (std::size_t i = 0; i + 1 < widths_.size(); ++i) {
    const auto& column = columns_[i];
    if (column.align != align) continue;
    const bool may_be_text = align == Align::kLeft || column.width_max != Column().width_max;
    const auto least = align == Align::kLeft ? kTextCellsMin : kNumberCells;
    if (!may_be_text || widths_[i] <= std::max(least, column.width_min)) continue;
    if (widest == columns_.size() || widths_[i] > widths_[widest]) widest = i;
  }
  return widest;
}

std::string Table::line(const std::vector<std::string>& cells) const {
  std::string out;
  for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
    const auto width = display_width(cells[i]);
    if (columns_[i].align == Align::kRight && width < widths_[i]) {
      out += std::string(widths_[i] - width, ' ') + cells[i] + "  ";
    } else {
      out += fit(cells[i], widths_[i]) + "  ";
    }
  }
  out += last_cell(cells.back(), display_width(out));
  out.erase(out.find_last_not_of(' ') + 1);
  out += '\n';
  return out;
}

// The last cell of a line that is `begin` cells long already.
std::string Table::last_cell(const std::string& cell, std::size_t begin) const {
  const std::size_t width = display_width(cell);
  if (limit_ == 0 || begin + width <= limit_ || begin + kRoomMin > limit_) {
    if (columns_.back().align == Align::kLeft) return cell;
    return std::string(widths_.back() - width, ' ') + cell;
  }
  if (overflow_ == Overflow::kCut) return fit(cell, limit_ - begin);
  return wrap(cell, limit_ - begin, begin);
}

std::string Table::headings() {
  measure();
  std::vector<std::string> cells;
  cells.reserve(columns_.size());
  for (const auto& column : columns_) cells.push_back(column.heading);
  return line(cells);
}

std::string Table::take_rows() {
  measure();
  std::string out;
  for (const auto& row : rows_) out += line(row);
  rows_.clear();
  return out;
}

}  // namespace meterbank::cli
