// SPDX-License-Identifier: Apache-2.0
//
// Countersets as a monitoring system knows them: by the families of their pages. Rules and
// dashboards are made of these alone, so a manifest and a running provider of the same set give the
// same bytes.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exposition/family/family_names.hpp"

namespace meterbank::monitoring {

// What a number that grows or stands says about what it counts.
enum class Meaning : std::uint8_t {
  kRate,         // how many a second
  kBusyShare,    // seconds a second: the share of the time that something was busy
  kIdleShare,    // the share of the time that it was idle
  kQueueLength,  // seconds a second: the mean length of a queue
  kHits,         // a part of the counter `base_id`: the ratio of their rates
  kBase,         // what such a counter is a part of
  kMean,         // sum and count: their quotient
  kSpread,       // a histogram: percentiles
  kLevel,        // as it stands
  kShare,        // a quotient of two counters, which cannot be added up
  kStartTime,    // a date
  kText,
};

struct MonitoredFamily {
  exposition::NamedFamily metric;
  Meaning meaning = Meaning::kLevel;
  std::string title;     // what the counter is called
  std::uint32_t id = 0;  // of the counter
  std::uint32_t base_id = kNoCounter;
  std::uint32_t aggregate = 0;  // how its set joins rows: see schema_layout.hpp
};

struct MonitoredSet {
  std::string key;             // its symbol as metrics spell it
  std::string name, help;      // valid UTF-8 without control characters
  std::string instance_label;  // empty: one row without a name
  std::vector<MonitoredFamily> families;

  // A family that every row has. Precondition: there are families.
  [[nodiscard]] const MonitoredFamily& steadiest() const noexcept;
  [[nodiscard]] const MonitoredFamily* find(std::uint32_t id) const noexcept;
};

// Sorted by their keys. Sets of one symbol are one set, as their pages have it.
class MonitoredSets {
 public:
  explicit MonitoredSets(std::string prefix) : prefix_(std::move(prefix)) {}

  // `counter` is the one in `set` that the family was made of.
  void add(const Counterset& set, std::string_view instance_label,
           const exposition::NamedFamily& metric, const CounterView& counter);

  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }
  [[nodiscard]] std::vector<const MonitoredSet*> list() const;
  [[nodiscard]] bool empty() const noexcept { return sets_.empty(); }

 private:
  std::string prefix_;
  std::map<std::string, MonitoredSet, std::less<>> sets_;
};

// Sets that no page has shown yet, under the names that their pages will have. `wanted`: patterns
// for names and symbols of sets, any of which matches; empty: all sets.
[[nodiscard]] MonitoredSets monitored_sets(std::span<const Counterset> sets,
                                           const exposition::MetricNames& names,
                                           std::span<const Glob> wanted = {});

}  // namespace meterbank::monitoring
