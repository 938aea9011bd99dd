// SPDX-License-Identifier: Apache-2.0
//
// The live table without a terminal: what is known of each row, what the person wants to see, and
// the lines that follow from both.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/format/quantity.hpp"
#include "cli/session/selection.hpp"
#include "cli/watch/draw/cells.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {

// The last values of one row, oldest first.
class History {
 public:
  static constexpr std::size_t kLength = 600;
  static constexpr auto kAverageSpan = std::chrono::minutes(1);

  void add(double value, bool present, Clock::time_point now);
  [[nodiscard]] bool has_now() const noexcept { return !points_.empty() && points_.back().present; }
  [[nodiscard]] double now() const noexcept { return points_.back().value; }
  // Over the last minute; only if any value was present in it.
  [[nodiscard]] bool has_average() const noexcept;
  [[nodiscard]] double average() const noexcept;
  // Since the table began.
  [[nodiscard]] double maximum() const noexcept { return maximum_; }
  [[nodiscard]] bool ever_present() const noexcept { return ever_present_; }

  // The newest `cells` values as bars between 0 and the largest of them, right-aligned. `ascii`
  // avoids block characters.
  [[nodiscard]] std::string bars(std::size_t cells, bool ascii) const;

 private:
  struct Point {
    double value;
    bool present;
    Clock::time_point time;
  };
  std::deque<Point> points_;
  double maximum_ = 0;
  bool ever_present_ = false;
};

// Which row of which life of which instance; with the name of its counter where that has no word.
using RowKey = std::pair<std::array<std::uint64_t, 6>, std::string>;

// Texts are cleaned.
struct LiveRow {
  // These stay while the rows of the query do.
  std::optional<std::uint64_t> version;  // of the query for which they were made
  std::string own_name;                  // the counter's
  std::string counter;  // own_name, behind the provider's where two rows would read the same
  std::string instance, provider;
  std::string unit;               // the unit of the value that is shown
  std::string detail;             // "% Processor Time: share of time ..."
  std::string facts;              // "kind: rate, unit: {order}/s, id 1"
  std::size_t counter_width = 0;  // in cells, as all widths
  std::size_t instance_width = 0;

  History history;

  // What the newest sample says.
  std::uint64_t sample = 0;          // its number
  std::string status;                // empty if there is a value
  std::optional<std::string> text;   // in place of a number
  std::optional<std::string> exact;  // the number with digits that `value` has no room for
  double value = 0;
  bool is_news = true;      // false: the provider has not stored a newer one
  bool is_of_hung = false;  // its provider lives and does not tick
};

enum class Sorting : std::uint8_t { kAsListed, kByName, kByValue };

// What the person has chosen with keys.
struct View {
  std::string filter;
  bool editing_filter = false;
  Sorting sorting = Sorting::kAsListed;
  bool hide_zeros = false;
  bool raw = false;
  bool paused = false;
  bool show_help = false;
  bool details = true;
  UnitStyle units = UnitStyle::kAuto;
  std::size_t selected = 0;  // among the shown rows
  std::size_t top = 0;       // first row on the screen
  bool ascii = false;
};

enum class LineLook : std::uint8_t { kPlain, kHeading, kFaint, kSelected };
struct ScreenLine {
  std::string text;
  LineLook look = LineLook::kPlain;
};

[[nodiscard]] Grid grid_of(const std::vector<ScreenLine>& lines, std::size_t width,
                           std::size_t height, Charset charset);

// What the header says beside the table itself.
struct Status {
  std::chrono::nanoseconds interval{};
  std::uint64_t missed = 0;
  std::string clock;
  std::string trouble;  // "orders@48213 silent for 8 s", in a line of its own; empty: none
};

class LiveTable {
 public:
  explicit LiveTable(Charset charset = Charset::kUtf8) : charset_(charset) {}

  // More rows than a person looks at, and their histories in some 20 MiB.
  static constexpr std::size_t kRowsMax = 1000;

  // Takes over the rows of a sample; rows that are no longer there are forgotten. Of more than
  // kRowsMax rows it takes the first that the filter leaves, and looks for these among all: that
  // takes time, and ends early once `is_interrupted` says so.
  // `version` is that of the query: when it changes, rows may have other names.
  void update(const RowWalk& rows, std::uint64_t version, const View& view, Clock::time_point now,
              const std::function<bool()>& is_interrupted = {});
  // There were more rows than were taken.
  [[nodiscard]] bool is_cut() const noexcept { return is_cut_; }
  // Forgets all rows, as before a change from cooked to raw values.
  void clear();

  [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
  // Rows that filter and zeros leave, in the order that was asked for.
  [[nodiscard]] std::vector<const LiveRow*> shown(const View& view) const;

  // At most `height` lines of at most `width` cells. Moves `view` so that the selected row exists
  // and is on the screen.
  [[nodiscard]] std::vector<ScreenLine> render(View& view, const Status& status, std::size_t width,
                                               std::size_t height) const;

 private:
  struct Layout;
  // False: there are more.
  bool take_rows(const RowWalk& rows, const View& view, const std::string& filter,
                 const std::function<bool()>& is_interrupted);
  LiveRow& row_of(const Value& value, bool raw);
  void name_providers_of_twins();
  [[nodiscard]] static std::string number_text(const LiveRow& row, double value, const View& view);
  [[nodiscard]] static std::string now_text(const LiveRow& row, const View& view);
  [[nodiscard]] ScreenLine header(const View& view, const Status& status, std::size_t shown,
                                  std::size_t width) const;
  [[nodiscard]] static std::string row_line(const LiveRow& row, const View& view,
                                            const Layout& layout);

  Charset charset_;
  std::map<RowKey, LiveRow> known_;
  std::vector<LiveRow*> rows_;  // in known_, in the order of the list
  std::uint64_t version_ = 0;
  std::uint64_t sample_ = 0;
  bool is_cut_ = false;
};

}  // namespace meterbank::cli
