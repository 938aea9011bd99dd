// SPDX-License-Identifier: Apache-2.0
//
// What is to be seen, without a word about how it is drawn. The terminal draws it in cells, the
// page in HTML; `watch -f json` prints it as it is.
//
// Texts are cleaned: nothing in them is obeyed by a terminal. They are not HTML.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "view/place.hpp"

namespace meterbank::view {

enum class Mood : std::uint8_t { kPlain, kFaint, kGood, kWarning, kBad };

struct Column {
  std::string heading;
  std::string help;        // of the counter, where it is one
  bool is_number = false;  // right-aligned, and sorted with the largest first

  friend bool operator==(const Column&, const Column&) = default;
};

struct Cell {
  std::string text;
  Mood mood = Mood::kPlain;

  friend bool operator==(const Cell&, const Cell&) = default;
};

struct Line {
  std::string key;          // the same for the same row in every picture; what Place::pins holds
  std::vector<Cell> cells;  // one a column
  // The newest values of the chosen counter, oldest first, for a small plot; NaN: there was none.
  std::vector<double> trend;
  std::optional<Place> opens;        // where Enter or a click leads
  std::vector<std::string> details;  // of the row: what it is, what its provider says of it
  bool is_pinned = false;
  bool is_group = false;  // a heading of the lines that follow
};

// A table, or the part of it that was asked for.
struct Section {
  std::string title;
  std::vector<Column> columns;
  std::vector<Line> lines;
  std::size_t first = 0;          // number of lines[0] among `total`
  std::size_t total = 0;          // lines that filter and zeros leave
  std::size_t all = 0;            // lines that there are
  std::size_t chosen_column = 0;  // whose values are the trend
  std::string trend;              // heading of the trend; empty: there is none
};

// A counter, or several of one unit, over time.
struct Plot {
  struct Curve {
    std::string name;
    // One a moment. In a step of several samples, the least and the largest of them are kept, so
    // that no spike is lost. NaN: no value.
    std::vector<double> low, high;
  };
  std::string title;
  std::string unit;  // UCUM
  bool is_logarithmic = false;
  std::vector<std::uint64_t> times_ns;  // since 1970, ascending
  std::vector<Curve> curves;
  std::string note;  // why no curve has a value: "now 4 values ≤ 954 ns"
};

// The columns of a heat map, contiguous in memory: a picture has hundreds of them, and a new
// picture is made every moment.
class HeatColumns {
 public:
  [[nodiscard]] std::size_t size() const noexcept { return ends_.size(); }
  [[nodiscard]] bool empty() const noexcept { return ends_.empty(); }
  [[nodiscard]] std::span<const float> operator[](std::size_t column) const noexcept {
    const std::size_t begin = column == 0 ? 0 : ends_[column - 1];
    return std::span(counts_).subspan(begin, ends_[column] - begin);
  }
  [[nodiscard]] std::span<const float> back() const noexcept { return (*this)[size() - 1]; }
  // Appends a column of zeros. The result is valid until the next column is appended.
  std::span<float> add(std::size_t rows) {
    counts_.resize(counts_.size() + rows);
    ends_.push_back(counts_.size());
    return std::span(counts_).last(rows);
  }
  // Reserves room for `columns` columns with `rows` rows in total.
  void reserve(std::size_t columns, std::size_t rows) {
    ends_.reserve(columns);
    counts_.reserve(rows);
  }
  // Removes all columns but the first ones.
  void keep_first(std::size_t columns) {
    ends_.resize(std::min(columns, ends_.size()));
    counts_.resize(ends_.empty() ? 0 : ends_.back());
  }

 private:
  std::vector<float> counts_;
  std::vector<std::size_t> ends_;  // of the columns in counts_
};

// How the values of a distribution lay, moment by moment.
struct HeatMap {
  std::string title;
  std::string unit;
  std::vector<std::uint64_t> times_ns;  // one a column
  std::vector<double> edges;            // rows + 1 of them, ascending, in `unit`
  HeatColumns counts;                   // counts[column][row]; an empty column: no values known
  float largest = 0;
};

// The newest distribution.
struct Histogram {
  struct Percentile {
    std::string name, text;  // "p99", "1.27 ms"

    friend bool operator==(const Percentile&, const Percentile&) = default;
  };
  std::string title;
  std::vector<Percentile> percentiles;
  std::vector<double> edges;
  std::vector<double> counts;
  std::string unit;
  std::string outside;  // "4 values ≤ 954 ns", of those that no bucket has; empty: there are none
};

struct Crumb {
  std::string text;
  Place place;

  friend bool operator==(const Crumb&, const Crumb&) = default;
};

struct Picture {
  Place place;                              // what it is of; names are those of what was found
  std::vector<Crumb> crumbs;                // from the overview to here
  std::uint64_t time_ns = 0;                // of the values
  std::uint64_t first_ns = 0, last_ns = 0;  // what can be looked at with Place::at_ns
  bool is_live = true;                      // new moments come
  bool is_frozen = false;                   // and are not shown
  bool is_unfinished = false;               // a later picture of the same has more of the plots
  // What the person has to know: "orders@48213 silent for 8 s"
  std::vector<std::string> problems;
  std::vector<Section> sections;
  std::vector<Plot> plots;  // the first is of the chosen counter
  std::optional<HeatMap> heat;
  std::optional<Histogram> histogram;
};

// Which lines of which section a drawing has room for. Every other section gives its first ones.
struct Window {
  std::size_t section = 0;
  std::size_t first = 0;
  std::size_t lines = 100;
  std::size_t other_lines = 8;     // of each other section
  std::size_t plot_columns = 300;  // moments of a plot or a heat map, about
  std::size_t counters = 1;        // how many counters of an instance have plots
};

// No step of the curve has several values.
[[nodiscard]] bool is_line(const Plot::Curve& curve);
[[nodiscard]] inline bool is_same_number(double one, double other) noexcept {
  return one == other || (std::isnan(one) && std::isnan(other));
}

struct JsonForm {
  // Writes the numbers of plots and trends as packed.hpp says, and leaves out `high` where it
  // equals `low`, and the `times` of a plot that equal those of the plot before. Otherwise numbers
  // have seven digits, more than any screen shows, and a missing one is null.
  bool is_packed = false;
  bool has_plot_values = true;  // moments and values of plots
};

// One JSON object, with the names of the members above.
[[nodiscard]] std::string json_of(const Picture& picture, JsonForm form = {});

}  // namespace meterbank::view
