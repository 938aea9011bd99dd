// SPDX-License-Identifier: Apache-2.0
//
// The countersets of a catalog by their GUID, as PerfLib names them.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "meterbank/base/guid.hpp"
#include "meterbank/reader/catalog.hpp"

namespace meterbank {

inline constexpr std::string_view kTotalName = "_Total";
// Of the aggregated row, which no provider has: the second of the two reserved ids.
inline constexpr std::uint32_t kTotalId = 0xfffffffe;

struct FoundRegistration {
  std::shared_ptr<const ProviderView> provider;
  const RegisteredSet* set = nullptr;  // in *provider
  bool alive = false;
};

// All registrations of one set. The first one describes it; where others disagree, see
// ResultPlan.
struct FoundSet {
  Guid guid;
  std::vector<FoundRegistration> registrations;  // live providers first, then the oldest

  [[nodiscard]] bool alive() const noexcept { return registrations.front().alive; }
  [[nodiscard]] const Counterset& described() const noexcept {
    return *registrations.front().set->set;
  }
};

[[nodiscard]] bool has_many_instances(const Counterset& set) noexcept;
[[nodiscard]] bool is_aggregate(const Counterset& set) noexcept;
// Rows of providers that are gone count on.
[[nodiscard]] bool keeps_history(const Counterset& set) noexcept;

[[nodiscard]] const CounterView* find_counter(const Counterset& set, std::uint32_t id) noexcept;

// In the order of the catalog. Sets that were closed are no sets; those of dead providers are.
[[nodiscard]] std::vector<FoundSet> find_sets(const Catalog& catalog);
// A set that is not found may be a set of a provider that this process may not read.
[[nodiscard]] bool any_denied(const Catalog& catalog) noexcept;
[[nodiscard]] const FoundSet* find_set(const std::vector<FoundSet>& sets,
                                       const Guid& guid) noexcept;

}  // namespace meterbank
