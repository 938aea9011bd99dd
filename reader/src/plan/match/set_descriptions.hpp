// SPDX-License-Identifier: Apache-2.0
//
// Which registrations of a set are rows of one set. Providers may describe one GUID differently;
// then each description has rows and totals of its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "meterbank/reader/catalog.hpp"
#include "meterbank/shm/case_fold.hpp"

namespace meterbank {

// What is the same in all descriptions of a set that agree. The sets outlive it.
class AgreedSet {
 public:
  explicit AgreedSet(const Counterset& set) noexcept : first_(&set) {}

  [[nodiscard]] bool agrees(const Counterset& set);
  // Precondition: it agrees.
  void add(const Counterset& set);

 private:
  [[nodiscard]] const CounterView* find(std::uint32_t id);

  const Counterset* first_;
  // Of all that were added. Empty as long as nothing was looked for: most sets have one
  // description.
  std::vector<const CounterView*> by_id_;
};

class SetDescriptions {
 public:
  struct Place {
    std::uint32_t number = 0;  // the same for all that agree
    bool is_apart = false;     // the name of the set stands for another description
  };

  // Call in the order of comes_before(): the first description of a GUID is the one that others
  // agree with or not, and the first of a name is the one that the name stands for. Untrusted
  // registrations that do not agree are not compared with each other: they are never added up.
  [[nodiscard]] Place place_of(const ProviderView& provider, const Counterset& set);

 private:
  struct Set {
    std::optional<AgreedSet> first;
    std::uint32_t first_number = 0;
    std::map<std::string, std::uint32_t> apart;  // by all that has to agree; empty: untrusted
  };

  [[nodiscard]] std::uint32_t number_of(const ProviderView& provider, const Counterset& set);

  std::map<Guid, Set> sets_;
  std::unordered_map<std::string_view, std::uint32_t, KeyedFoldedHash, FoldedEqual> by_name_;
  std::uint32_t numbers_ = 0;
};

}  // namespace meterbank
