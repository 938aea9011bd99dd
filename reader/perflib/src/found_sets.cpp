// SPDX-License-Identifier: Apache-2.0
#include "found_sets.hpp"

#include <algorithm>
#include <map>

namespace meterbank {
namespace {

constexpr std::uint32_t kMultipleFlag = 2;
constexpr std::uint32_t kAggregateFlag = 4;
constexpr std::uint32_t kHistoryFlag = 8;

bool has_flag(const Counterset& set, std::uint32_t flag) noexcept {
  return (static_cast<std::uint32_t>(set.instances) & flag) != 0;
}

bool is_alive(const ProviderView& provider) noexcept {
  return provider.state == ProviderState::kLive || provider.state == ProviderState::kHung;
}

}  // namespace

bool has_many_instances(const Counterset& set) noexcept { return has_flag(set, kMultipleFlag); }
bool is_aggregate(const Counterset& set) noexcept { return has_flag(set, kAggregateFlag); }
bool keeps_history(const Counterset& set) noexcept { return has_flag(set, kHistoryFlag); }

const CounterView* find_counter(const Counterset& set, std::uint32_t id) noexcept {
  const auto found = std::find_if(set.counters.begin(), set.counters.end(),
                                  [id](const CounterView& counter) { return counter.id == id; });
  return found == set.counters.end() ? nullptr : &*found;
}

std::vector<FoundSet> find_sets(const Catalog& catalog) {
  std::vector<FoundSet> sets;
  std::map<Guid, std::size_t> index;
  for (const auto& provider : catalog.providers()) {
    if (provider->segment == nullptr) continue;
    for (const RegisteredSet& set : provider->sets) {
      if (set.state != RegistrationState::kInserted && set.state != RegistrationState::kClosing) {
        continue;
      }
      const auto [known, is_new] = index.emplace(set.set->guid, sets.size());
      if (is_new) sets.push_back({set.set->guid, {}});
      sets[known->second].registrations.push_back({provider, &set, is_alive(*provider)});
    }
  }
  for (FoundSet& set : sets) {
    std::stable_partition(set.registrations.begin(), set.registrations.end(),
                          [](const FoundRegistration& each) { return each.alive; });
  }
  return sets;
}

const FoundSet* find_set(const std::vector<FoundSet>& sets, const Guid& guid) noexcept {
  const auto found = std::find_if(sets.begin(), sets.end(),
                                  [&guid](const FoundSet& set) { return set.guid == guid; });
  return found == sets.end() ? nullptr : &*found;
}

}  // namespace meterbank
