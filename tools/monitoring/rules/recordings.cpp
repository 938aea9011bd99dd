// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <utility>

#include "meterbank/shm/schema_layout.hpp"
#include "monitoring/promql.hpp"
#include "monitoring/rules/group.hpp"

namespace meterbank::monitoring {
namespace {

// Long enough for the usual scrape interval of a minute.
constexpr std::string_view kRuleWindow = "5m";
constexpr std::string_view kSetLabels = "job";

// How levels of one set are joined, as its schema says; empty: they are not.
std::string_view join_of(std::uint32_t aggregate) noexcept {
  switch (aggregate) {
    case kAggregateSum:
      return "sum";
    case kAggregateAverage:
      return "avg";
    case kAggregateMinimum:
      return "min";
    case kAggregateMaximum:
      return "max";
    default:
      return {};
  }
}

// The recordings of one set: each twice, by provider and over all providers.
class Recordings {
 public:
  explicit Recordings(const MonitoredSet& set) : set_(set) {}

  void add(const MonitoredFamily& family) {
    switch (family.meaning) {
      case Meaning::kRate:
      case Meaning::kBusyShare:
      case Meaning::kIdleShare:
      case Meaning::kQueueLength:
      case Meaning::kBase:
        return add_both(family, "rate5m", rate_of(family, by_provider_), rate_of(family, by_set_));
      case Meaning::kHits:
        return add_hits(family);
      case Meaning::kMean:
        return add_both(family, "mean5m", mean_of(family, by_provider_), mean_of(family, by_set_));
      case Meaning::kSpread:
        return add_spread(family);
      case Meaning::kLevel:
        return add_level(family);
      case Meaning::kShare:
      case Meaning::kStartTime:
      case Meaning::kText:
        return;
    }
  }
  [[nodiscard]] std::vector<Recording> take() { return std::move(recordings_); }

 private:
  void add_both(const MonitoredFamily& family, std::string_view operation, std::string by_provider,
                std::string by_set) {
    const std::string& name = family.metric.name;
    recordings_.push_back({fmt::format("provider:{}:{}", name, operation), std::move(by_provider)});
    recordings_.push_back({fmt::format("set:{}:{}", name, operation), std::move(by_set)});
  }

  void add_hits(const MonitoredFamily& hits) {
    add_both(hits, "rate5m", rate_of(hits, by_provider_), rate_of(hits, by_set_));
    const MonitoredFamily* const base = set_.find(hits.base_id);
    if (base == nullptr) return;
    add_both(hits, "ratio_rate5m", ratio_of(hits, *base, by_provider_),
             ratio_of(hits, *base, by_set_));
  }

  void add_spread(const MonitoredFamily& family) {
    add_both(family, "rate5m", observations_of(family, by_provider_),
             observations_of(family, by_set_));
    for (const unsigned percent : kPercentiles) {
      add_both(family, fmt::format("p{}_5m", percent), percentile_of(family, percent, by_provider_),
               percentile_of(family, percent, by_set_));
    }
  }

  void add_level(const MonitoredFamily& family) {
    const std::string_view join = join_of(family.aggregate);
    if (join.empty()) return;
    const std::string name = family.metric.full_name();
    add_both(family, join, fmt::format("{} by ({}) ({})", join, by_provider_.by, name),
             fmt::format("{} by ({}) ({})", join, by_set_.by, name));
  }

  const MonitoredSet& set_;
  const Scope by_provider_{{}, kRuleWindow, std::string(kProviderLabels)};
  const Scope by_set_{{}, kRuleWindow, std::string(kSetLabels)};
  std::vector<Recording> recordings_;
};

}  // namespace

std::string rows_recording(std::string_view prefix, const MonitoredSet& set) {
  return fmt::format("provider:{}{}:rows", prefix, set.key);
}

std::vector<Recording> recordings_of(std::string_view prefix, const MonitoredSet& set) {
  Recordings recordings(set);
  for (const MonitoredFamily& family : set.families) recordings.add(family);
  std::vector<Recording> list = recordings.take();
  list.push_back({rows_recording(prefix, set),
                  fmt::format("count by ({}) ({})", kProviderLabels, sample_of(set.steadiest()))});
  return list;
}

}  // namespace meterbank::monitoring
