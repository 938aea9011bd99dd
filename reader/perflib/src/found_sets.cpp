// SPDX-License-Identifier: Apache-2.0
#include "found_sets.hpp"

#include <algorithm>
#include <map>

namespace meterbank {

std::vector<FoundSet> find_sets(const Catalog& catalog) {
  std::vector<FoundSet> sets;
  std::map<Guid, std::size_t> index;
  for (const auto& provider : catalog.providers()) {
    for (const RegisteredSet& set : provider->sets) {
      if (!is_readable(*provider, set)) continue;
      const auto [known, is_new] = index.emplace(set.set->guid, sets.size());
      if (is_new) sets.push_back({set.set->guid, {}});
      sets[known->second].registrations.push_back({provider, &set});
    }
  }
  for (FoundSet& set : sets) {
    std::stable_sort(set.registrations.begin(), set.registrations.end(),
                     [](const FoundRegistration& left, const FoundRegistration& right) {
                       return comes_before(*left.provider, *right.provider);
                     });
    const auto described = set.registrations.front().set->set;
    std::erase_if(set.registrations, [&described](const FoundRegistration& registration) {
      return !agree(*described, *registration.set->set);
    });
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
