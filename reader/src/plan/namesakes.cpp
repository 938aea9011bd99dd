// SPDX-License-Identifier: Apache-2.0
#include "namesakes.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>
#include <unordered_map>

#include "meterbank/shm/case_fold.hpp"

namespace meterbank {
namespace {

// Names are compared by their keyed hashes: a list of them takes less memory than the instances
// themselves. In rising order.
using Hashes = std::vector<std::size_t>;

bool repeats(const Hashes& names, std::size_t name) {
  const auto [first, last] = std::equal_range(names.begin(), names.end(), name);
  return last - first > 1;
}

// The registrations of one set in one provider.
class OfProvider {
 public:
  void add(const ProviderView& provider, const RegisteredSet& set) {
    constexpr std::size_t kAnswered = 1;  // see ProviderView::segment_id
    is_trusted_ = provider.trusted;
    // A callback adds the names that it likes, and no registration knows those of another one.
    may_repeat_ = may_repeat_ || !sets_.empty() || provider.segment_id[kAnswered] != 0 ||
                  set.set->identity == InstanceIdentity::kNameAndId;
    sets_.push_back(&set);
  }
  [[nodiscard]] bool is_trusted() const noexcept { return is_trusted_; }
  [[nodiscard]] bool may_repeat() const noexcept { return may_repeat_; }

  // The names of the living instances, with repetitions.
  [[nodiscard]] Hashes names() const {
    std::size_t count = 0;
    for (const RegisteredSet* const set : sets_) count += set->instances.size();
    Hashes names;
    names.reserve(count);
    for (const RegisteredSet* const set : sets_) {
      for (const InstanceView& instance : set->instances) {
        if (!instance.closed) names.push_back(KeyedFoldedHash{}(instance.name));
      }
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  Hashes repeated;  // names(), if they may repeat

 private:
  std::vector<const RegisteredSet*> sets_;
  bool is_trusted_ = false;
  bool may_repeat_ = false;
};

// The registrations of all sets of one name.
class OfName {
 public:
  [[nodiscard]] OfProvider& of(const ProviderView& provider) {
    return providers_[provider.segment_id[0]];
  }

  void compare() {
    const auto trusted =
        std::count_if(providers_.begin(), providers_.end(),
                      [](const auto& provider) { return provider.second.is_trusted(); });
    for (auto& [inode, provider] : providers_) {
      const bool is_compared = trusted > 1 && provider.is_trusted();
      if (!is_compared && !provider.may_repeat()) continue;
      Hashes names = provider.names();
      if (is_compared) std::unique_copy(names.begin(), names.end(), std::back_inserter(names_));
      if (provider.may_repeat()) provider.repeated = std::move(names);
    }
    std::sort(names_.begin(), names_.end());
  }

  void mark(const QueryPlan::Selection& selection, QueryPlan& plan) {
    const OfProvider& own = of(*selection.provider);
    const bool has_names = has_instance_names(selection.set->set->instances);
    const bool may_share = has_names && own.may_repeat();
    // The rows of one trusted provider whose names differ: the usual case.
    if (own.is_trusted() && names_.empty() && !may_share) return;
    const std::size_t end = selection.first_row + selection.rows;
    for (std::size_t index = selection.first_row; index < end; ++index) {
      QueryPlan::Row& row = plan.rows[index];
      row.has_namesake = !own.is_trusted();
      if (names_.empty() && !may_share) continue;
      const std::size_t name = KeyedFoldedHash{}(plan.instance_of(index).name);
      row.has_namesake = row.has_namesake || repeats(names_, name);
      row.shares_name = may_share && repeats(own.repeated, name);
    }
  }

 private:
  std::map<std::uint64_t, OfProvider> providers_;  // by the inode of their memory
  Hashes names_;  // each name once a trusted provider, if there are several of these
};

}  // namespace

void mark_namesakes(const std::vector<QueryParts::Registered>& registered, QueryPlan& plan) {
  std::unordered_map<std::string_view, OfName, KeyedFoldedHash, FoldedEqual> sets;
  for (const auto& [provider, set, part] : registered) {
    sets[set->set->name].of(*provider).add(*provider, *set);
  }
  for (auto& [name, set] : sets) set.compare();
  for (const QueryPlan::Selection& selection : plan.selections) {
    sets.find(selection.set->set->name)->second.mark(selection, plan);
  }
}

}  // namespace meterbank
