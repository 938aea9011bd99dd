// SPDX-License-Identifier: Apache-2.0
#include "cli/distribution/histogram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/distribution/percentiles.hpp"
#include "cli/format/kinds.hpp"
#include "cli/format/quantity.hpp"
#include "cli/format/table.hpp"
#include "cli/format/time_text.hpp"
#include "cli/session/console.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

constexpr std::size_t kLinesMax = 20;
constexpr std::size_t kBarCells = 40;

struct Line {
  std::string low, high;  // the ends of the range; no low one: all values up to, or beyond, high
  std::uint64_t count = 0;
  bool is_above = false;
};

std::vector<Line> lines_of(const Distribution& seen, const std::string& unit,
                           const RowStyle& style) {
  const auto bound = [&](std::int32_t index) {
    return shown_in(style.charset,
                    print_quantity(bucket_bound(index, seen.shape.scale), unit, style.units));
  };
  const auto is_filled = [](std::uint64_t count) { return count != 0; };
  std::vector<Line> lines;
  if (seen.below != 0) lines.push_back({{}, bound(seen.shape.first), seen.below});
  const auto filled = std::find_if(seen.buckets.begin(), seen.buckets.end(), is_filled);
  if (filled != seen.buckets.end()) {
    const auto last_filled = std::find_if(seen.buckets.rbegin(), seen.buckets.rend(), is_filled);
    const auto low = static_cast<std::int32_t>(filled - seen.buckets.begin());
    const auto high = static_cast<std::int32_t>(seen.buckets.rend() - last_filled) - 1;
    const std::int32_t first = seen.shape.first + low;
    const std::int32_t last = seen.shape.first + high;
    // 2^joined buckets are one of a coarser scale, so that the ranges are those of every sample.
    int joined = 0;
    while (static_cast<std::size_t>((last >> joined) - (first >> joined)) >= kLinesMax) ++joined;
    for (std::int32_t coarse = first >> joined; coarse <= last >> joined; ++coarse) {
      const std::int32_t begin = coarse * (1 << joined);
      Line line{bound(begin), bound(begin + (1 << joined))};
      for (std::int32_t index = std::max(begin, first);
           index <= std::min(begin + (1 << joined) - 1, last); ++index) {
        line.count += seen.buckets[static_cast<std::size_t>(index - seen.shape.first)];
      }
      lines.push_back(std::move(line));
    }
  }
  if (seen.above != 0) {
    const auto end = seen.shape.first + static_cast<std::int32_t>(seen.shape.buckets);
    lines.push_back({{}, bound(end), seen.above, true});
  }
  return lines;
}

// A bar of `share` of `cells`; what is there at all has at least a trace.
std::string bar_text(double share, std::size_t cells, bool ascii) {
  static constexpr std::array<std::string_view, 8> kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const double length = share * static_cast<double>(cells);
  if (ascii) {
    const auto whole = static_cast<std::size_t>(std::lround(length));
    return whole == 0 && share > 0 ? "." : std::string(whole, '#');
  }
  auto eighths = static_cast<std::size_t>(std::lround(length * 8));
  if (eighths == 0 && share > 0) eighths = 1;
  std::string bar;
  for (std::size_t i = 0; i < eighths / 8; ++i) bar += "█";
  return bar.append(kEighths[eighths % 8]);
}

std::string share_text(std::uint64_t count, std::uint64_t all) {
  const double percent = 100 * static_cast<double>(count) / static_cast<double>(all);
  if (count == 0) return "";
  if (percent < 0.05) return "<0.1 %";
  // All but a few are not all.
  return fmt::format("{:.1f} %", count == all ? percent : std::min(percent, 99.9));
}

// What fits two digits: "2.2", "0.14", "41".
std::string error_text(double bound) {
  const double percent = 100 * bound;
  return percent >= 10 ? fmt::format("{:.0f}", percent) : fmt::format("{:.2g}", percent);
}

// Of the numbers around the picture, which a long one would push out of sight.
std::string unit_text(const Value& row, const RowStyle& style) {
  constexpr std::size_t kUnitCells = 24;
  auto unit = escape_for_terminal(row.counter->unit, style.charset);
  return display_width(unit) > kUnitCells ? fit(unit, kUnitCells) : unit;
}

std::vector<std::string> head_parts(const Value& row, double interval_s, const RowStyle& style) {
  const Distribution& seen = *row.distribution;
  const auto unit = unit_text(row, style);
  const auto span = interval_s > 0 ? "in " + shown_in(style.charset, print_duration(interval_s))
                                   : "since the beginning";
  const auto quantity = [&](double value) {
    return shown_in(style.charset, print_quantity(value, unit, style.units));
  };
  std::vector<std::string> parts;
  if (seen.count == 0) {
    parts.push_back("no values " + span);
    // An idle service would look like one that never did anything.
    if (interval_s > 0 && row.raw.value != 0) {
      parts.push_back(fmt::format("{} before", row.raw.value));
    }
  } else {
    parts.push_back(fmt::format("{} {}", counted(seen.count, "value"), span));
    const double mean = seen.sum / static_cast<double>(seen.count);
    if (std::isfinite(mean)) parts.push_back("mean " + quantity(mean));
    for (const Percentile& percentile : style.percentiles) {
      const auto found = seen.quantile(percentile.share);
      if (!found || !std::isfinite(found->value)) continue;
      parts.push_back(fmt::format("p{} {}{}", percent_text(percentile),
                                  sign_of(found->side, style.ascii), quantity(found->value)));
    }
    parts.push_back(
        fmt::format("{}{} %", style.ascii ? "+-" : "±", error_text(seen.error_bound())));
  }
  if (seen.refused != 0) parts.push_back(fmt::format("{} were no number", seen.refused));
  return parts;
}

std::string path_text(const Value& row, const RowStyle& style) {
  const auto path = print_short(row.counter_path(PathSpelling::kShort));
  return escape_for_terminal(on_host(path, host_of(row)), style.charset);
}

// The path and its numbers, on further lines where one has no room for them.
std::string head_text(const Value& row, double interval_s, const RowStyle& style) {
  const auto path = path_text(row, style);
  std::string out = Paint(style.color).heading(path);
  std::size_t used = display_width(path);
  for (const auto& part : head_parts(row, interval_s, style)) {
    const std::size_t cells = 2 + display_width(part);
    if (style.columns != 0 && used + cells > style.columns) {
      out += "\n  ";
      used = 2;
    }
    out += "  " + part;
    used += cells;
  }
  return out + '\n';
}

std::string right(const std::string& text, std::size_t width) {
  const std::size_t used = display_width(text);
  return used >= width ? text : std::string(width - used, ' ') + text;
}

std::string bars_text(const std::vector<Line>& lines, std::uint64_t all, const RowStyle& style) {
  std::size_t low = 0, high = 0, count = 0;
  std::uint64_t largest = 1;
  for (const Line& line : lines) {
    low = std::max(low, display_width(line.low));
    high = std::max(high, display_width(line.high));
    count = std::max(count, fmt::format("{}", line.count).size());
    largest = std::max(largest, line.count);
  }
  constexpr std::size_t kShareCells = 7;  // "100.0 %"
  const std::string_view to = style.ascii ? " - " : " – ";
  const std::size_t names = 2 + low + 3 + high + 2 + count + 2 + kShareCells + 2;
  std::size_t cells = kBarCells;
  if (style.columns != 0) {
    cells = std::clamp<std::size_t>(style.columns > names ? style.columns - names : 0, 8, cells);
  }
  std::string out;
  for (const Line& line : lines) {
    std::string_view sign = to;
    if (line.low.empty()) sign = line.is_above ? " > " : style.ascii ? " <=" : " ≤ ";
    const double share = static_cast<double>(line.count) / static_cast<double>(largest);
    std::string text =
        fmt::format("  {}{}{}  {:>{}}  {}  {}", right(line.low, low), sign, right(line.high, high),
                    line.count, count, right(share_text(line.count, all), kShareCells),
                    bar_text(share, cells, style.ascii));
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + '\n';
  }
  return out;
}

}  // namespace

std::string histogram_text(const Value& row, double interval_s, const RowStyle& style) {
  const bool is_percentile = row.counter->word == kNoCounter;
  if (row.counter->form != ValueForm::kDistribution || is_percentile) return {};
  if (row.distribution == nullptr) {
    return fmt::format("{}  ({})\n", path_text(row, style), status_word(row));
  }
  const auto lines = lines_of(*row.distribution, unit_text(row, style), style);
  return head_text(row, interval_s, style) + bars_text(lines, row.distribution->count, style);
}

}  // namespace meterbank::cli
