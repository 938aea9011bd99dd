// SPDX-License-Identifier: Apache-2.0
#include "page/feed/tail.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "cli/format/json.hpp"
#include "view/packed.hpp"
#include "view/picture_json.hpp"

namespace meterbank::page {
namespace {

using cli::JsonWriter;
using Times = std::vector<std::uint64_t>;

struct Kept {
  std::size_t drop = 0, keep = 0;

  friend bool operator==(const Kept&, const Kept&) = default;
};

// How many of the first `count` numbers are the same. Nearly all are, so blocks are compared bit by
// bit, and single numbers only in a block that differs.
std::size_t count_same(const double* one, const double* other, std::size_t count) {
  constexpr std::size_t kBlock = 32;
  for (std::size_t begin = 0; begin < count; begin += kBlock) {
    const std::size_t end = std::min(begin + kBlock, count);
    std::uint64_t differences = 0;
    for (std::size_t at = begin; at < end; ++at) {
      differences |=
          std::bit_cast<std::uint64_t>(one[at]) ^ std::bit_cast<std::uint64_t>(other[at]);
    }
    for (std::size_t at = begin; differences != 0 && at < end; ++at) {
      if (!view::is_same_number(one[at], other[at])) return at;
    }
  }
  return count;
}

// How many moments of `now` are those of `before` behind the ones that have left.
Kept kept_moments(const Times& before, const Times& now) {
  if (now.empty()) return {before.size(), 0};
  const auto found = std::lower_bound(before.begin(), before.end(), now.front());
  const auto differs = std::mismatch(found, before.end(), now.begin(), now.end()).first;
  return {static_cast<std::size_t>(found - before.begin()),
          static_cast<std::size_t>(differs - found)};
}

bool is_like(const view::Plot& one, const view::Plot& other) {
  return one.title == other.title && one.unit == other.unit &&
         one.is_logarithmic == other.is_logarithmic && one.note == other.note &&
         std::equal(one.curves.begin(), one.curves.end(), other.curves.begin(), other.curves.end(),
                    [](const auto& a, const auto& b) { return a.name == b.name; });
}

bool have_times_of_first(const std::vector<view::Plot>& plots) {
  return std::all_of(plots.begin(), plots.end(), [&](const view::Plot& plot) {
    return plot.times_ns == plots.front().times_ns;
  });
}

bool are_like(const std::vector<view::Plot>& before, const std::vector<view::Plot>& now) {
  return std::equal(before.begin(), before.end(), now.begin(), now.end(), is_like) &&
         have_times_of_first(before) && have_times_of_first(now);
}

Kept kept_of(const std::vector<view::Plot>& before, const std::vector<view::Plot>& now) {
  Kept kept = kept_moments(before.front().times_ns, now.front().times_ns);
  for (std::size_t p = 0; p < now.size(); ++p) {
    for (std::size_t c = 0; c < now[p].curves.size(); ++c) {
      const auto& was = before[p].curves[c];
      const auto& is = now[p].curves[c];
      kept.keep = count_same(was.low.data() + kept.drop, is.low.data(), kept.keep);
      kept.keep = count_same(was.high.data() + kept.drop, is.high.data(), kept.keep);
    }
  }
  return kept;
}

// How many rows a heat map has more than the one before, below and above those of both.
struct MoreRows {
  std::ptrdiff_t below = 0, above = 0;
};

// Nothing: the rows are others.
std::optional<MoreRows> more_rows(const std::vector<double>& before,
                                  const std::vector<double>& now) {
  if (before.empty() || now.empty()) return std::nullopt;
  const bool has_more_below = now.front() < before.front();
  const auto& longer = has_more_below ? now : before;
  const auto& shorter = has_more_below ? before : now;
  const auto found = std::find(longer.begin(), longer.end(), shorter.front());
  const auto both = std::min<std::ptrdiff_t>(longer.end() - found, std::ssize(shorter));
  if (both < 2 || !std::equal(found, found + both, shorter.begin())) return std::nullopt;
  const std::ptrdiff_t below = has_more_below ? found - longer.begin() : longer.begin() - found;
  return MoreRows{below, std::ssize(now) - std::ssize(before) - below};
}

// The column `now` is the column `before` with zeros in the rows that only one of them has.
bool is_same_column(std::span<const float> before, std::span<const float> now, MoreRows more) {
  if (before.empty() || now.empty()) return before.empty() && now.empty();
  if (more.below == 0 && more.above == 0) return std::ranges::equal(before, now);
  const auto are_zero = [](std::span<const float> rows) {
    return std::all_of(rows.begin(), rows.end(), [](float count) { return count == 0; });
  };
  const auto part = [](std::span<const float> rows, std::ptrdiff_t begin, std::ptrdiff_t left) {
    return rows.subspan(static_cast<std::size_t>(begin),
                        rows.size() - static_cast<std::size_t>(begin + left));
  };
  const std::ptrdiff_t gone_below = std::max<std::ptrdiff_t>(-more.below, 0);
  const std::ptrdiff_t gone_above = std::max<std::ptrdiff_t>(-more.above, 0);
  const std::ptrdiff_t new_below = std::max<std::ptrdiff_t>(more.below, 0);
  const std::ptrdiff_t new_above = std::max<std::ptrdiff_t>(more.above, 0);
  return std::ranges::equal(part(before, gone_below, gone_above),
                            part(now, new_below, new_above)) &&
         are_zero(before.first(static_cast<std::size_t>(gone_below))) &&
         are_zero(before.last(static_cast<std::size_t>(gone_above))) &&
         are_zero(now.first(static_cast<std::size_t>(new_below))) &&
         are_zero(now.last(static_cast<std::size_t>(new_above)));
}

Kept kept_of(const view::HeatMap& before, const view::HeatMap& now, std::optional<MoreRows> more) {
  Kept kept = kept_moments(before.times_ns, now.times_ns);
  if (!more) kept.keep = 0;
  for (std::size_t at = 0; at < kept.keep; ++at) {
    if (!is_same_column(before.counts[kept.drop + at], now.counts[at], *more)) kept.keep = at;
  }
  return kept;
}

// How much of a trend is still in the next one, which may have grown or moved by up to two moments.
Kept kept_of_trend(const std::vector<double>& before, const std::vector<double>& now) {
  const std::size_t drop_most = std::min<std::size_t>(before.size(), 2);
  for (std::size_t drop = 0; drop <= drop_most; ++drop) {
    const std::size_t keep = before.size() - drop;
    if (keep <= now.size() && count_same(now.data(), before.data() + drop, keep) == keep) {
      return {drop, keep};
    }
  }
  return {};
}

template <typename T>
std::span<const T> behind(const std::vector<T>& list, std::size_t known) {
  return std::span(list).subspan(known);
}

JsonWriter& number(JsonWriter& json, std::size_t value) {
  return json.number(std::uint64_t{value});
}

void write_kept(JsonWriter& json, const Kept& kept) {
  json.key("kept").begin_array();
  number(number(json, kept.drop), kept.keep).end_array();
}

// ---- Sections ----

// The lines of a section before, by their keys. Most stand where they stood.
class LinesBefore {
 public:
  explicit LinesBefore(const std::vector<view::Line>& lines) : lines_(lines) {}

  [[nodiscard]] const view::Line& operator[](std::size_t place) const { return lines_[place]; }
  // The place of the line with this key; the number of lines if none has it.
  [[nodiscard]] std::size_t find(const std::string& key, std::size_t place) {
    if (place < lines_.size() && lines_[place].key == key) return place;
    if (places_.empty()) {
      for (std::size_t at = 0; at < lines_.size(); ++at) places_.emplace(lines_[at].key, at);
    }
    const auto found = places_.find(key);
    return found == places_.end() ? lines_.size() : found->second;
  }

 private:
  const std::vector<view::Line>& lines_;
  std::unordered_map<std::string_view, std::size_t> places_;
};

void write_cells(JsonWriter& json, const view::Line& before, const view::Line& now) {
  json.key("cells").begin_array();
  for (std::size_t at = 0; at < now.cells.size(); ++at) {
    if (at < before.cells.size() && before.cells[at] == now.cells[at]) {
      number(json, 0);
    } else {
      view::write_cell(json, now.cells[at]);
    }
  }
  json.end_array();
}

void write_known_line(JsonWriter& json, const view::Line& before, const view::Line& now,
                      std::optional<std::size_t> was) {
  json.begin_object();
  if (was) number(json.key("was"), *was);
  if (before.cells != now.cells) write_cells(json, before, now);
  if (before.opens != now.opens) {
    json.key("opens");
    now.opens ? json.text(view::link_of(*now.opens)) : json.null();
  }
  if (before.details != now.details) view::write_texts(json.key("details"), now.details);
  if (before.is_pinned != now.is_pinned) json.key("pinned").boolean(now.is_pinned);
  if (before.is_group != now.is_group) json.key("group").boolean(now.is_group);
  json.end_object();
}

bool is_as_before(const view::Line& before, const view::Line& now) {
  return before.cells == now.cells && before.opens == now.opens && before.details == now.details &&
         before.is_pinned == now.is_pinned && before.is_group == now.is_group;
}

struct KeptTrend {
  Kept kept;
  std::size_t more = 0;

  friend bool operator==(const KeptTrend&, const KeptTrend&) = default;
};

void write_trends(JsonWriter& json, std::span<const KeptTrend> trends,
                  std::span<const double> values, bool is_wide) {
  while (trends.size() > 1 && trends.back() == trends[trends.size() - 2]) {
    trends = trends.first(trends.size() - 1);
  }
  json.key("trends").begin_object().key("kept").begin_array();
  for (const KeptTrend& trend : trends) {
    json.begin_array();
    number(number(number(json, trend.kept.drop), trend.kept.keep), trend.more).end_array();
  }
  json.end_array();
  view::write_packed(json.key("values"), values, is_wide);
  json.end_object();
}

void write_lines(JsonWriter& json, const std::vector<view::Line>& before,
                 const std::vector<view::Line>& now) {
  LinesBefore known(before);
  std::vector<KeptTrend> trends;
  std::vector<double> values;
  bool is_wide = false;
  json.key("lines").begin_array();
  for (std::size_t at = 0; at < now.size(); ++at) {
    const view::Line& line = now[at];
    const std::size_t was = known.find(line.key, at);
    Kept kept;
    if (was == before.size()) {
      json.begin_object();
      view::write_line_members(json, line);
      json.end_object();
    } else {
      kept = kept_of_trend(known[was].trend, line.trend);
      if (was == at && is_as_before(known[was], line)) {
        number(json, 0);
      } else {
        write_known_line(json, known[was], line, was == at ? std::nullopt : std::optional(was));
      }
    }
    const auto more = behind(line.trend, kept.keep);
    trends.push_back({kept, more.size()});
    values.insert(values.end(), more.begin(), more.end());
    is_wide = is_wide || !view::fit_binary32(more, line.trend);
  }
  json.end_array();
  write_trends(json, trends, values, is_wide);
}

void write_section(JsonWriter& json, const view::Section& before, const view::Section& now) {
  json.begin_object();
  if (before.title != now.title) json.key("title").text(now.title);
  if (before.columns != now.columns) view::write_columns(json.key("columns"), now.columns);
  if (before.first != now.first) number(json.key("first"), now.first);
  if (before.total != now.total) number(json.key("total"), now.total);
  if (before.all != now.all) number(json.key("all"), now.all);
  if (before.chosen_column != now.chosen_column) number(json.key("chosen"), now.chosen_column);
  if (before.trend != now.trend) json.key("trend").text(now.trend);
  write_lines(json, before.lines, now.lines);
  json.end_object();
}

// ---- Plots ----

// A moment behind the first `known` has several values.
bool have_bands(const std::vector<view::Plot>& plots, std::size_t known) {
  for (const view::Plot& plot : plots) {
    for (const view::Plot::Curve& curve : plot.curves) {
      const auto low = behind(curve.low, known), high = behind(curve.high, known);
      if (!std::ranges::equal(low, high, view::is_same_number)) return true;
    }
  }
  return false;
}

void write_plots(JsonWriter& json, const std::vector<view::Plot>& before,
                 const std::vector<view::Plot>& now) {
  const Kept kept = kept_of(before, now);
  const bool has_bands = have_bands(now, kept.keep);
  bool is_wide = false;
  std::vector<double> values;
  for (const view::Plot& plot : now) {
    for (const view::Plot::Curve& curve : plot.curves) {
      const auto low = behind(curve.low, kept.keep), high = behind(curve.high, kept.keep);
      values.insert(values.end(), low.begin(), low.end());
      is_wide = is_wide || !view::fit_binary32(low, curve.low);
      if (!has_bands) continue;
      values.insert(values.end(), high.begin(), high.end());
      is_wide = is_wide || !view::fit_binary32(high, curve.high);
    }
  }
  json.key("plots").begin_object();
  write_kept(json, kept);
  view::write_moments(json.key("times"), behind(now.front().times_ns, kept.keep));
  if (has_bands) json.key("bands").boolean(true);
  view::write_packed(json.key("values"), values, is_wide);
  json.end_object();
}

void write_heat(JsonWriter& json, const view::HeatMap& before, const view::HeatMap& now) {
  const auto more = more_rows(before.edges, now.edges);
  const Kept kept = kept_of(before, now, more);
  json.key("heat").begin_object();
  write_kept(json, kept);
  if (before.edges != now.edges) {
    view::write_numbers(json.key("edges"), now.edges);
    if (more) {
      json.key("rows").begin_array().number(std::int64_t{more->below});
      json.number(std::int64_t{more->above}).end_array();
    }
  }
  view::write_moments(json.key("times"), behind(now.times_ns, kept.keep));
  view::write_counts(json.key("counts"), now.counts, kept.keep);
  if (before.largest != now.largest) json.key("largest").number_or_null(now.largest);
  json.end_object();
}

void write_histogram(JsonWriter& json, const view::Histogram& before, const view::Histogram& now) {
  json.key("histogram").begin_object();
  if (before.title != now.title) json.key("title").text(now.title);
  if (before.unit != now.unit) json.key("unit").text(now.unit);
  if (before.percentiles != now.percentiles) {
    view::write_percentiles(json.key("percentiles"), now);
  }
  if (before.edges != now.edges) view::write_numbers(json.key("edges"), now.edges);
  if (before.counts != now.counts) view::write_numbers(json.key("counts"), now.counts);
  if (before.outside != now.outside) json.key("outside").text(now.outside);
  json.end_object();
}

// ---- Pictures ----

bool is_like(const view::HeatMap& one, const view::HeatMap& other) {
  return one.title == other.title && one.unit == other.unit;
}

bool can_follow(const view::Picture& before, const view::Picture& now) {
  return before.place == now.place && before.sections.size() == now.sections.size() &&
         are_like(before.plots, now.plots) && before.heat.has_value() == now.heat.has_value() &&
         (!now.heat || is_like(*before.heat, *now.heat)) &&
         before.histogram.has_value() == now.histogram.has_value();
}

void write_moment(JsonWriter& json, std::string_view name, std::uint64_t before,
                  std::uint64_t now) {
  if (before != now) view::write_moment(json.key(name), now);
}

}  // namespace

std::optional<std::string> tail_json(const Shown& was, const Shown& is) {
  const view::Picture& before = was.picture;
  const view::Picture& now = is.picture;
  if (was.over || is.over || !can_follow(before, now)) return std::nullopt;
  JsonWriter json;
  json.begin_object();
  if (before.crumbs != now.crumbs) view::write_crumbs(json.key("crumbs"), now.crumbs);
  write_moment(json, "time", before.time_ns, now.time_ns);
  write_moment(json, "first", before.first_ns, now.first_ns);
  write_moment(json, "last", before.last_ns, now.last_ns);
  if (before.is_live != now.is_live) json.key("live").boolean(now.is_live);
  if (before.is_frozen != now.is_frozen) json.key("frozen").boolean(now.is_frozen);
  if (before.problems != now.problems) view::write_texts(json.key("problems"), now.problems);
  json.key("sections").begin_array();
  for (std::size_t i = 0; i < now.sections.size(); ++i) {
    write_section(json, before.sections[i], now.sections[i]);
  }
  json.end_array();
  if (!now.plots.empty()) write_plots(json, before.plots, now.plots);
  if (now.heat) write_heat(json, *before.heat, *now.heat);
  if (now.histogram) write_histogram(json, *before.histogram, *now.histogram);
  json.end_object();
  return json.take();
}

}  // namespace meterbank::page
