// SPDX-License-Identifier: Apache-2.0
//
// The screen of an instance: its counters as rows, and over time.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "cli/format/mean.hpp"
#include "cli/format/time_text.hpp"
#include "view/board_state.hpp"
#include "view/sorted.hpp"

namespace meterbank::view {
namespace {

constexpr std::int32_t kHeatRowsMax = 48;

// Least, mean and largest of the moments of the span.
struct Extent {
  double low = kNoNumber, high = kNoNumber, mean = kNoNumber;
};
Extent extent_of(const Series& series, std::uint64_t begin, std::uint64_t end) {
  // Independent lanes, because a table computes the extents of all its lines every moment.
  constexpr std::size_t kLanes = 4;
  constexpr double kMost = std::numeric_limits<double>::infinity();
  std::array<double, kLanes> low{}, high{}, sum{}, count{};
  low.fill(kMost);
  high.fill(-kMost);
  const auto take = [&](std::size_t lane, double value) {
    const bool is_number = !std::isnan(value);  // comparisons with NaN are false, too
    low[lane] = value < low[lane] ? value : low[lane];
    high[lane] = value > high[lane] ? value : high[lane];
    sum[lane] += is_number ? value : 0;
    count[lane] += is_number ? 1 : 0;
  };
  const auto values = series.within(begin, end);
  std::size_t at = 0;
  for (; at + kLanes <= values.size(); at += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) take(lane, values[at + lane]);
  }
  for (; at < values.size(); ++at) take(0, values[at]);
  const double numbers = std::accumulate(count.begin(), count.end(), 0.0);
  if (numbers == 0) return {};
  Extent extent{*std::min_element(low.begin(), low.end()),
                *std::max_element(high.begin(), high.end()),
                std::accumulate(sum.begin(), sum.end(), 0.0) / numbers};
  if (!std::isfinite(extent.mean)) {
    cli::Mean mean;
    for (const double value : values) {
      if (!std::isnan(value)) mean.add(value);
    }
    extent.mean = mean.value();
  }
  return extent;
}

// Moments [begin, end) in about `columns` steps. All steps but the first and the last have equally
// many, and end at multiples of that, so that a new moment changes the last step only.
struct Steps {
  std::uint64_t begin, end, size;
  // Moments before `first`, back to `oldest`, are added until the first step is whole.
  Steps(std::uint64_t first, std::uint64_t behind, std::uint64_t oldest, std::size_t columns)
      : begin(first), end(behind), size(1) {
    // A span may have a moment more or less than the one before. Steps stay as long as they were.
    const auto most = std::max<std::uint64_t>(columns + columns / 16, 1);
    if (columns > 0) size = std::max<std::uint64_t>(1, (end - begin + most - 1) / most);
    begin = std::max(begin / size * size, oldest);
  }
  template <typename Take>
  void each(Take take) const {
    for (auto at = begin; at < end;) {
      const auto next = std::min(end, (at / size + 1) * size);
      take(at, next);
      at = next;
    }
  }
};

std::vector<std::uint64_t> times_of(const Past& past, const Steps& steps) {
  std::vector<std::uint64_t> times;
  times.reserve((steps.end - steps.begin) / steps.size + 2);
  steps.each(
      [&](std::uint64_t /*begin*/, std::uint64_t end) { times.push_back(past.time_of(end - 1)); });
  return times;
}

Plot::Curve curve_of(const ColumnFacts& facts, const Series& series, const Steps& steps) {
  Plot::Curve curve{clean(facts.symbol), {}, {}};
  if (steps.size == 1) {
    curve.low = series.all_of(steps.begin, steps.end);
    curve.high = curve.low;
    return curve;
  }
  steps.each([&](std::uint64_t begin, std::uint64_t end) {
    const auto extent = extent_of(series, begin, end);
    curve.low.push_back(extent.low);
    curve.high.push_back(extent.high);
  });
  return curve;
}

// The buckets that have values and, where samples are missing, one without values for each of them.
// Nothing is missing between two samples of a slow rate: nine of ten are as far apart as it makes
// them.
std::vector<std::size_t> shown_buckets(const std::vector<recording::EnvelopeSeries>& drawn) {
  const std::size_t all = drawn.front().buckets.size();
  std::vector<std::size_t> filled, distances;
  for (std::size_t at = 0; at < all; ++at) {
    const bool has_values = std::any_of(drawn.begin(), drawn.end(), [at](const auto& series) {
      return series.buckets[at].count != 0;
    });
    if (!has_values) continue;
    if (!filled.empty()) distances.push_back(at - filled.back());
    filled.push_back(at);
  }
  if (distances.empty()) distances.push_back(1);
  std::sort(distances.begin(), distances.end());
  const std::size_t usual = distances[distances.size() * 9 / 10];
  const auto behind_usual = std::upper_bound(distances.begin(), distances.end(), usual);
  const double mean = std::accumulate(distances.begin(), behind_usual, 0.0) /
                      static_cast<double>(std::distance(distances.begin(), behind_usual));
  std::vector<std::size_t> shown;
  double before = -1;
  const auto add_missing = [&](std::size_t end) {
    const double distance = static_cast<double>(end) - before;
    if (distance <= static_cast<double>(usual)) return;
    const auto samples = std::lround(distance / mean);
    for (long missing = 1; missing < samples; ++missing) {
      const double place = before + static_cast<double>(missing) * mean;
      shown.push_back(static_cast<std::size_t>(std::lround(place)));
    }
  };
  for (const std::size_t at : filled) {
    add_missing(at);
    shown.push_back(at);
    before = static_cast<double>(at);
  }
  add_missing(all);
  return shown;
}

HeatMap heat_of(const Past& past, const HeatSeries& series, const Steps& steps) {
  HeatMap heat;
  std::int32_t least = std::numeric_limits<std::int32_t>::max();
  std::int32_t most = std::numeric_limits<std::int32_t>::min();
  std::size_t filled = 0;
  for (auto moment = steps.begin; moment < steps.end; ++moment) {
    const auto counts = series.at(moment);
    if (counts.empty()) continue;
    least = std::min(least, counts.front().first);
    most = std::max(most, counts.back().first);
    ++filled;
  }
  if (least > most) return heat;
  int joined = 0;
  while ((most >> joined) - (least >> joined) >= kHeatRowsMax) ++joined;
  const std::int32_t first = least >> joined;
  const auto rows = static_cast<std::size_t>((most >> joined) - first) + 1;
  for (std::size_t row = 0; row <= rows; ++row) {
    heat.edges.push_back(
        bucket_bound(first + static_cast<std::int32_t>(row), series.scale() - joined));
  }
  heat.times_ns = times_of(past, steps);
  heat.counts.reserve(heat.times_ns.size(), std::min(filled, heat.times_ns.size()) * rows);
  steps.each([&](std::uint64_t begin, std::uint64_t end) {
    bool is_empty = true;
    for (auto moment = begin; moment < end; ++moment) {
      is_empty = is_empty && series.at(moment).empty();
    }
    const auto column = heat.counts.add(is_empty ? 0 : rows);
    for (auto moment = begin; moment < end; ++moment) {
      for (const auto& [bucket, count] : series.at(moment)) {
        column[static_cast<std::size_t>((bucket >> joined) - first)] += count;
      }
    }
    for (const float count : column) heat.largest = std::max(heat.largest, count);
  });
  return heat;
}

// One instance as a picture.
class InstancePicture {
 public:
  InstancePicture(BoardState& state, const When& when, const RowAt& row, Picture& picture)
      : state_(state),
        past_(state.past),
        when_(when),
        row_(row),
        picture_(picture),
        known_(row.past()) {
    const auto span = static_cast<std::uint64_t>(picture.place.span.count());
    const auto from_ns = when.time_ns - std::min(when.time_ns, span);
    end_ = std::min(when.moment + 1, past_.end_moment());
    begin_ = past_.moment_at(from_ns).value_or(past_.first_moment());
  }

  void draw(const Window& window) {
    Section table;
    table.title = clean(row_.set().symbol);
    table.columns = {{"COUNTER", "", false},
                     {"NOW", "", true},
                     {"MEAN", "over the span", true},
                     {"MIN", "", true},
                     {"MAX", "", true}};
    table.trend = "LAST";
    std::vector<CounterLine> counters;
    row_.each([&](const Reading& reading) {
      ++table.all;
      auto counter = line_of(reading);
      const auto& facts = row_.set().columns[reading.column];
      const bool is_hidden = picture_.place.hide_zeros && reading.cooked == 0;
      if (!is_hidden && passes(picture_.place.filter, facts.symbol + " " + facts.name)) {
        counters.push_back(std::move(counter));
      }
      return true;
    });
    sort_by_heading(counters, table.columns, picture_.place,
                    [](const CounterLine& counter, std::size_t column) -> SortValue {
                      if (column == 0) return counter.line.key;
                      return counter.numbers[column - 1];
                    });
    std::stable_partition(counters.begin(), counters.end(),
                          [](const CounterLine& counter) { return counter.line.is_pinned; });
    std::vector<Line> lines;
    lines.reserve(counters.size());
    for (CounterLine& counter : counters) lines.push_back(std::move(counter.line));
    draw_plots(window, lines);
    table.total = lines.size();
    table.first = window.section == 0 ? std::min(window.first, lines.size()) : 0;
    const auto end = std::min(lines.size(), table.first + window.lines);
    table.lines.assign(
        std::make_move_iterator(lines.begin() + static_cast<std::ptrdiff_t>(table.first)),
        std::make_move_iterator(lines.begin() + static_cast<std::ptrdiff_t>(end)));
    picture_.sections.push_back(std::move(table));
  }

 private:
  struct CounterLine {
    Line line;
    std::array<double, 4> numbers{};  // now, mean, least and largest
  };

  CounterLine line_of(const Reading& reading) {
    const auto& facts = row_.set().columns[reading.column];
    Line line;
    line.key = facts.symbol;
    line.is_pinned = std::find(picture_.place.pins.begin(), picture_.place.pins.end(), line.key) !=
                     picture_.place.pins.end();
    line.cells = {{clean(facts.symbol)}, cell_of(row_, reading, picture_.place)};
    const Series* series = series_of(reading.column);
    Extent extent;
    if (series != nullptr && !facts.is_text) {
      // The past has rates, whose mean is not that of stored counts.
      if (!picture_.place.stored || !facts.is_rate) extent = extent_of(*series, begin_, end_);
      line.trend = trend_of(past_, *series, when_.moment, kTrendMax);
    }
    for (const double value : {extent.mean, extent.low, extent.high}) {
      line.cells.push_back({facts.is_text ? "" : number_text(facts, value, picture_.place),
                            std::isnan(value) ? Mood::kFaint : Mood::kPlain});
    }
    Place chosen = picture_.place;
    chosen.counter = facts.symbol;
    line.opens = chosen;
    line.details = {clean(facts.help.empty() ? facts.name : facts.name + ": " + facts.help),
                    clean(facts.facts)};
    const double now = row_.number(reading, picture_.place.stored);
    return {std::move(line), {now, extent.mean, extent.low, extent.high}};
  }

  [[nodiscard]] const Series* series_of(std::size_t column) const {
    return known_ != nullptr && column < known_->series.size() ? &known_->series[column] : nullptr;
  }

  // The chosen counter, or the first one that a picture says most of: a distribution.
  [[nodiscard]] std::optional<std::size_t> chosen() const {
    const auto& columns = row_.set().columns;
    if (const auto found = row_.set().find(picture_.place.counter)) return found;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (columns[i].is_distribution && series_of(i) != nullptr) return i;
    }
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (!columns[i].is_text && series_of(i) != nullptr) return i;
    }
    return std::nullopt;
  }

  void draw_plots(const Window& window, const std::vector<Line>& lines) {
    const auto column = chosen();
    if (!column || end_ <= begin_) return;
    picture_.place.counter = row_.set().columns[*column].symbol;
    const Steps steps(begin_, end_, past_.first_moment(), window.plot_columns);
    const auto columns = plotted(*column, lines, window.counters);
    if (row_.set().columns[columns.front()].is_distribution) draw_spread(columns.front(), steps);
    const auto paths = state_.has_all_moments ? std::vector<std::string>{} : paths_of(columns);
    const auto* const extremes = paths.empty() ? nullptr : extremes_of(paths, window);
    const auto times = times_of(past_, steps);
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto& facts = row_.set().columns[columns[i]];
      Plot plot;
      plot.title = clean(facts.symbol);
      plot.unit = facts.is_distribution ? facts.value_unit : facts.unit;
      plot.is_logarithmic = picture_.place.logarithmic;
      if (extremes == nullptr || !draw_extremes(*extremes, paths[i], columns[i], plot)) {
        plot.times_ns = times;
        draw_moments(columns[i], steps, plot);
      }
      if (facts.is_text) plot.note = "a text has no curve";
      if (facts.is_distribution) plot.note = note_without_percentiles(columns[i], plot);
      picture_.plots.push_back(std::move(plot));
    }
  }

  // Percentiles below or above the buckets have no place in a plot. Empty: it has others, or the
  // distribution never had a value.
  [[nodiscard]] std::string note_without_percentiles(std::size_t origin, const Plot& plot) const {
    const auto has_numbers = [](const Plot::Curve& curve) {
      return std::ranges::any_of(curve.high, [](double high) { return !std::isnan(high); });
    };
    if (std::ranges::any_of(plot.curves, has_numbers)) return {};
    std::string note = "no percentile within the buckets";
    row_.each([&](const Reading& reading) {
      if (reading.column != origin) return true;
      if (reading.stored == 0) note.clear();
      const auto* const seen = reading.value == nullptr ? nullptr : reading.value->distribution;
      if (seen == nullptr) return false;
      const auto outside = outside_text(*seen, row_.set().columns[origin], picture_.place);
      if (!outside.empty()) note = "now " + outside;
      return false;
    });
    return note;
  }

  // The chosen counter, then others in the order of the table. Percentiles are drawn together, as
  // those of their distribution.
  [[nodiscard]] std::vector<std::size_t> plotted(std::size_t chosen, const std::vector<Line>& lines,
                                                 std::size_t most) const {
    const auto& columns = row_.set().columns;
    while (columns[chosen].share) --chosen;
    std::vector<std::size_t> plotted{chosen};
    for (const Line& line : lines) {
      if (plotted.size() >= most) break;
      auto column = *row_.set().find(line.key);
      while (columns[column].share) --column;
      const bool is_known = std::find(plotted.begin(), plotted.end(), column) != plotted.end();
      if (!is_known && !columns[column].is_text && series_of(column) != nullptr) {
        plotted.push_back(column);
      }
    }
    return plotted;
  }

  void draw_moments(std::size_t origin, const Steps& steps, Plot& plot) const {
    const auto& columns = row_.set().columns;
    const auto draw = [&](std::size_t column) {
      const auto* const series = series_of(column);
      if (series != nullptr) plot.curves.push_back(curve_of(columns[column], *series, steps));
    };
    if (!columns[origin].is_distribution) return draw(origin);
    for (auto i = origin + 1; i < columns.size() && columns[i].share; ++i) draw(i);
  }

  // As patterns; empty: the row has no value of one of them at this moment.
  [[nodiscard]] std::vector<std::string> paths_of(const std::vector<std::size_t>& columns) const {
    std::vector<std::string> paths(columns.size());
    row_.each([&](const Reading& reading) {
      const auto found = std::find(columns.begin(), columns.end(), reading.column);
      if (found != columns.end() && reading.value != nullptr) {
        paths[static_cast<std::size_t>(found - columns.begin())] = reading.value->short_path();
      }
      return true;
    });
    const bool lacks_one = std::find(paths.begin(), paths.end(), "") != paths.end();
    return lacks_one ? std::vector<std::string>{} : paths;
  }

  // Where a recording has more moments than are kept.
  const Extremes* extremes_of(const std::vector<std::string>& paths, const Window& window) {
    ExtremesOf wanted;
    wanted.paths = {paths.begin(), paths.end()};
    wanted.to_ns = when_.time_ns;
    wanted.from_ns =
        when_.time_ns -
        std::min(when_.time_ns, static_cast<std::uint64_t>(picture_.place.span.count()));
    wanted.from_ns = std::max(wanted.from_ns, state_.selection.log->first().realtime_ns);
    wanted.columns = window.plot_columns;
    const auto* const extremes = state_.extremes_of(wanted);
    if (extremes != nullptr && !extremes->are_whole()) {
      picture_.is_unfinished = true;
      picture_.problems.push_back(
          fmt::format("the plots begin at {} so far: reading all of this span takes longer",
                      cli::print_local(extremes->begin_ns(), false)));
    }
    if (extremes != nullptr && !extremes->problem().empty()) {
      picture_.problems.push_back("a part of the plots is missing: " + extremes->problem());
    }
    return extremes;
  }

  // False: there is nothing of it.
  bool draw_extremes(const Extremes& extremes, const std::string& path, std::size_t column,
                     Plot& plot) const {
    const auto& facts = row_.set().columns[column];
    auto drawn = extremes.series_of(path, row_.provider());
    // Of a distribution, percentiles are drawn and not how many values it has.
    std::erase_if(drawn, [&facts](const recording::EnvelopeSeries& series) {
      return series.percentile.has_value() != facts.is_distribution;
    });
    if (drawn.empty()) return false;
    const auto buckets = shown_buckets(drawn);
    for (const auto& series : drawn) {
      auto name = facts.symbol;
      if (series.percentile) name += fmt::format(".p{:g}", *series.percentile);
      Plot::Curve curve{clean(name), {}, {}};
      for (const std::size_t at : buckets) {
        const auto& bucket = series.buckets[at];
        curve.low.push_back(bucket.count == 0 ? kNoNumber : bucket.least);
        curve.high.push_back(bucket.count == 0 ? kNoNumber : bucket.most);
      }
      plot.curves.push_back(std::move(curve));
    }
    for (const std::size_t at : buckets) {
      plot.times_ns.push_back(extremes.end_of(at));
    }
    return true;
  }

  void draw_spread(std::size_t origin, const Steps& steps) {
    const auto& facts = row_.set().columns[origin];
    if (known_ != nullptr) {
      const auto found = known_->heat.find(origin);
      if (found != known_->heat.end()) {
        auto heat = heat_of(past_, found->second, steps);
        heat.title = clean(facts.symbol);
        heat.unit = facts.value_unit;
        if (!heat.edges.empty()) picture_.heat = std::move(heat);
      }
    }
    row_.each([&](const Reading& reading) {
      if (reading.column != origin || reading.value == nullptr) return true;
      if (reading.value->distribution != nullptr) {
        picture_.histogram = histogram_of(*reading.value->distribution, facts, picture_.place);
      }
      return false;
    });
  }

  BoardState& state_;
  Past& past_;
  const When& when_;
  const RowAt& row_;
  Picture& picture_;
  const RowPast* known_;
  std::uint64_t begin_ = 0, end_ = 0;  // moments of the span
};

}  // namespace

void BoardState::show_instance(const When& when, const Window& window, Picture& picture) {
  bool is_found = false;
  each_row(when, picture.place, [&](const RowAt& row) {
    if (row.instance() != picture.place.instance) return true;
    is_found = true;
    if (row.row() != nullptr) {
      look_at_row(*row.row());
      // What was replayed lacks its distributions.
      const bool is_new = look_into_row(*row.row());
      const bool lacks_heat =
          row.past() != nullptr && row.past()->heat.empty() && has_distribution(*row.row());
      wants_replay = wants_replay || (selection.log != nullptr && is_new && lacks_heat);
    }
    InstancePicture(*this, when, row, picture).draw(window);
    return false;
  });
  if (is_found) return;
  picture.problems.push_back(fmt::format("{} is not there", clean(picture.place.instance)));
  picture.place.screen = Screen::kSet;
  picture.place.instance.clear();
  show_set(when, window, picture);
}

}  // namespace meterbank::view
