// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/draw/drawing.hpp"

#include "cli/format/table.hpp"

namespace meterbank::cli {

const Target* Drawing::target_at(std::size_t x, std::size_t y) const noexcept {
  const Target* found = nullptr;
  for (const auto& target : targets) {
    const auto& rect = target.rect;
    const bool is_in_x = x >= rect.x && x < rect.x + rect.width;
    if (is_in_x && y >= rect.y && y < rect.y + rect.height) found = &target;
  }
  return found;
}

Look colored(std::int16_t color, const DrawingStyle& style) noexcept {
  Look look;
  if (style.colors > 0) look.color = color;
  return look;
}

Look look_of(view::Mood mood, const DrawingStyle& style) noexcept {
  switch (mood) {
    case view::Mood::kPlain:
      break;
    case view::Mood::kFaint:
      return kFaintLook;
    case view::Mood::kGood:
      return colored(kGreen, style);
    case view::Mood::kWarning:
      return colored(kYellow, style);
    case view::Mood::kBad: {
      auto look = colored(kRed, style);
      look.bold = true;
      return look;
    }
  }
  return {};
}

void draw_title(Grid& grid, const Rect& rect, std::string_view title, std::string_view words,
                const DrawingStyle& style) {
  std::size_t x = rect.x;
  const std::size_t end = rect.x + rect.width;
  const auto room = [&] { return end > x ? end - x : 0; };
  x += grid.put(x, rect.y,
                fit(grid.shown(title), std::min(room(), display_width(grid.shown(title)))),
                kBoldLook, room());
  if (!words.empty()) x += grid.put(x, rect.y, "  " + std::string(words), kFaintLook, room());
  for (++x; x < end; ++x) grid.draw(x, rect.y, style.pick("─", "-"), kFaintLook);
}

}  // namespace meterbank::cli
