// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/draw/cells.hpp"

#include <algorithm>

#include "cli/format/quantity.hpp"

namespace meterbank::cli {
namespace {

char letter_of(const Look& look) {
  if (look.reverse) return 'R';
  if (look.color != kNoColor || look.behind != kNoColor) return 'c';
  if (look.bold) return 'B';
  return look.faint ? 'f' : '.';
}

}  // namespace

Grid::Grid(std::size_t width, std::size_t height, Charset charset)
    : width_(width), height_(height), charset_(charset), cells_(width * height) {}

std::string Grid::shown(std::string_view text) const {
  if (plain_bytes(text) == text.size()) return std::string(text);
  return escape_composed(shown_in(charset_, std::string(text)), Composed::kLine, charset_);
}

void Grid::set(std::size_t x, std::size_t y, std::string_view text, Look look) {
  auto& cell = cells_[y * width_ + x];
  // No half of a wide character stays without the other.
  if (cell.text.empty() && x > 0 && !text.empty()) cells_[y * width_ + x - 1].text = " ";
  if (x + 1 < width_ && cells_[y * width_ + x + 1].text.empty()) {
    cells_[y * width_ + x + 1].text = " ";
  }
  cell.text = text;
  cell.look = look;
}

std::size_t Grid::put(std::size_t x, std::size_t y, std::string_view text, Look look,
                      std::size_t room) {
  if (x >= width_ || y >= height_) return 0;
  const std::string clean = shown(text);
  const std::size_t end = x + std::min(room, width_ - x);
  std::size_t to = x;
  std::string_view rest = clean;
  while (!rest.empty()) {
    const auto decoded = decode_utf8(rest);
    std::size_t bytes = decoded.length;
    const auto cells = cells_of(decoded.code_point);
    while (bytes < rest.size()) {
      const auto mark = decode_utf8(rest.substr(bytes));
      if (cells_of(mark.code_point) != 0) break;
      bytes += mark.length;
    }
    if (cells == 0 || to + cells > end) break;
    set(to, y, rest.substr(0, bytes), look);
    if (cells == 2) set(to + 1, y, {}, look);
    to += cells;
    rest.remove_prefix(bytes);
  }
  return to - x;
}

void Grid::draw(std::size_t x, std::size_t y, std::string_view text, Look look) {
  if (x < width_ && y < height_) set(x, y, text, look);
}

void Grid::paint(std::size_t x, std::size_t y, std::size_t cells, Look look) {
  if (y >= height_) return;
  for (std::size_t i = x; i < std::min(x + cells, width_); ++i) cells_[y * width_ + i].look = look;
}

std::string Grid::text() const {
  std::string out;
  for (std::size_t y = 0; y < height_; ++y) {
    std::string line;
    for (std::size_t x = 0; x < width_; ++x) line += at(x, y).text;
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  return out;
}

std::string Grid::looks() const {
  std::string out;
  for (std::size_t y = 0; y < height_; ++y) {
    std::string line;
    for (std::size_t x = 0; x < width_; ++x) line += letter_of(at(x, y).look);
    line.erase(line.find_last_not_of('.') + 1);
    out += line + '\n';
  }
  return out;
}

}  // namespace meterbank::cli
