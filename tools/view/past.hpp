// SPDX-License-Identifier: Apache-2.0
//
// The past of rows: what their counters were, moment by moment. All rows share one line of time.
//
//   moment     0      1      2      3        times_ns
//   eu
//     accepted 18.4k  18.5k  NaN    18.3k    one number a moment; NaN: there was none
//     latency  {..}   {..}   {}     {..}     counts by bucket, of a distribution
//   us                18.1k  18.2k  18.2k    came at moment 1
//
// Numbers of moments are absolute and go on; the first ones are dropped together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "meterbank/reader/sample.hpp"

namespace meterbank::view {

// A number that a row has: a counter, or a percentile of a distribution.
struct ColumnFacts {
  std::string symbol;  // "latency.p99"
  std::string name, help;
  std::string unit, stored_unit;
  std::string value_unit;       // of the values of a distribution
  std::string facts;            // "rate in {order}/s: ..., id 1"
  std::optional<double> share;  // of a percentile: 0.99
  bool is_rate = false;
  bool is_distribution = false;
  bool is_text = false;
};

// The numbers of all sets of one symbol and GUID, in the order in which they were met.
struct SetFacts {
  std::string symbol, name, help, label;
  std::vector<ColumnFacts> columns;

  [[nodiscard]] std::optional<std::size_t> find(std::string_view symbol) const noexcept;
};

inline constexpr std::array kPercentilesShown{std::pair{"50", 0.5}, std::pair{"99", 0.99},
                                              std::pair{"99.9", 0.999}};

// What one value gives to its columns.
struct Reading {
  std::size_t column = 0;
  double cooked = 0;  // NaN: it has none at this moment
  double stored = 0;
  std::string_view status = {};  // why it has none; empty: it has
  const Value* value = nullptr;
};

// "orders@48213"; in a recording of several machines "orders@48213 on web1".
[[nodiscard]] std::string label_of(const ProviderView& provider);

// The name and the machine in such a label: "orders" and " on web1". They refer to the label.
[[nodiscard]] std::pair<std::string_view, std::string_view> name_and_host_of(
    std::string_view label) noexcept;

using RowId = std::array<std::uint64_t, 5>;
[[nodiscard]] RowId id_of(const Row& row) noexcept;

class Series {
 public:
  // Values of moments that were passed over in between are NaN.
  void add(std::uint64_t moment, double value);
  void drop_before(std::uint64_t moment);
  // Lays older values before these: the last of them is that of the moment before `moment`.
  void lay_before(std::uint64_t moment, const std::vector<double>& older);
  [[nodiscard]] double at(std::uint64_t moment) const noexcept;
  // Those of [begin, end) that it has. Valid until the series changes.
  [[nodiscard]] std::span<const double> within(std::uint64_t begin,
                                               std::uint64_t end) const noexcept;
  // What at() says of [begin, end).
  [[nodiscard]] std::vector<double> all_of(std::uint64_t begin, std::uint64_t end) const;
  [[nodiscard]] bool empty() const noexcept { return values_.empty(); }
  // Hints that add() follows soon.
  void prefetch_end() const noexcept { __builtin_prefetch(values_.data() + values_.size(), 1); }

 private:
  std::uint64_t first_ = 0;
  std::vector<double> values_;
};

// Counts by bucket at a scale of at most kScale, sparse.
class HeatSeries {
 public:
  static constexpr std::int32_t kScale = 3;  // eight buckets in each doubling
  using Counts = std::span<const std::pair<std::int32_t, float>>;

  void add(std::uint64_t moment, const Distribution& seen);
  void drop_before(std::uint64_t moment);
  void lay_before(std::uint64_t moment, const HeatSeries& older, std::uint64_t older_end);
  // Empty: no values were recorded, or none is known.
  [[nodiscard]] Counts at(std::uint64_t moment) const noexcept;
  [[nodiscard]] std::int32_t scale() const noexcept { return scale_; }

 private:
  [[nodiscard]] std::uint64_t end_moment() const noexcept { return first_ + ends_.size(); }
  // Makes `moment` the next one to be added. Moments that were passed over are empty.
  void pass_to(std::uint64_t moment) {
    ends_.resize(moment - first_, counts_.size());
    counts_.resize(ends_.empty() ? 0 : ends_.back());
  }

  std::uint64_t first_ = 0;
  std::int32_t scale_ = kScale;
  // The counts of all moments, contiguous: a heat map reads hundreds of moments at once.
  std::vector<std::pair<std::int32_t, float>> counts_;
  std::vector<std::size_t> ends_;  // of the moments in counts_
};

struct RowPast {
  RowId id{};
  std::string provider, instance;  // labels
  const SetFacts* set = nullptr;
  std::vector<Series> series;              // one a column
  std::map<std::size_t, HeatSeries> heat;  // by the column of the distribution
  std::uint64_t last_seen = 0;             // moment
};

class Past {
 public:
  explicit Past(std::size_t moments_max) : moments_max_(moments_max) {}

  // What follows belongs to a new moment, so many seconds after the one before.
  void begin_moment(std::uint64_t realtime_ns, double seconds);
  // Lays all of an earlier past before this one. Rows are the same if their labels are.
  void lay_before(const Past& earlier);

  // Facts about the set of a row, and its readings in turn. The row is not followed by that.
  [[nodiscard]] const SetFacts& facts_of(const Row& row);
  template <typename Take>
  void each_reading(const Row& row, double seconds, Take take);
  // The values alone, with their columns: no percentile is looked for.
  template <typename Take>
  void each_value(const Row& row, Take take) {
    SetUse& use = use_of(row);
    for (const Value& value : row) take(column_of(use, value), value);
  }
  // Remembers the readings of the row at this moment.
  void follow(const Row& row, bool with_heat);

  [[nodiscard]] const RowPast* find(const RowId& id) const;
  [[nodiscard]] const std::map<RowId, RowPast>& rows() const noexcept { return rows_; }
  // Times of the moments that are remembered, ascending, and the number of the first.
  [[nodiscard]] const std::vector<std::uint64_t>& times() const noexcept { return times_; }
  [[nodiscard]] std::uint64_t first_moment() const noexcept { return first_; }
  [[nodiscard]] std::uint64_t end_moment() const noexcept { return first_ + times_.size(); }
  // The last one at or before that time.
  [[nodiscard]] std::optional<std::uint64_t> moment_at(std::uint64_t realtime_ns) const noexcept;
  [[nodiscard]] std::uint64_t time_of(std::uint64_t moment) const {
    return times_[moment - first_];
  }

 private:
  static constexpr std::uint32_t kNoColumn = 0xffffffff;
  // Where the counters of one description of a set are among the columns.
  struct SetUse {
    std::shared_ptr<const Counterset> set;  // keeps the address its own
    SetFacts* facts = nullptr;
    std::vector<std::uint32_t> columns;  // by index of the counter
  };

  SetUse& use_of(const Row& row);
  std::size_t column_of(SetUse& use, const Value& value);
  void drop_old();
  void lay_row(const RowPast& old, std::uint64_t begin, std::uint64_t end, RowPast& row) const;

  std::size_t moments_max_;
  std::uint64_t first_ = std::uint64_t{1} << 40;  // earlier ones may be laid before
  std::vector<std::uint64_t> times_;
  double seconds_ = 0;
  std::map<std::pair<std::string, Guid>, std::unique_ptr<SetFacts>> sets_;
  std::unordered_map<const Counterset*, SetUse> uses_;
  SetUse* last_use_ = nullptr;
  std::map<RowId, RowPast> rows_;
};

[[nodiscard]] Reading reading_of(const Value& value, std::size_t column, double seconds);
[[nodiscard]] Reading percentile_of(const Value& value, std::size_t column, double share);

template <typename Take>
void Past::each_reading(const Row& row, double seconds, Take take) {
  SetUse& use = use_of(row);
  for (const Value& value : row) {
    const auto column = column_of(use, value);
    if (!take(reading_of(value, column, seconds))) return;
    if (!use.facts->columns[column].is_distribution) continue;
    for (std::size_t i = 0; i < kPercentilesShown.size(); ++i) {
      if (!take(percentile_of(value, column + 1 + i, kPercentilesShown[i].second))) return;
    }
  }
}

}  // namespace meterbank::view
