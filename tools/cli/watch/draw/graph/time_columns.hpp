// SPDX-License-Identifier: Apache-2.0
//
// Which moments of a plot or a heat map stand in which column of cells. Both use this, so that one
// below the other they have the same axis of time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/watch/draw/drawing.hpp"

namespace meterbank::cli {

// Two dots a cell. Few moments are some dots wide each and stand at the right edge; of many, each
// dot stands for several.
class TimeColumns {
 public:
  static constexpr std::size_t kDotsMax = 8;  // of a moment

  TimeColumns(std::size_t moments, std::size_t cells) : moments_(moments), dots_(2 * cells) {
    if (moments == 0 || cells == 0) return;
    if (moments <= dots_) {
      wide_ = std::min(dots_ / moments, kDotsMax);
      first_dot_ = dots_ - moments * wide_;
    }
  }

  struct Moments {
    std::size_t begin = 0, end = 0;  // empty: none
  };
  [[nodiscard]] Moments of_dot(std::size_t dot) const noexcept {
    if (moments_ == 0 || dot < first_dot_) return {};
    if (moments_ > dots_) return {dot * moments_ / dots_, (dot + 1) * moments_ / dots_};
    const auto moment = (dot - first_dot_) / wide_;
    return {moment, moment + 1};
  }
  [[nodiscard]] Moments of_cell(std::size_t cell) const noexcept {
    const auto left = of_dot(2 * cell);
    const auto right = of_dot(2 * cell + 1);
    if (left.begin == left.end) return right;
    return {left.begin, right.end};
  }
  [[nodiscard]] std::size_t first_cell() const noexcept { return first_dot_ / 2; }

 private:
  std::size_t moments_;
  std::size_t dots_;
  std::size_t first_dot_ = 0;
  std::size_t wide_ = 1;
};

// Left of a plot: labels of values, and the axis.
inline constexpr std::size_t kLabelCells = 12;

// A value of the axis. Where it has too many digits for kLabelCells, fewer, without the unit.
[[nodiscard]] std::string label_text(const Grid& grid, double value, const std::string& unit,
                                     UnitStyle units);

// Moments that are marked below a plot: '^' the one that is looked at, 'm' those remembered.
struct TimeMarks {
  std::optional<std::uint64_t> at_ns;
  std::span<const std::uint64_t> marked_ns;
};

// Labels of times in one line, with marks; and the target of clicks for the `height` lines above.
void draw_time_axis(Drawing& drawing, const Rect& line, std::size_t height,
                    std::span<const std::uint64_t> times_ns, const TimeMarks& marks,
                    const DrawingStyle& style);

// "09:04:40"; with the day if the times are more than one apart.
[[nodiscard]] std::string moment_text(std::uint64_t realtime_ns, bool with_day);

}  // namespace meterbank::cli
