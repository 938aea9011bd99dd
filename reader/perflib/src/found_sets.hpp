// SPDX-License-Identifier: Apache-2.0
//
// The countersets of a catalog by their GUID, as PerfLib names them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "meterbank/base/guid.hpp"
#include "meterbank/reader/catalog.hpp"

namespace meterbank {

struct FoundRegistration {
  std::shared_ptr<const ProviderView> provider;
  const RegisteredSet* set = nullptr;  // in *provider
};

// The registrations of one set that agree with the first one, which describes it.
struct FoundSet {
  Guid guid;
  std::vector<FoundRegistration> registrations;  // in the order of comes_before()

  [[nodiscard]] const Counterset& described() const noexcept {
    return *registrations.front().set->set;
  }
};

// Windows' consumers know numbers only. A distribution is the number of its values.
[[nodiscard]] constexpr bool is_described(const CounterView& counter) noexcept {
  return counter.form != ValueForm::kText;
}
// Of those that are described; null: there is none.
[[nodiscard]] inline const CounterView* find_described(const Counterset& set,
                                                       std::uint32_t id) noexcept {
  const CounterView* const counter = set.find(id);
  return counter != nullptr && is_described(*counter) ? counter : nullptr;
}

// In the order of the catalog. Sets that were closed are no sets; those of dead providers are.
[[nodiscard]] std::vector<FoundSet> find_sets(const Catalog& catalog);
// A set that is not found may be a set of a provider that this process may not read.
[[nodiscard]] bool any_denied(const Catalog& catalog) noexcept;
[[nodiscard]] const FoundSet* find_set(const std::vector<FoundSet>& sets,
                                       const Guid& guid) noexcept;

}  // namespace meterbank
