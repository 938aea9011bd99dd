// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "build_plan.hpp"
#include "match/pattern_match.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/suggest.hpp"

namespace meterbank {
namespace {

std::string plain(const std::string& pattern) { return literal_of(pattern).value_or(pattern); }

void consider(NearestName& nearest, std::string_view name) {
  if (!name.empty()) nearest.consider(name);
}

// The set, counter or instance names of what the pattern did reach.
class Explanation {
 public:
  Explanation(const Providers& providers, const PatternMatch& match) {
    for (const auto& provider : providers) {
      if (!match.matches(*provider)) continue;
      any_provider_ = true;
      for (const RegisteredSet& set : provider->sets) {
        sets_.push_back(&set);
        if (match.matches(*set.set)) matched_.push_back(&set);
      }
    }
  }

  [[nodiscard]] bool any_provider() const noexcept { return any_provider_; }
  [[nodiscard]] bool any_set() const noexcept { return !matched_.empty(); }

  [[nodiscard]] std::string nearest_set(const std::string& word) const {
    NearestName nearest(word);
    for (const RegisteredSet* set : sets_) {
      consider(nearest, set->set->symbol);
      consider(nearest, set->set->name);
    }
    return nearest.best().value_or("");
  }

  void consider_counters(NearestName& nearest) const {
    for (const RegisteredSet* set : matched_) {
      for (const CounterView& counter : set->set->counters) {
        consider(nearest, counter.symbol);
        consider(nearest, counter.name);
      }
    }
  }

  void consider_instances(NearestName& nearest) const {
    for (const RegisteredSet* set : matched_) {
      for (const InstanceView& instance : set->instances) {
        if (!instance.closed) consider(nearest, instance.name);
      }
    }
  }

  [[nodiscard]] bool has_counter(const PatternMatch& match) const {
    for (const RegisteredSet* set : matched_) {
      if (!match.counters_of(*set->set).empty()) return true;
    }
    return false;
  }

 private:
  bool any_provider_ = false;
  std::vector<const RegisteredSet*> sets_;     // of the providers that match
  std::vector<const RegisteredSet*> matched_;  // those that match themselves
};

Unmatched explain(const Providers& providers, const std::string& pattern,
                  const PatternMatch& as_counter, const PatternMatch* as_instance) {
  const Explanation reached(providers, as_counter);
  const CounterPath& path = as_counter.path();
  if (!reached.any_provider()) {
    if (!path.provider) return {pattern, "counterset", ""};  // there is no provider at all
    NearestName nearest(plain(*path.provider));
    for (const auto& provider : providers) consider(nearest, provider->name);
    return {pattern, "provider", nearest.best().value_or("")};
  }
  if (!reached.any_set()) return {pattern, "counterset", reached.nearest_set(plain(path.set))};
  if (path.counter && !reached.has_counter(as_counter)) {
    NearestName nearest(plain(*path.counter));
    reached.consider_counters(nearest);
    if (as_instance != nullptr) reached.consider_instances(nearest);
    return {pattern, "counter", nearest.best().value_or("")};
  }
  if (!path.instance) return {pattern, "instance", ""};  // the set has none at present
  NearestName nearest(plain(*path.instance));
  reached.consider_instances(nearest);
  return {pattern, "instance", nearest.best().value_or("")};
}

}  // namespace

// What trusted providers have comes first: a name that another user publishes must not stand in
// front of it.
Unmatched explain_unmatched(const Providers& providers, const std::string& pattern,
                            const PatternMatch& as_counter, const PatternMatch* as_instance) {
  Providers trusted;
  std::copy_if(providers.begin(), providers.end(), std::back_inserter(trusted),
               [](const auto& provider) { return provider->trusted; });
  Unmatched unmatched = explain(trusted, pattern, as_counter, as_instance);
  const bool is_known = !unmatched.suggestion.empty() || unmatched.part == "instance";
  return is_known ? unmatched : explain(providers, pattern, as_counter, as_instance);
}

}  // namespace meterbank
