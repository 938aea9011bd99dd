// SPDX-License-Identifier: Apache-2.0
#include "cli/watch/draw/help_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace meterbank::cli {
namespace {

struct KeyWords {
  std::string_view keys, what;
};
constexpr std::array kKeyWords{KeyWords{"j k, arrows", "move"},
                               KeyWords{"PgUp PgDn", "move by a page"},
                               KeyWords{"g G", "first, last"},
                               KeyWords{"Left Right", "counter"},
                               KeyWords{"Tab", "next table"},
                               KeyWords{"Enter", "open"},
                               KeyWords{"Esc", "back"},
                               KeyWords{"o", "overview"},
                               KeyWords{"/", "filter"},
                               KeyWords{"s S", "sort, reverse"},
                               KeyWords{"b", "group"},
                               KeyWords{"p", "pin the row"},
                               KeyWords{"d", "hide zeros"},
                               KeyWords{"r", "stored values"},
                               KeyWords{"e", "base units"},
                               KeyWords{"l", "log scale"},
                               KeyWords{"+ -", "span of time"},
                               KeyWords{"< >", "interval"},
                               KeyWords{"space", "freeze"},
                               KeyWords{"[ ]", "earlier, later"},
                               KeyWords{"n", "now"},
                               KeyWords{"t", "go to a time"},
                               KeyWords{"m M", "mark, next mark"},
                               KeyWords{"B '", "bookmark, next one"},
                               KeyWords{"w", "save a recording"},
                               KeyWords{"v", "details"},
                               KeyWords{"?", "this help"},
                               KeyWords{"Ctrl-Z", "to the shell"},
                               KeyWords{"q", "quit"},
                               KeyWords{"click", "choose; twice: open"},
                               KeyWords{"click", "on a plot: that time"},
                               KeyWords{"wheel", "move"}};

constexpr std::size_t kKeyCells = 12;
constexpr std::size_t kWhatCells = 22;

}  // namespace

HelpPart draw_help(Grid& grid, const Rect& rect, std::size_t first) {
  const auto keys = std::span(kKeyWords).subspan(std::min(first, kKeyWords.size()));
  if (rect.height == 0) return {first, keys.size()};
  // On a small screen keys take no more room than they need.
  const bool is_small = kKeyWords.size() > rect.height * (rect.width / (kKeyCells + kWhatCells));
  const auto key_cells = is_small ? std::size_t{6} : kKeyCells;
  const auto cells = is_small ? std::size_t{28} : kKeyCells + kWhatCells;
  const auto columns = std::max<std::size_t>(rect.width / cells, 1);
  const auto needed = (keys.size() + columns - 1) / columns;
  const auto lines = std::min(needed, rect.height);
  const auto shown = std::min(keys.size(), lines * columns);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto x = rect.x + i / lines * cells;
    const auto y = rect.y + i % lines;
    const auto used = grid.put(x + 1, y, keys[i].keys, kBoldLook, cells - 1);
    const auto what_x = x + 1 + std::max(key_cells, used + 1);
    grid.put(what_x, y, keys[i].what, {}, x + cells > what_x ? x + cells - what_x : 0);
  }
  return {first + shown, keys.size() - shown};
}

void draw_keys(Grid& grid, const Rect& rect, view::Screen screen) {
  constexpr unsigned kOverview = 1, kSet = 2, kInstance = 4, kRows = kSet | kInstance;
  constexpr unsigned kAll = kOverview | kRows;
  struct Hint {
    std::string_view key, word;
    unsigned screens = kAll;  // where it has an effect
  };
  static constexpr std::array kHints{Hint{"q", "quit"},
                                     Hint{"?", "help"},
                                     Hint{"Enter", "open"},
                                     Hint{"Esc", "back"},
                                     Hint{"/", "filter"},
                                     Hint{"s", "sort"},
                                     Hint{"space", "freeze"},
                                     Hint{"[ ]", "time"},
                                     Hint{"Tab", "table", kOverview},
                                     Hint{"b", "group", kSet},
                                     Hint{"p", "pin", kRows},
                                     Hint{"d", "zeros", kRows},
                                     Hint{"e", "units"},
                                     Hint{"r", "stored", kRows},
                                     Hint{"l", "log", kInstance},
                                     Hint{"+ -", "span", kInstance},
                                     Hint{"m", "mark"},
                                     Hint{"w", "save"},
                                     Hint{"B", "bookmark"}};
  const unsigned here = screen == view::Screen::kOverview ? kOverview
                        : screen == view::Screen::kSet    ? kSet
                                                          : kInstance;
  std::size_t x = rect.x + 1;
  for (const auto& hint : kHints) {
    if ((hint.screens & here) == 0) continue;
    if (x + hint.key.size() + 1 + hint.word.size() > rect.x + rect.width) break;
    x += grid.put(x, rect.y, hint.key, kBoldLook) + 1;
    x += grid.put(x, rect.y, hint.word, kFaintLook) + 2;
  }
}

}  // namespace meterbank::cli
