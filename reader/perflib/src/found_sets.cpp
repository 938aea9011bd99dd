// SPDX-License-Identifier: Apache-2.0
#include "found_sets.hpp"

#include <algorithm>
#include <map>

namespace meterbank {
namespace {

constexpr std::uint32_t kAggregateFlag = 4;
constexpr std::uint32_t kHistoryFlag = 8;

bool has_flag(const Counterset& set, std::uint32_t flag) noexcept {
  return (static_cast<std::uint32_t>(set.instances) & flag) != 0;
}

bool is_alive(const ProviderView& provider) noexcept {
  return provider.state == ProviderState::kLive || provider.state == ProviderState::kHung;
}

// The catalog lists providers as it found them; who is first here must not change from run to run.
bool comes_before(const FoundRegistration& left, const FoundRegistration& right) noexcept {
  if (left.alive != right.alive) return left.alive;
  const ProviderView& first = *left.provider;
  const ProviderView& second = *right.provider;
  if (first.created_realtime_ns != second.created_realtime_ns) {
    return first.created_realtime_ns < second.created_realtime_ns;
  }
  return first.pid < second.pid;
}

}  // namespace

bool has_many_instances(const Counterset& set) noexcept {
  return has_instance_names(set.instances);
}
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
    std::stable_sort(set.registrations.begin(), set.registrations.end(), comes_before);
  }
  return sets;
}

bool any_denied(const Catalog& catalog) noexcept {
  return std::any_of(catalog.providers().begin(), catalog.providers().end(),
                     [](const auto& provider) {
                       return provider->state == ProviderState::kUnreadable &&
                              provider->error.code == ErrorCode::kDenied;
                     });
}

const FoundSet* find_set(const std::vector<FoundSet>& sets, const Guid& guid) noexcept {
  const auto found = std::find_if(sets.begin(), sets.end(),
                                  [&guid](const FoundSet& set) { return set.guid == guid; });
  return found == sets.end() ? nullptr : &*found;
}

}  // namespace meterbank
