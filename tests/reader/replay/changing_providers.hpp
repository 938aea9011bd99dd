// SPDX-License-Identifier: Apache-2.0
//
// Providers of this process that change at random, with a set of every sort.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <list>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "meterbank/publisher.hpp"

namespace meterbank::test {

inline constexpr std::array kPlainCounters{
    CounterSpec{.id = 1, .name = "Orders/sec", .symbol = "orders", .aggregate = kAggregateSum},
    CounterSpec{.id = 2,
                .name = "Depth",
                .symbol = "depth",
                .type = CounterType::kLargeRawCount,
                .aggregate = kAggregateMaximum},
    CounterSpec{.id = 3,
                .name = "Time per Order",
                .symbol = "time_per_order",
                .type = CounterType::kAverageTimer,
                .base = 4,
                .aggregate = kAggregateAverage},
    CounterSpec{.id = 4, .name = "", .symbol = "", .type = CounterType::kAverageBase},
};

inline constexpr std::array kMixedCounters{
    CounterSpec{.id = 1,
                .name = "Balance",
                .symbol = "balance",
                .type = CounterType::kLargeRawCount,
                .form = ValueForm::kSigned},
    CounterSpec{.id = 2,
                .name = "Load",
                .symbol = "load",
                .type = CounterType::kLargeRawCount,
                .aggregate = kAggregateAverage,
                .form = ValueForm::kReal,
                .timed = true},
    CounterSpec{.id = 3,
                .name = "State",
                .symbol = "state",
                .type = CounterType::kText,
                .form = ValueForm::kText,
                .timed = true,
                .text_bytes = 24},
    CounterSpec{.id = 4,
                .name = "Latency",
                .symbol = "latency",
                .type = CounterType::kBulkCount,
                .unit = "s",
                .aggregate = kAggregateSum,
                .form = ValueForm::kDistribution,
                .buckets = {.scale = 1, .least = 1e-3, .most = 10}},
};

inline constexpr std::array kCountedCounters{
    CounterSpec{.id = 1, .name = "Hits/sec", .symbol = "hits", .aggregate = kAggregateSum},
    CounterSpec{.id = 2, .name = "Bytes/sec", .symbol = "bytes", .aggregate = kAggregateSum},
};

struct SetSort {
  CountersetSpec spec;
  bool mixed = false;  // kMixedCounters
};

inline std::vector<SetSort> set_sorts() {
  std::vector<SetSort> sorts;
  const auto add = [&sorts](std::string_view name, InstanceKind kind, auto&& change) {
    SetSort sort;
    sort.spec.name = sort.spec.symbol = name;
    sort.spec.label = "thing";
    sort.spec.instances = kind;
    sort.spec.counters = kPlainCounters;
    sort.spec.guid.part1 = static_cast<std::uint32_t>(sorts.size() + 1);
    change(sort);
    sorts.push_back(sort);
  };
  using Kind = InstanceKind;
  const auto as_is = [](SetSort&) {};
  const auto mixed = [](SetSort& sort) {
    sort.mixed = true;
    sort.spec.counters = kMixedCounters;
  };
  add("plain", Kind::kMultiple, as_is);
  add("tiles", Kind::kMultipleAggregate, [](SetSort& sort) { sort.spec.many = true; });
  add("independent", Kind::kMultipleAggregate,
      [](SetSort& sort) { sort.spec.consistency = Consistency::kIndependent; });
  add("single", Kind::kSingle, as_is);
  add("global", Kind::kGlobalAggregate, as_is);
  add("history", Kind::kGlobalAggregateHistory, as_is);
  add("mixed", Kind::kMultipleAggregate, mixed);
  add("stamped", Kind::kMultiple, [](SetSort& sort) { sort.spec.stamped = true; });
  add("repeated", Kind::kMultiple,
      [](SetSort& sort) { sort.spec.identity = InstanceIdentity::kNameAndId; });
  add("cuts", Kind::kMultiple, [](SetSort& sort) { sort.spec.cuts = true; });
  add("sharded", Kind::kMultipleAggregate, [](SetSort& sort) {
    sort.spec.sharded = true;
    sort.spec.shards = 2;
    sort.spec.counters = kCountedCounters;
  });
  add("loose", Kind::kMultiple, [](SetSort& sort) {
    sort.spec.sharded = true;
    sort.spec.shards = 2;
    sort.spec.consistency = Consistency::kIndependent;
    sort.spec.counters = kCountedCounters;
  });
  return sorts;
}

// One provider and its sets.
class ChangingProvider {
 public:
  ChangingProvider(const std::string& directory, const std::string& name, std::mt19937& random)
      : random_(random),
        provider_(*Provider::create({.name = name,
                                     .directory = directory,
                                     .quarantine = std::chrono::milliseconds{0},
                                     .keep_record = name == "kept"})) {}

  void add_set() {
    static const std::vector<SetSort> sorts = set_sorts();
    const SetSort& sort = sorts[random_() % sorts.size()];
    if (sets_.contains(sort.spec.name)) return;
    auto added = provider_.add(sort.spec);
    ASSERT_TRUE(added) << added.error().what;
    sets_.emplace(sort.spec.name, Set{sort, *added, {}, {}});
    create(sets_.at(sort.spec.name));
  }
  void create() {
    if (Set* const set = any_set()) create(*set);
  }
  // `history` keeps the last values that a sample has seen.
  void close_instance() {
    Set* const set = any_set();
    if (set == nullptr) return;
    if (!set->instances.empty()) {
      set->instances.erase(std::next(set->instances.begin(), pick(set->instances.size())));
    }
    if (!set->sharded.empty()) {
      set->sharded.erase(std::next(set->sharded.begin(), pick(set->sharded.size())));
    }
  }
  void close_set() {
    if (sets_.empty()) return;
    const auto set = std::next(sets_.begin(), pick(sets_.size()));
    set->second.registration.close();
    sets_.erase(set);
  }
  void count() {
    for (auto& [name, set] : sets_) {
      for (Instance& instance : set.instances) {
        if (random_() % 2 == 0) count(set, instance);
      }
      for (ShardedInstance& instance : set.sharded) {
        instance.counter(random_() % 2).add(random_() % 100);
      }
    }
  }

 private:
  struct Set {
    SetSort sort;
    Registration registration;
    std::list<Instance> instances;
    std::list<ShardedInstance> sharded;
  };

  std::ptrdiff_t pick(std::size_t count) { return static_cast<std::ptrdiff_t>(random_() % count); }
  Set* any_set() {
    if (sets_.empty()) return nullptr;
    return &std::next(sets_.begin(), pick(sets_.size()))->second;
  }

  void create(Set& set) {
    const bool has_names = has_instance_names(set.sort.spec.instances);
    const std::string name = has_names ? "thing " + std::to_string(random_() % 12) : std::string();
    if (set.sort.spec.sharded) {
      auto instance = set.registration.create_sharded_instance(name);
      if (instance) set.sharded.push_back(std::move(*instance));
    } else {
      auto instance = set.registration.create_instance(name);
      if (instance) set.instances.push_back(std::move(*instance));
    }
  }

  void count(Set& set, Instance& instance) {
    if (set.sort.mixed) {
      instance.gauge(0U).set_signed(static_cast<int>(random_() % 1000) - 500);
      instance.gauge(1U).set(static_cast<double>(random_() % 1000) / 7);
      instance.text(2U).set("state " + std::to_string(random_() % 3));
      instance.recorder(3U).record(static_cast<double>(random_() % 9999 + 1) / 1000);
      return;
    }
    instance.update([&](Values& values) {
      values.add(0U, random_() % 50);
      values.set(1U, random_() % 50);
      values.add(2U, random_() % 5000);
      values.add(3U, random_() % 3);
      if (set.sort.spec.stamped) values.stamp(random_() % 1'000'000);
    });
  }

  std::mt19937& random_;
  Provider provider_;
  std::map<std::string_view, Set> sets_;
};

// Some providers, of which two may have the same names in their sets.
class ChangingProviders {
 public:
  ChangingProviders(std::string directory, unsigned seed)
      : directory_(std::move(directory)), random_(seed) {}

  // Begins, ends and changes some.
  void change() {
    static const std::array<const char*, 4> names{"alpha", "beta", "gamma", "kept"};
    const std::string name = names[random_() % names.size()];
    switch (random_() % 16) {
      case 0:
        if (providers_.size() > 1) providers_.erase(name);
        return;
      case 1:
      case 2:
        if (ChangingProvider* const provider = any()) provider->close_set();
        return;
      case 3:
      case 4:
      case 5:
        if (ChangingProvider* const provider = any()) provider->close_instance();
        return;
      case 6:
      case 7:
      case 8:
        if (ChangingProvider* const provider = any()) provider->create();
        return;
      default:
        break;
    }
    if (!providers_.contains(name)) {
      providers_.emplace(name, std::make_unique<ChangingProvider>(directory_, name, random_));
    }
    providers_.at(name)->add_set();
  }
  void close_some() {
    if (ChangingProvider* const provider = any()) provider->close_instance();
  }
  void count() {
    for (auto& [name, provider] : providers_) provider->count();
  }
  [[nodiscard]] bool flips(unsigned one_in) { return random_() % one_in == 0; }

 private:
  ChangingProvider* any() {
    if (providers_.empty()) return nullptr;
    const auto offset = static_cast<std::ptrdiff_t>(random_() % providers_.size());
    return std::next(providers_.begin(), offset)->second.get();
  }

  std::string directory_;
  std::mt19937 random_;
  std::map<std::string, std::unique_ptr<ChangingProvider>> providers_;
};

}  // namespace meterbank::test
