// SPDX-License-Identifier: Apache-2.0
//
// What is behind a Board: samples, the past, and the rows of one moment for the pictures.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "record/kept_ticks.hpp"
#include "view/board.hpp"
#include "view/extremes.hpp"
#include "view/past.hpp"

namespace meterbank::view {

inline constexpr std::size_t kTrendMax = 120;  // values of one
inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

// As one counts: "p2" is before "p10".
[[nodiscard]] inline int compare_names(const std::string& a, const std::string& b) noexcept {
  return ::strverscmp(a.c_str(), b.c_str());
}

// What is shown is of this moment: of two samples, or only of the past.
struct When {
  const Sample* older = nullptr;
  const Sample* newer = nullptr;  // null: of the past
  std::uint64_t moment = 0;       // of the past; the last one at or before time_ns
  std::uint64_t time_ns = 0;
  double seconds = 0;  // between the samples
};

// One row at that moment.
class RowAt {
 public:
  RowAt(Past& past, const When& when, const Row& row) : past_(&past), when_(&when), row_(&row) {
    facts_ = &past.facts_of(row);
  }
  RowAt(Past& past, const When& when, const RowPast& known)
      : past_(&past), when_(&when), known_(&known), facts_(known.set) {}

  [[nodiscard]] const SetFacts& set() const noexcept { return *facts_; }
  [[nodiscard]] std::string provider() const {
    if (known_ != nullptr) return known_->provider;
    return row_->is_total ? "" : label_of(*row_->provider);
  }
  [[nodiscard]] std::string instance() const {
    return known_ != nullptr ? known_->instance : row_->instance_label();
  }
  // Null: of the past.
  [[nodiscard]] const Row* row() const noexcept { return row_; }
  // What is remembered of it, if anything is.
  [[nodiscard]] const RowPast* past() const {
    return known_ != nullptr ? known_ : past_->find(id_of(*row_));
  }

  // `take` gets a Reading and returns whether it wants more.
  template <typename Take>
  void each(Take take) const {
    if (row_ != nullptr) return past_->each_reading(*row_, when_->seconds, take);
    for (std::size_t column = 0; column < known_->series.size(); ++column) {
      const double value = known_->series[column].at(when_->moment);
      const Reading reading{.column = column,
                            .cooked = value,
                            .stored = kNoNumber,
                            .status = std::isnan(value) ? "-" : "",
                            .value = nullptr};
      if (!take(reading)) return;
    }
  }
  // The number that is shown for a reading of this row. What its provider renews more slowly than
  // samples are taken stays what it was.
  [[nodiscard]] double number(const Reading& reading, bool stored) const {
    if (stored) return reading.stored;
    const bool is_old =
        reading.value != nullptr && reading.value->cooked.status == CookStatus::kNoNewSample;
    const RowPast* const before = is_old ? past() : nullptr;
    if (before == nullptr || reading.column >= before->series.size()) return reading.cooked;
    return before->series[reading.column].at(when_->moment);
  }
  [[nodiscard]] double number(std::size_t column, bool stored) const {
    double found = kNoNumber;
    each([&](const Reading& reading) {
      if (reading.column == column) found = number(reading, stored);
      return reading.column < column;
    });
    return found;
  }

 private:
  Past* past_;
  const When* when_;
  const Row* row_ = nullptr;
  const RowPast* known_ = nullptr;
  const SetFacts* facts_;
};

// What all rows of one set of one provider do together.
struct SetWork {
  std::string provider, set;  // label and symbol
  const SetFacts* facts = nullptr;
  std::size_t instances = 0;
  std::vector<double> sums;             // of rates, one a column
  std::vector<double> sums_before;      // at the moment before
  std::optional<std::size_t> headline;  // the column that says best how busy it is
  Series trend;
  std::uint64_t last_seen = 0;
  bool is_followed = true;  // all its rows have a past
};

// A set of a provider that has no instances.
struct EmptySet {
  std::string provider, set;  // label and symbol
  const Counterset* counters = nullptr;
};

// A registration of a provider: the first words of a RowId.
using SetId = std::array<std::uint64_t, 3>;
[[nodiscard]] inline SetId set_id_of(const ProviderView& provider,
                                     const RegisteredSet& registered) noexcept {
  return {provider.segment_id[0], provider.segment_id[1], registered.registration};
}

struct BoardState {
  explicit BoardState(cli::Selection& selected) : selection(selected), sampler(selected) {}

  void take();
  // For save(), if samples are kept.
  void keep_newest();
  // What sets do together at the newest moment.
  void sum_up();
  SetWork& work_of(const Row& row);
  void add_to_work(const Row& row);
  void add_old_value(const Row& row, std::size_t column, SetWork& sum) const;
  // Those that a place is about. Nothing of a provider whose rows paths select.
  [[nodiscard]] std::vector<EmptySet> empty_sets(const Place& place) const;
  // Chooses from the sets that the query selects now.
  void choose_followed();
  [[nodiscard]] bool is_followed(const Row& row);
  // Of what a place asks for.
  [[nodiscard]] When when_of(const Place& place);
  // Of live samples: keeps the newest one, so that it can be looked at while others come.
  void hold_newest();
  // Of a recording: shows that moment, with the past that lies before it.
  [[nodiscard]] When look_at(std::uint64_t at_ns, std::chrono::nanoseconds span);
  [[nodiscard]] std::optional<std::uint64_t> recorded_before(std::optional<std::uint64_t> at_ns);
  [[nodiscard]] std::optional<std::uint64_t> recorded_after(std::uint64_t at_ns);
  void replay(std::uint64_t from_ns, std::uint64_t to_ns);
  // Reads the extremes of all moments, where the past has only some of them. Null: note_plots() was
  // called, so they are read later.
  [[nodiscard]] const Extremes* extremes_of(const ExtremesOf& wanted);
  // The row is in a picture, and is followed for a while. Of a recording, what it lacks of its past
  // is replayed.
  void look_at_row(const Row& row);
  // True: it was not looked into lately.
  bool look_into_row(const Row& row);
  void forget_looks();
  // Whether it is remembered how its distributions lay.
  [[nodiscard]] bool has_heat(const Row& row) const;

  template <typename Take>
  void each_row(const When& when, const Place& place, Take take);

  // Null: no provider has that label, and not just one its name.
  [[nodiscard]] const ProviderView* provider_called(const std::string& label) const;
  [[nodiscard]] Place present_place(const Place& place) const;
  [[nodiscard]] Picture picture_of(const Place& asked, const Window& window);
  // Parts of pictures; each fills in what its screen shows.
  void show_overview(const When& when, const Window& window, Picture& picture);
  void show_set(const When& when, const Window& window, Picture& picture);
  void show_instance(const When& when, const Window& window, Picture& picture);
  // "orders@48213 silent for 8 s", as far as it is about what is shown.
  [[nodiscard]] std::vector<std::string> problems(const Place& place) const;
  [[nodiscard]] Section table_of(const When& when, const Place& place, const Window& window,
                                 std::size_t section, const std::vector<std::string>& columns);

  cli::Selection& selection;
  cli::Sampler sampler;
  Past past{Board::kMomentsMax};
  struct Look {
    std::uint64_t moment = 0;  // the last one
    std::size_t cells = 0;
  };
  std::map<RowId, Look> looked_at;  // rows that are followed where not all can be
  std::size_t cells_looked_at = 0;
  std::set<SetId> followed_sets;  // all their rows have a past
  std::uint64_t followed_of = 0;  // version of the catalog, and one
  const RegisteredSet* last_registered = nullptr;
  bool is_last_followed = false;
  std::size_t values_of_newest = 0;            // how many the newest sample has
  std::size_t distributions = 0;               // likewise
  std::map<RowId, std::uint64_t> looked_into;  // rows of pictures with heat maps, and when
  std::map<std::pair<std::string, const SetFacts*>, SetWork> work;
  SetWork* last_work = nullptr;
  const ProviderView* last_provider = nullptr;
  std::optional<record::KeptTicks> kept;  // for save()
  // Cuts that stand still, the latest last.
  struct HeldCut {
    Sample older, newer;
    std::uint64_t time_ns = 0;
    double seconds = 0;
  };
  std::deque<HeldCut> held;
  bool wants_replay = false;
  bool has_all_moments = true;      // the past has each moment of the span
  std::deque<Extremes> extremes;    // for the plots shown last, the newest at the end
  std::optional<ExtremesOf> noted;  // for read_noted_plots()
  std::size_t cells_max = Board::kCellsMax, heats_max = Board::kHeatsMax;  // to be looked at
  std::uint64_t log_at_ns = 0;    // what was asked for last
  std::uint64_t log_span_ns = 0;  // of the past that was replayed
};

[[nodiscard]] Cell cell_of(const RowAt& row, const Reading& reading, const Place& place);
[[nodiscard]] cli::UnitStyle units_of(const Place& place) noexcept;
// "18.4 k/s", for a number of the past.
[[nodiscard]] std::string number_text(const ColumnFacts& facts, double value, const Place& place);
// The newest distribution, of which `facts` are.
[[nodiscard]] Histogram histogram_of(const Distribution& seen, const ColumnFacts& facts,
                                     const Place& place);
// "4 values ≤ 954 ns": those below and above the buckets. Empty: all are within.
[[nodiscard]] std::string outside_text(const Distribution& seen, const ColumnFacts& facts,
                                       const Place& place);
[[nodiscard]] std::string clean(std::string_view text);
// Whether a filter leaves words. It is matched as a part of them.
[[nodiscard]] bool passes(const std::string& filter, std::string_view words);
[[nodiscard]] std::string key_of(std::string_view provider, std::string_view set,
                                 std::string_view instance);
[[nodiscard]] bool has_distribution(const Row& row) noexcept;
[[nodiscard]] std::string state_text(const ProviderView& provider);
// The newest values up to that moment, at most `count`.
[[nodiscard]] std::vector<double> trend_of(const Past& past, const Series& series,
                                           std::uint64_t moment, std::size_t count);

template <typename Take>
void BoardState::each_row(const When& when, const Place& place, Take take) {
  if (when.newer == nullptr) {
    for (const auto& [id, row] : past.rows()) {
      if (!place.set.empty() && row.set->symbol != place.set) continue;
      if (!place.provider.empty() && row.provider != place.provider) continue;
      if (!take(RowAt(past, when, row))) return;
    }
    return;
  }
  const ProviderView* provider = nullptr;
  bool is_wanted = true;
  for (const Row& row : when.newer->since(*when.older, cli::kUncapped)) {
    if (!place.provider.empty() && row.provider != provider) {
      provider = row.provider;
      is_wanted = label_of(*provider) == place.provider;
    }
    if (!is_wanted || (row.is_total && !place.provider.empty())) continue;
    const auto& set = row.set();
    if (!place.set.empty() && (set.symbol.empty() ? set.name : set.symbol) != place.set) continue;
    if (!take(RowAt(past, when, row))) return;
  }
}

}  // namespace meterbank::view
