// SPDX-License-Identifier: Apache-2.0
#include "view/past.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "cli/distribution/percentiles.hpp"
#include "cli/format/kinds.hpp"
#include "cli/format/row_writer.hpp"
#include "cli/session/selection.hpp"

namespace meterbank::view {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

ColumnFacts facts_of_counter(const CounterView& counter) {
  ColumnFacts facts;
  facts.symbol = counter.symbol.empty() ? counter.name : counter.symbol;
  facts.name = counter.name;
  facts.help = counter.help;
  facts.unit = cli::cooked_unit(counter);
  facts.stored_unit = cli::stored_unit(counter);
  facts.value_unit = counter.unit;
  const auto kind = cli::kind_of(counter);
  facts.facts = fmt::format("{}{}{}: {}; id {}", kind.kind, facts.unit.empty() ? "" : " in ",
                            facts.unit, kind.phrase, counter.id);
  facts.is_distribution = counter.form == ValueForm::kDistribution;
  facts.is_rate = kind.kind == "rate" || facts.is_distribution;
  facts.is_text = kind.kind == "text";
  return facts;
}

ColumnFacts facts_of_percentile(const CounterView& counter, std::string_view percent,
                                double share) {
  ColumnFacts facts = facts_of_counter(counter);
  facts.symbol += fmt::format(".p{}", percent);
  facts.name += fmt::format(" p{}", percent);
  facts.unit = facts.stored_unit = counter.unit;
  facts.facts = fmt::format("{} per cent of the values of a moment are not larger; id {}", percent,
                            counter.id);
  facts.share = share;
  facts.is_distribution = false;
  facts.is_rate = false;
  return facts;
}

}  // namespace

std::optional<std::size_t> SetFacts::find(std::string_view wanted) const noexcept {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].symbol == wanted) return i;
  }
  return std::nullopt;
}

std::string label_of(const ProviderView& provider) { return cli::label_on_host(provider); }

std::pair<std::string_view, std::string_view> name_and_host_of(std::string_view label) noexcept {
  const auto at = std::min(label.rfind('@'), label.size());
  const auto behind_pid = label.find_first_not_of("@0123456789", at);
  return {label.substr(0, at), label.substr(std::min(behind_pid, label.size()))};
}

RowId id_of(const Row& row) noexcept {
  return {row.provider->segment_id[0], row.provider->segment_id[1], row.registered->registration,
          row.instance->slot, row.instance->generation};
}

Reading reading_of(const Value& value, std::size_t column, double seconds) {
  Reading reading{.column = column, .cooked = cli::rounded(value, seconds), .value = &value};
  reading.stored = cli::stored_number(value);
  if (!holds_values(value.status())) reading.stored = kNone;
  if (!cli::row_has_value(value, false) || value.status() == RowStatus::kDead) {
    reading.status = cli::status_word(value);
  }
  if (!reading.status.empty() || value.text) reading.cooked = kNone;
  return reading;
}

Reading percentile_of(const Value& value, std::size_t column, double share) {
  Reading reading{.column = column, .cooked = kNone, .stored = kNone, .value = &value};
  if (value.status() == RowStatus::kDead || value.distribution == nullptr) {
    reading.status = cli::status_word(value);
    if (reading.status == "ok") reading.status = "no-value";
    return reading;
  }
  const auto found = value.distribution->quantile(share);
  if (!found || !std::isfinite(found->value)) {
    reading.status = "no-value";
  } else if (found->side != Quantile::Side::kWithin) {
    reading.status = found->side == Quantile::Side::kBelow ? "below-range" : "above-range";
  } else {
    reading.cooked = reading.stored = found->value;
  }
  return reading;
}

// ---- Series ----

void Series::add(std::uint64_t moment, double value) {
  if (values_.empty()) first_ = moment;
  values_.resize(moment - first_, kNone);
  values_.push_back(value);
}

void Series::drop_before(std::uint64_t moment) {
  if (moment <= first_) return;
  const auto count = std::min<std::uint64_t>(moment - first_, values_.size());
  values_.erase(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(count));
  first_ += count;
}

void Series::lay_before(std::uint64_t moment, const std::vector<double>& older) {
  std::vector<double> all = older;
  if (values_.empty()) {
    first_ = moment;
  } else {
    all.resize(all.size() + (first_ - moment), kNone);
  }
  all.insert(all.end(), values_.begin(), values_.end());
  first_ = moment - older.size();
  values_ = std::move(all);
}

double Series::at(std::uint64_t moment) const noexcept {
  return moment >= first_ && moment - first_ < values_.size() ? values_[moment - first_] : kNone;
}

std::span<const double> Series::within(std::uint64_t begin, std::uint64_t end) const noexcept {
  const auto limit = first_ + values_.size();
  begin = std::clamp(begin, first_, limit);
  end = std::clamp(end, begin, limit);
  return std::span(values_).subspan(begin - first_, end - begin);
}

std::vector<double> Series::all_of(std::uint64_t begin, std::uint64_t end) const {
  std::vector<double> all;
  if (end <= begin) return all;
  const auto known = within(begin, end);
  all.reserve(end - begin);
  if (!known.empty()) all.resize(std::max(begin, first_) - begin, kNone);
  all.insert(all.end(), known.begin(), known.end());
  all.resize(end - begin, kNone);
  return all;
}

// ---- HeatSeries ----

void HeatSeries::add(std::uint64_t moment, const Distribution& seen) {
  if (ends_.empty()) {
    first_ = moment;
    scale_ = std::min(seen.shape.scale, kScale);
  }
  pass_to(moment);
  const std::size_t begin = counts_.size();
  // A shape that became coarser than the first one has no place among its buckets.
  const auto joined = seen.shape.scale - scale_;
  for (std::size_t i = 0; joined >= 0 && i < seen.buckets.size(); ++i) {
    if (seen.buckets[i] == 0) continue;
    const std::int32_t bucket = (seen.shape.first + static_cast<std::int32_t>(i)) >> joined;
    if (counts_.size() == begin || counts_.back().first != bucket) {
      counts_.emplace_back(bucket, 0.0F);
    }
    counts_.back().second += static_cast<float>(seen.buckets[i]);
  }
  ends_.push_back(counts_.size());
}

void HeatSeries::drop_before(std::uint64_t moment) {
  if (moment <= first_) return;
  const auto count = std::min<std::uint64_t>(moment - first_, ends_.size());
  const std::size_t dropped = count == 0 ? 0 : ends_[count - 1];
  counts_.erase(counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(dropped));
  ends_.erase(ends_.begin(), ends_.begin() + static_cast<std::ptrdiff_t>(count));
  for (auto& end : ends_) end -= dropped;
  first_ += count;
}

void HeatSeries::lay_before(std::uint64_t moment, const HeatSeries& older,
                            std::uint64_t older_end) {
  if (older.ends_.empty() || (!ends_.empty() && older.scale_ != scale_)) return;
  HeatSeries all;
  all.scale_ = older.scale_;
  const auto count = older_end - std::min(older_end, older.first_);
  all.first_ = moment - count;
  const auto append = [&all](Counts counts) {
    all.counts_.insert(all.counts_.end(), counts.begin(), counts.end());
    all.ends_.push_back(all.counts_.size());
  };
  for (auto at = older.first_; at < older_end; ++at) append(older.at(at));
  if (!ends_.empty()) all.pass_to(first_);
  for (auto at = first_; at < end_moment(); ++at) append(this->at(at));
  *this = std::move(all);
}

HeatSeries::Counts HeatSeries::at(std::uint64_t moment) const noexcept {
  if (moment < first_ || moment >= end_moment()) return {};
  const auto index = moment - first_;
  const std::size_t begin = index == 0 ? 0 : ends_[index - 1];
  return Counts(counts_).subspan(begin, ends_[index] - begin);
}

// ---- Past ----

void Past::begin_moment(std::uint64_t realtime_ns, double seconds) {
  // A clock that was set back makes no moment earlier than the one before.
  if (!times_.empty()) realtime_ns = std::max(realtime_ns, times_.back() + 1);
  times_.push_back(realtime_ns);
  seconds_ = seconds;
  last_use_ = nullptr;
  drop_old();
}

// A tenth at once, so that it costs each moment little.
void Past::drop_old() {
  const auto spare = moments_max_ / 10 + 1;
  if (times_.size() < moments_max_ + spare) return;
  times_.erase(times_.begin(), times_.begin() + static_cast<std::ptrdiff_t>(spare));
  first_ += spare;
  std::erase_if(rows_, [this](const auto& row) { return row.second.last_seen < first_; });
  for (auto& [id, row] : rows_) {
    for (auto& series : row.series) series.drop_before(first_);
    for (auto& [column, heat] : row.heat) heat.drop_before(first_);
  }
  std::erase_if(uses_, [](const auto& use) { return use.second.set.use_count() == 1; });
}

Past::SetUse& Past::use_of(const Row& row) {
  const auto& set = row.registered->set;
  if (last_use_ != nullptr && last_use_->set == set) return *last_use_;
  auto& use = uses_[set.get()];
  if (use.set == nullptr) {
    use.set = set;
    auto& facts = sets_[{set->symbol.empty() ? set->name : set->symbol, set->guid}];
    if (facts == nullptr) {
      facts = std::make_unique<SetFacts>();
      facts->symbol = set->symbol.empty() ? set->name : set->symbol;
      facts->name = set->name;
      facts->help = set->help;
      facts->label = set->label;
    }
    use.facts = facts.get();
    use.columns.assign(set->counters.size(), kNoColumn);
  }
  return *(last_use_ = &use);
}

std::size_t Past::column_of(SetUse& use, const Value& value) {
  const auto index = static_cast<std::size_t>(value.counter - use.set->counters.data());
  auto& column = use.columns[index];
  if (column != kNoColumn) return column;
  auto& columns = use.facts->columns;
  auto facts = facts_of_counter(*value.counter);
  if (const auto known = use.facts->find(facts.symbol);
      known && columns[*known].is_distribution == facts.is_distribution) {
    return column = static_cast<std::uint32_t>(*known);
  }
  column = static_cast<std::uint32_t>(columns.size());
  const bool is_distribution = facts.is_distribution;
  columns.push_back(std::move(facts));
  for (const auto& [percent, share] : kPercentilesShown) {
    if (is_distribution) columns.push_back(facts_of_percentile(*value.counter, percent, share));
  }
  return column;
}

const SetFacts& Past::facts_of(const Row& row) { return *use_of(row).facts; }

void Past::follow(const Row& row, bool with_heat) {
  const auto id = id_of(row);
  auto& past = rows_[id];
  if (past.set == nullptr) {
    past.id = id;
    past.provider = row.is_total ? "" : label_of(*row.provider);
    past.instance = row.instance_label();
    past.set = &facts_of(row);
  }
  const auto moment = end_moment() - 1;
  past.last_seen = moment;
  // The ends of the series are far apart in memory: load them while the readings are computed.
  for (const auto& series : past.series) series.prefetch_end();
  each_reading(row, seconds_, [&](const Reading& reading) {
    if (past.series.size() <= reading.column) past.series.resize(reading.column + 1);
    // What its provider renews more slowly stays what it was.
    const bool is_old = reading.value->cooked.status == CookStatus::kNoNewSample;
    auto& series = past.series[reading.column];
    // Without a sample before, a distribution has what was recorded since its beginning.
    const bool is_of_moment = seconds_ > 0 || !past.set->columns[reading.column].share;
    const double now = is_of_moment ? reading.cooked : kNone;
    series.add(moment, is_old ? series.at(moment - 1) : now);
    if (with_heat && seconds_ > 0 && past.set->columns[reading.column].is_distribution &&
        reading.value->distribution != nullptr) {
      past.heat[reading.column].add(moment, *reading.value->distribution);
    }
    return true;
  });
}

const RowPast* Past::find(const RowId& id) const {
  const auto found = rows_.find(id);
  return found == rows_.end() ? nullptr : &found->second;
}

std::optional<std::uint64_t> Past::moment_at(std::uint64_t realtime_ns) const noexcept {
  const auto behind = std::upper_bound(times_.begin(), times_.end(), realtime_ns);
  if (behind == times_.begin()) return std::nullopt;
  return first_ + static_cast<std::uint64_t>(behind - times_.begin()) - 1;
}

void Past::lay_before(const Past& earlier) {
  const auto behind = times_.empty() ? earlier.times_.end()
                                     : std::lower_bound(earlier.times_.begin(),
                                                        earlier.times_.end(), times_.front());
  const auto count = static_cast<std::uint64_t>(behind - earlier.times_.begin());
  const auto end = earlier.first_ + count;
  using Labels = std::tuple<std::string_view, std::string_view, std::string_view>;
  const auto labels_of = [](const RowPast& row) {
    return Labels(row.provider, row.set->symbol, row.instance);
  };
  std::map<Labels, const RowPast*> known;
  for (const auto& [id, row] : earlier.rows_) known[labels_of(row)] = &row;
  for (auto& [id, row] : rows_) {
    const auto old = known.find(labels_of(row));
    if (old != known.end()) lay_row(*old->second, earlier.first_, end, row);
  }
  times_.insert(times_.begin(), earlier.times_.begin(), behind);
  first_ -= count;
}

// Moments [begin, end) of the older row come to lie before the first one of this.
void Past::lay_row(const RowPast& old, std::uint64_t begin, std::uint64_t end, RowPast& row) const {
  for (std::size_t column = 0; column < row.series.size(); ++column) {
    const auto there = old.set->find(row.set->columns[column].symbol);
    if (!there || *there >= old.series.size()) continue;
    std::vector<double> values;
    for (auto moment = begin; moment < end; ++moment) {
      values.push_back(old.series[*there].at(moment));
    }
    row.series[column].lay_before(first_, values);
    const auto heat = old.heat.find(*there);
    if (heat != old.heat.end()) row.heat[column].lay_before(first_, heat->second, end);
  }
}

}  // namespace meterbank::view
