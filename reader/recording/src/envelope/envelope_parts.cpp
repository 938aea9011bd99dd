// SPDX-License-Identifier: Apache-2.0
#include "envelope_parts.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace meterbank::recording {
namespace {

constexpr double kNoPercentile = -1;
constexpr double kPercent = 100;

void add(double value, EnvelopeBucket& bucket) noexcept {
  if (!std::isfinite(value)) return;
  bucket.least = bucket.count == 0 ? value : std::min(bucket.least, value);
  bucket.most = bucket.count == 0 ? value : std::max(bucket.most, value);
  bucket.last = value;
  ++bucket.count;
}

// The values of `later` come behind those of the bucket.
void add(const EnvelopeBucket& later, EnvelopeBucket& bucket) noexcept {
  if (later.count == 0) return;
  bucket.least = bucket.count == 0 ? later.least : std::min(bucket.least, later.least);
  bucket.most = bucket.count == 0 ? later.most : std::max(bucket.most, later.most);
  bucket.last = later.last;
  bucket.count += later.count;
}

double stored_number(const Value& value) noexcept {
  switch (value.counter->form) {
    case ValueForm::kReal:
      return std::bit_cast<double>(value.raw.value);
    case ValueForm::kSigned:
      return static_cast<double>(static_cast<std::int64_t>(value.raw.value));
    default:
      return static_cast<double>(value.raw.value);
  }
}

const std::string& word_of(const std::string& symbol, const std::string& name) {
  return symbol.empty() ? name : symbol;
}

// The last values of a dead provider are not values of later moments.
bool counts(RowStatus status) noexcept {
  return holds_values(status) && status != RowStatus::kDead;
}

}  // namespace

EnvelopeSeries* EnvelopePart::series_of(const Value& value, std::optional<double> percentile) {
  const Row& row = *value.row;
  std::string provider, host;
  if (!row.is_total) {
    provider = row.has_namesake ? row.provider_label() : row.provider->name;
    host = row.provider->outside.host;
  }
  const std::string instance = row.is_total ? std::string(kTotalName) : row.instance_label();
  Key key{provider,
          host,
          word_of(row.set().symbol, row.set().name),
          instance,
          word_of(value.symbol(), value.name()),
          percentile.value_or(kNoPercentile)};
  EnvelopeSeries*& series = by_key_[std::move(key)];
  if (series == nullptr) {
    const std::size_t bytes = request_->buckets * sizeof(EnvelopeBucket);
    is_full_ = is_full_ || (series_.size() + 1) * bytes > request_->bytes_max;
    if (is_full_) return nullptr;
    series = &series_.emplace_back();
    series->provider = std::move(provider);
    series->host = std::move(host);
    series->set = word_of(row.set().symbol, row.set().name);
    series->instance = instance;
    series->path = value.short_path();
    series->counter = *value.counter;
    series->counter.help.clear();
    series->percentile = percentile;
    series->buckets.resize(request_->buckets);
  }
  return series;
}

EnvelopePart::Place EnvelopePart::find(const Value& value, const Recording& recording) {
  const Row& row = *value.row;
  Place place{row.instance,     value.counter,
              row.has_namesake, recording.rate_of(*row.provider, *row.registered),
              nullptr,          {}};
  if (value.counter->form == ValueForm::kText) return place;
  place.series = series_of(value, std::nullopt);
  if (value.counter->form != ValueForm::kDistribution) return place;
  for (const double percentile : request_->percentiles) {
    auto* const series = series_of(value, percentile);
    if (series != nullptr) place.percentiles.push_back(series);
  }
  return place;
}

void EnvelopePart::take_value(const Value& value, const Place& place, std::size_t bucket) const {
  if (request_->stored) {
    add(stored_number(value), place.series->buckets[bucket]);
  } else if (has_value(value.cooked.status)) {
    add(value.cooked.value, place.series->buckets[bucket]);
  }
  if (value.distribution == nullptr) return;
  for (EnvelopeSeries* const series : place.percentiles) {
    const auto quantile = value.distribution->quantile(*series->percentile / kPercent);
    if (quantile) add(quantile->value, series->buckets[bucket]);
  }
}

void EnvelopePart::take(const Sample& newer, const Sample& older, std::uint64_t query_version,
                        const Recording& recording, std::optional<std::uint32_t> rate) {
  const std::uint64_t since_begin = newer.time.realtime_ns - request_->from_ns;
  const auto bucket = static_cast<std::size_t>(since_begin / bucket_ns_);
  Places& places = places_[rate.value_or(0)];
  if (std::exchange(places.version, query_version) != query_version) places.all.clear();
  std::size_t number = 0;
  for (const Row& row : newer.since(older, {.cap_percent = request_->cap_percent})) {
    for (const Value& value : row) {
      if (number == places.all.size()) places.all.push_back(find(value, recording));
      Place& place = places.all[number++];
      const bool is_same = place.instance == row.instance && place.counter == value.counter &&
                           place.has_namesake == row.has_namesake;
      if (!is_same) place = find(value, recording);
      const bool is_wanted =
          place.series != nullptr && counts(row.status) && (!rate || place.rate == rate);
      if (is_wanted) take_value(value, place, bucket);
    }
  }
}

void EnvelopePart::append(EnvelopePart&& next) {
  is_full_ = is_full_ || next.is_full_;
  for (auto& [key, series] : next.by_key_) {
    if (series == nullptr) continue;
    EnvelopeSeries*& ours = by_key_[key];
    if (ours == nullptr) {
      ours = &series_.emplace_back(std::move(*series));
      continue;
    }
    for (std::size_t bucket = 0; bucket < ours->buckets.size(); ++bucket) {
      add(series->buckets[bucket], ours->buckets[bucket]);
    }
  }
}

std::vector<EnvelopeSeries> EnvelopePart::finish() {
  std::vector<EnvelopeSeries> all;
  all.reserve(series_.size());
  for (EnvelopeSeries& series : series_) all.push_back(std::move(series));
  std::stable_sort(all.begin(), all.end(),
                   [](const EnvelopeSeries& left, const EnvelopeSeries& right) {
                     return std::tie(left.path, left.provider, left.host, left.percentile) <
                            std::tie(right.path, right.provider, right.host, right.percentile);
                   });
  return all;
}

}  // namespace meterbank::recording
