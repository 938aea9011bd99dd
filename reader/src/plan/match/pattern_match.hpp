// SPDX-License-Identifier: Apache-2.0
//
// One reading of a counter path, ready to be held against what a catalog lists.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "meterbank/reader/catalog.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/path.hpp"

namespace meterbank {

// A base, or a counter without a number: copied for its neighbours, shown to callers that name it.
[[nodiscard]] bool is_hidden(const CounterView& counter) noexcept;

// The short spelling's word: the symbol, or the name where there is none.
[[nodiscard]] const std::string& word_of(const Counterset& set) noexcept;
[[nodiscard]] const std::string& word_of(const CounterView& counter) noexcept;

// Indexes in RegisteredSet::instances.
[[nodiscard]] std::vector<std::uint32_t> live_instances(const RegisteredSet& set);
// Those of them that are added up.
[[nodiscard]] std::vector<std::uint32_t> summed_instances(const RegisteredSet& set);
// The order in which instances of one name are counted.
void sort_by_id(const RegisteredSet& set, std::vector<std::uint32_t>& instances);

class PatternMatch {
 public:
  // Precondition: no second word, see CounterPath::reading_as_counter().
  explicit PatternMatch(CounterPath path);

  [[nodiscard]] bool matches(const ProviderView& provider) const noexcept;
  [[nodiscard]] bool matches(const Counterset& set) const noexcept;
  // Indexes in Counterset::counters, in the order of the schema.
  [[nodiscard]] std::vector<std::uint32_t> counters_of(const Counterset& set) const;
  [[nodiscard]] bool names_provider() const noexcept {
    return path_.provider.has_value() || path_.provider_pid.has_value();
  }
  // Whether the row is asked for that a reader makes out of all instances. Sets of which each
  // provider holds a share are one row, unless a provider is named.
  [[nodiscard]] bool wants_total(const RegisteredSet& set) const noexcept;
  // Indexes in RegisteredSet::instances, in slot order; never a closed instance. Of several with
  // the one name that a pattern names, the one with the smallest id; of a pattern with a number:
  // all that have the name.
  [[nodiscard]] std::vector<std::uint32_t> instances_of(const RegisteredSet& set) const;
  // Whether instances_of() has just those that matches() is true for. The others of one name can
  // make a difference otherwise.
  [[nodiscard]] bool chooses_one_by_one() const noexcept;
  [[nodiscard]] bool matches(const InstanceView& instance) const noexcept {
    return !instance.closed && (!instance_ || instance_->matches(instance.name));
  }

  // What `name#7` may mean: an id, part of a name, a position.
  [[nodiscard]] bool has_number() const noexcept { return instance_with_hash_.has_value(); }
  [[nodiscard]] std::uint32_t number() const noexcept { return *path_.index; }
  // Those that are called `name#7`.
  [[nodiscard]] std::vector<std::uint32_t> instances_with_hash(const RegisteredSet& set) const;

  [[nodiscard]] const CounterPath& path() const noexcept { return path_; }

 private:
  [[nodiscard]] std::vector<std::uint32_t> named(const RegisteredSet& set, const Glob& name) const;

  CounterPath path_;
  Glob set_;
  std::optional<Glob> provider_;
  std::optional<Glob> instance_;
  std::optional<Glob> counter_;
  std::optional<Glob> instance_with_hash_;  // where `name#7` is the whole name
};

}  // namespace meterbank
