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

void EnvelopePart::name(const Sample& sample, const Recording& recording) {
  const Sample none;
  for (const Row& row : sample.since(none)) {
    for (const Value& value : row) static_cast<void>(find(value, recording));
  }
}

std::optional<std::vector<SummaryName>> EnvelopePart::names() const {
  std::vector<SummaryName> names;
  for (const auto& [key, series] : by_key_) {
    const auto& [provider, host, set, instance, counter, percentile] = key;
    if (provider.empty()) return std::nullopt;
    names.push_back({set, instance, counter});
  }
  return names;
}

// Of the request; nothing: it asks for no such percentile.
std::optional<double> EnvelopePart::asked_percentile(const SummarySeries& series) const {
  if (!series.percentile) return kNoPercentile;
  for (const double one : request_->percentiles) {
    if (is_summary_percentile(one, *series.percentile)) return one;
  }
  return std::nullopt;
}

EnvelopeSeries* EnvelopePart::series_of(const SummarySeries& series, double percentile) const {
  const auto& [set, instance, counter] = series.name;
  const auto found =
      by_key_.find(Key{series.provider, series.host, set, instance, counter, percentile});
  return found == by_key_.end() ? nullptr : found->second;
}

// A part that is shorter than a bucket counts for that of its middle, a longer one for all that it
// reaches into.
void EnvelopePart::append(const EnvelopeBucket& part, std::uint64_t begin_ns, std::uint64_t end_ns,
                          EnvelopeSeries& series) const {
  const std::uint64_t middle = begin_ns + (end_ns - begin_ns) / 2;
  if (middle < request_->from_ns || middle >= request_->to_ns) return;
  const bool is_short = end_ns - begin_ns <= bucket_ns_;
  const std::uint64_t first = is_short ? middle : std::max(begin_ns, request_->from_ns);
  const std::uint64_t last = is_short ? middle : std::min(end_ns, request_->to_ns) - 1;
  const auto end = static_cast<std::size_t>((last - request_->from_ns) / bucket_ns_);
  for (auto at = static_cast<std::size_t>((first - request_->from_ns) / bucket_ns_); at <= end;
       ++at) {
    add(part, series.buckets[at]);
  }
}

bool EnvelopePart::append(const Summary& summary) {
  // What the frame claims; a run whose ticks are damaged does not say how long it was.
  const auto& [sequence, chunk, chunks, from_ns, part_ns, moments] = summary.head;
  if (part_ns > request_->blur_ns || part_ns > (~std::uint64_t{0} - from_ns) / kSummaryParts) {
    return false;
  }
  std::map<EnvelopeSeries*, const SummarySeries*> found;
  for (const SummarySeries& one : summary.series) {
    const auto percentile = asked_percentile(one);
    if (!percentile) continue;
    auto* const series = series_of(one, *percentile);
    if (series == nullptr || !found.emplace(series, &one).second) return false;
  }
  for (const auto& [series, one] : found) {
    for (std::size_t part = 0; part < kSummaryParts; ++part) {
      const std::uint64_t begin = from_ns + part * part_ns;
      append(one->parts[part], begin, begin + part_ns, *series);
    }
  }
  return true;
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
  // A recorder has little memory: all of this would be in it at once.
  places_.clear();
  by_key_.clear();
  std::vector<EnvelopeSeries> all;
  all.reserve(series_.size());
  for (; !series_.empty(); series_.pop_front()) all.push_back(std::move(series_.front()));
  std::sort(all.begin(), all.end(), [](const EnvelopeSeries& left, const EnvelopeSeries& right) {
    return std::tie(left.path, left.provider, left.host, left.percentile, left.set) <
           std::tie(right.path, right.provider, right.host, right.percentile, right.set);
  });
  return all;
}

}  // namespace meterbank::recording
