// SPDX-License-Identifier: Apache-2.0
#include "monitoring/monitored_set.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "exposition/family/metric_name.hpp"
#include "exposition/page/labels.hpp"

namespace meterbank::monitoring {
namespace {

using exposition::FamilyType;

Meaning meaning_of_count(CounterType type) noexcept {
  switch (type) {
    case CounterType::kTimer:
    case CounterType::kTimer100Ns:
    case CounterType::kTimerObject:
    case CounterType::kPrecisionSystemTimer:
    case CounterType::kPrecision100NsTimer:
    case CounterType::kPrecisionObjectTimer:
    case CounterType::kMultiTimer:
    case CounterType::kMultiTimer100Ns:
      return Meaning::kBusyShare;
    case CounterType::kTimerInverse:
    case CounterType::kTimer100NsInverse:
    case CounterType::kMultiTimerInverse:
    case CounterType::kMultiTimer100NsInverse:
      return Meaning::kIdleShare;
    case CounterType::kQueueLength:
    case CounterType::kLargeQueueLength:
    case CounterType::kQueueLength100Ns:
    case CounterType::kQueueLengthObject:
      return Meaning::kQueueLength;
    case CounterType::kSampleFraction:
      return Meaning::kHits;
    default:
      return is_base(type) ? Meaning::kBase : Meaning::kRate;
  }
}

Meaning meaning_of(FamilyType family, const CounterView& counter) noexcept {
  switch (family) {
    case FamilyType::kCounter:
      return meaning_of_count(counter.type);
    case FamilyType::kSummary:
      return Meaning::kMean;
    case FamilyType::kHistogram:
      return Meaning::kSpread;
    case FamilyType::kInfo:
      return Meaning::kText;
    case FamilyType::kGauge:
      break;
  }
  const bool is_quotient =
      counter.type == CounterType::kRawFraction || counter.type == CounterType::kLargeRawFraction;
  if (is_quotient) return Meaning::kShare;
  return counter.type == CounterType::kElapsedTime ? Meaning::kStartTime : Meaning::kLevel;
}

// Whether queries can have this metric or label: those that begin with a digit, as an empty prefix
// and a symbol such as "3d" make them, and two others are numbers in PromQL.
bool is_queryable(std::string_view name) noexcept {
  const bool begins_well = !name.empty() && (name.front() < '0' || name.front() > '9');
  return begins_well && name != "inf" && name != "nan";
}

}  // namespace

const MonitoredFamily& MonitoredSet::steadiest() const noexcept {
  // Quotients are missing where there is nothing to divide by.
  constexpr std::array kBestFirst = {FamilyType::kCounter, FamilyType::kHistogram,
                                     FamilyType::kSummary, FamilyType::kInfo, FamilyType::kGauge};
  const auto place_of = [&](const MonitoredFamily& family) {
    const bool is_level = family.meaning == Meaning::kLevel;
    const FamilyType type = is_level ? FamilyType::kCounter : family.metric.type;
    return std::find(kBestFirst.begin(), kBestFirst.end(), type) - kBestFirst.begin();
  };
  return *std::min_element(families.begin(), families.end(),
                           [&](const MonitoredFamily& left, const MonitoredFamily& right) {
                             return place_of(left) < place_of(right);
                           });
}

const MonitoredFamily* MonitoredSet::find(std::uint32_t id) const noexcept {
  const auto found = std::find_if(families.begin(), families.end(),
                                  [id](const MonitoredFamily& family) { return family.id == id; });
  return found == families.end() ? nullptr : &*found;
}

void MonitoredSets::add(const Counterset& set, std::string_view instance_label,
                        const exposition::NamedFamily& metric, const CounterView& counter) {
  const bool has_text_label = metric.type == exposition::FamilyType::kInfo;
  if (!is_queryable(metric.name) || (has_text_label && !is_queryable(metric.text_label))) return;
  std::string key = exposition::snake_case(set.symbol);
  if (key.empty()) key = exposition::snake_case(set.name);
  const auto [known, is_new] = sets_.try_emplace(key);
  MonitoredSet& monitored = known->second;
  if (is_new) {
    monitored.key = key;
    monitored.name = exposition::clean_text(set.name);
    monitored.help = exposition::clean_text(set.help);
    // Without it, panels show the instances of a provider together.
    if (is_queryable(instance_label)) monitored.instance_label = instance_label;
  }
  MonitoredFamily family;
  family.metric = metric;
  family.meaning = meaning_of(metric.type, counter);
  family.title = exposition::clean_text(counter.name.empty() ? counter.symbol : counter.name);
  family.id = counter.id;
  if (counter.base != kNoCounter) family.base_id = set.counters[counter.base].id;
  family.aggregate = counter.aggregate;
  monitored.families.push_back(std::move(family));
}

std::vector<const MonitoredSet*> MonitoredSets::list() const {
  std::vector<const MonitoredSet*> sets;
  sets.reserve(sets_.size());
  for (const auto& [key, set] : sets_) sets.push_back(&set);
  return sets;
}

MonitoredSets monitored_sets(std::span<const Counterset> sets, const exposition::MetricNames& names,
                             std::span<const Glob> wanted) {
  MonitoredSets monitored(names.prefix);
  exposition::FamilyNames family_names(names);
  for (const Counterset& set : sets) {
    std::vector<std::uint32_t> counters(set.counters.size());
    std::iota(counters.begin(), counters.end(), 0U);
    const bool is_wanted =
        wanted.empty() || std::any_of(wanted.begin(), wanted.end(), [&set](const Glob& pattern) {
          return pattern.matches(set.name) || pattern.matches(set.symbol);
        });
    const std::string label = exposition::instance_label_of(set, names);
    for (const exposition::Family& family : exposition::families_of(set, counters, names)) {
      // Those that are not wanted take their names all the same, as on a page.
      const exposition::NamedFamily named = family_names.add(family, set);
      if (is_wanted) monitored.add(set, label, named, *family.counter);
    }
  }
  return monitored;
}

}  // namespace meterbank::monitoring
