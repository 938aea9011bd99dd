// SPDX-License-Identifier: Apache-2.0
#include "cli/format/table.hpp"

#include <algorithm>
#include <array>

#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

struct Range {
  char32_t first, last;
};

// Blocks of combining marks and invisible characters. Rare scripts with marks outside of these
// count one cell too many, which costs alignment and nothing else.
constexpr std::array kZeroWidth{
    Range{0x0300, 0x036F}, Range{0x0483, 0x0489}, Range{0x0591, 0x05BD}, Range{0x0610, 0x061A},
    Range{0x064B, 0x065F}, Range{0x0E34, 0x0E3A}, Range{0x0E47, 0x0E4E}, Range{0x1AB0, 0x1AFF},
    Range{0x1DC0, 0x1DFF}, Range{0x200B, 0x200D}, Range{0x2060, 0x2064}, Range{0x20D0, 0x20FF},
    Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F}, Range{0xFEFF, 0xFEFF}, Range{0xE0100, 0xE01EF}};
constexpr std::array kDoubleWidth{
    Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0x33FF},
    Range{0x3400, 0x4DBF},   Range{0x4E00, 0x9FFF},   Range{0xA000, 0xA4CF},
    Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},   Range{0xFE30, 0xFE4F},
    Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},   Range{0x1F300, 0x1F64F},
    Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1FAFF}, Range{0x20000, 0x3FFFD}};

template <typename Ranges>
bool contains(const Ranges& ranges, char32_t code_point) noexcept {
  return std::any_of(ranges.begin(), ranges.end(), [code_point](const Range& range) {
    return code_point >= range.first && code_point <= range.last;
  });
}

std::size_t cells_of(char32_t code_point) noexcept {
  if (code_point < 0x300) return 1;
  if (contains(kZeroWidth, code_point)) return 0;
  return contains(kDoubleWidth, code_point) ? 2 : 1;
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
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    const auto decoded = decode_utf8(text);
    const std::size_t cells = cells_of(decoded.code_point);
    if (used + cells > width - 1) break;
    out.append(text.substr(0, decoded.length));
    used += cells;
    text.remove_prefix(decoded.length);
  }
  out += "…";
  return out + std::string(width - 1 - used, ' ');
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t used = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    const auto word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t cells = display_width(word);
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
  cells.resize(columns_.size());
  for (auto& cell : cells) cell = escape_for_terminal(cell);
  rows_.push_back(std::move(cells));
}

void Table::measure() {
  widths_.resize(columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    widths_[i] =
        std::max({widths_[i], columns_[i].width_min, display_width(columns_[i].heading)});
    for (const auto& row : rows_) widths_[i] = std::max(widths_[i], display_width(row[i]));
  }
}

std::string Table::line(const std::vector<std::string>& cells) const {
  std::string out;
  for (std::size_t i = 0; i + 1 < cells.size(); ++i) {
    const std::string gap(widths_[i] - display_width(cells[i]), ' ');
    out += (columns_[i].align == Align::kRight ? gap + cells[i] : cells[i] + gap) + "  ";
  }
  out += last_cell(cells.back(), display_width(out));
  out.erase(out.find_last_not_of(' ') + 1);
  out += '\n';
  return out;
}

// The last cell of a line that is `begin` cells long already.
std::string Table::last_cell(const std::string& cell, std::size_t begin) const {
  constexpr std::size_t kRoomMin = 12;  // in less, nothing can be read: let the terminal break it
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
