// SPDX-License-Identifier: Apache-2.0
//
// A section of a picture as a table.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "cli/watch/draw/drawing.hpp"

namespace meterbank::cli {

struct SectionLook {
  std::size_t number = 0;  // of the section
  bool is_chosen = false;
  std::size_t line = 0;  // that is chosen, among all of the section
  std::string sort;      // heading of the column that it is sorted by
  bool ascending = false;
};

// Title and headings.
inline constexpr std::size_t kLinesAboveTable = 2;

// The title, the headings and the lines that fit; of the chosen section, the chosen line is one.
void draw_section(Drawing& drawing, const Rect& rect, const view::Section& section,
                  const SectionLook& look, const DrawingStyle& style);

// The newest values as bars from 0 to the largest of them, the newest at the right edge.
void draw_trend(Grid& grid, std::size_t x, std::size_t y, std::size_t cells,
                std::span<const double> values, Look look, const DrawingStyle& style);

}  // namespace meterbank::cli
