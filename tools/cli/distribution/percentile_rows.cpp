// SPDX-License-Identifier: Apache-2.0
#include "cli/distribution/percentile_rows.hpp"

#include <fmt/format.h>

#include <cmath>

namespace meterbank::cli {
namespace {

bool is_distribution(const Value& row) { return row.counter->form == ValueForm::kDistribution; }

CounterView counter_of(const CounterView& origin, const Percentile& percentile) {
  CounterView counter;
  counter.id = origin.id;
  counter.type = CounterType::kLargeRawCount;
  counter.detail = origin.detail;
  counter.word = kNoCounter;
  counter.form = ValueForm::kDistribution;
  counter.unit = origin.unit;
  counter.help = origin.help;
  const auto percent = percent_text(percentile);
  if (!origin.name.empty()) counter.name = fmt::format("{} p{}", origin.name, percent);
  if (!origin.symbol.empty()) counter.symbol = fmt::format("{}.p{}", origin.symbol, percent);
  return counter;
}

CookedValue cooked_at(const Value& row, const Percentile& percentile) {
  const auto otherwise = has_value(row.cooked.status) ? CookStatus::kNoValue : row.cooked.status;
  if (row.distribution == nullptr) return {0, otherwise};
  const auto found = row.distribution->quantile(percentile.share);
  // A count has no rate yet where its distribution is simply empty.
  const bool is_old = otherwise == CookStatus::kNoNewSample;
  if (!found) return {0, is_old ? otherwise : CookStatus::kNoValue};
  if (!std::isfinite(found->value)) return {0, CookStatus::kNotFinite};
  if (found->side == Quantile::Side::kBelow) return {found->value, CookStatus::kBelowRange};
  if (found->side == Quantile::Side::kAbove) return {found->value, CookStatus::kAboveRange};
  return {found->value, CookStatus::kNew};
}

}  // namespace

bool PercentileRows::give(const Value& row, ValueSink take) {
  if (!take(row)) return false;
  if (!is_distribution(row)) return true;
  const auto [place, is_new] = first_.emplace(row.counter, counters_.size());
  for (const Percentile& percentile : percentiles_) {
    if (is_new) counters_.push_back(counter_of(*row.counter, percentile));
  }
  for (std::size_t i = 0; i < percentiles_.size(); ++i) {
    Value made = row;
    made.counter = &counters_[place->second + i];
    made.cooked = cooked_at(row, percentiles_[i]);
    made.distribution = nullptr;
    if (!take(made)) return false;
  }
  return true;
}

void PercentileRows::each(const RowWalk& rows, ValueSink take) {
  if (percentiles_.empty()) return rows(take);
  counters_.clear();
  first_.clear();
  rows([&](const Value& row) { return give(row, take); });
}

}  // namespace meterbank::cli
