// SPDX-License-Identifier: Apache-2.0
//
// Items held against one registration.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "meterbank/shm/case_fold.hpp"
#include "plan_part.hpp"

namespace meterbank {
namespace {

using Indexes = std::vector<std::uint32_t>;

// The instances of a registration as items ask for them.
class Instances {
 public:
  explicit Instances(const RegisteredSet& set) : set_(set), live_(live_instances(set)) {}

  [[nodiscard]] Indexes selected_by(const QueryRequest::Item& asked) {
    Indexes found;
    if (!has_instance_names(set_.set->instances)) {
      found = live_;
    } else if (asked.name.is_literal()) {
      const auto [first, last] = by_name().equal_range(asked.item.instances);
      for (auto each = first; each != last; ++each) found.push_back(each->second);
      std::sort(found.begin(), found.end());
      sort_by_id(set_, found);
    } else {
      std::copy_if(live_.begin(), live_.end(), std::back_inserter(found), [&](std::uint32_t index) {
        return asked.name.matches(set_.instances[index].name);
      });
    }
    if (asked.item.instance_id != kAnyInstanceId) {
      std::erase_if(found, [&](std::uint32_t index) {
        return set_.instances[index].id != asked.item.instance_id;
      });
    }
    return found;
  }

 private:
  using ByName =
      std::unordered_multimap<std::string_view, std::uint32_t, KeyedFoldedHash, FoldedEqual>;

  // Made once it is asked for.
  const ByName& by_name() {
    if (!by_name_) {
      by_name_.emplace(live_.size());
      for (const std::uint32_t index : live_) by_name_->emplace(set_.instances[index].name, index);
    }
    return *by_name_;
  }

  const RegisteredSet& set_;
  const Indexes live_;
  std::optional<ByName> by_name_;
};

Indexes counters_of(const QueryRequest& request, const Counterset& set) {
  Indexes wanted;
  for (std::uint32_t index = 0; index < set.counters.size(); ++index) {
    const bool is_wanted =
        std::any_of(request.items.begin(), request.items.end(), [&](const auto& asked) {
          const std::uint32_t id = asked.item.counter_id;
          return asked.item.set == set.guid &&
                 (id == kAnyCounterId || id == set.counters[index].id);
        });
    if (is_wanted) wanted.push_back(index);
  }
  return wanted;
}

}  // namespace

bool wants_total(const QueryRequest::Item& asked, InstanceKind kind) noexcept {
  if (is_shared(kind)) return true;
  if (!is_aggregate(kind)) return false;
  const std::uint32_t id = asked.item.instance_id;
  return (id == kAnyInstanceId || id == kTotalInstanceId) && asked.name.matches(kTotalName);
}

std::shared_ptr<const PlanPart> part_of_items(const QueryRequest& request,
                                              const ProviderView& provider,
                                              const RegisteredSet& set) {
  auto part = std::make_shared<PlanPart>();
  const InstanceKind kind = set.set->instances;
  Instances instances(set);
  std::vector<bool> is_used(set.instances.index_end());
  const auto use = [&is_used](const Indexes& indexes) {
    for (const std::uint32_t index : indexes) is_used[index] = true;
  };
  // Of instances first, of rows once there are rows.
  std::map<std::pair<std::string, std::uint32_t>, std::shared_ptr<PlanPart::ItemRows>> distinct;
  std::optional<std::size_t> first_asked;
  for (std::size_t index = 0; index < request.items.size(); ++index) {
    const QueryRequest::Item& asked = request.items[index];
    if (asked.item.set != set.set->guid) continue;
    if (!first_asked) {
      first_asked = index;
      part->items.resize(request.items.size());
    }
    auto& rows = distinct[{asked.item.instances, asked.item.instance_id}];
    if (rows == nullptr) {
      rows = std::make_shared<PlanPart::ItemRows>();
      if (fits(asked.item, kind)) {
        const bool is_share = is_shared(kind) && provider.trusted;
        if (!is_share) use(rows->rows = instances.selected_by(asked));
        if (wants_total(asked, kind)) rows->summed = summed_instances(set);
        part->is_left_out = part->is_left_out || (!rows->summed.empty() && !provider.trusted);
        if (!provider.trusted) rows->summed.clear();
        use(rows->summed);
      }
    }
    part->items[index] = rows;
  }
  if (!first_asked) return part;
  Indexes used;
  for (std::uint32_t index = 0; index < is_used.size(); ++index) {
    if (is_used[index]) used.push_back(index);
  }
  auto selection = make_selection(provider, set, used, counters_of(request, *set.set));
  // From instances to rows. What has no row is not selected.
  Indexes row_of(set.instances.index_end(), kNoCounter);
  if (selection != nullptr) {
    std::uint32_t number = 0;
    for (const auto& [rows, first_row] : selection->list->parts) {
      for (std::size_t row = 0; row < rows->size(); ++row) row_of[rows->index(row)] = number++;
    }
  }
  for (const auto& [asked, item] : distinct) {
    for (Indexes* const rows : {&item->rows, &item->summed}) {
      for (std::uint32_t& index : *rows) index = row_of[index];
      std::erase(*rows, kNoCounter);
    }
  }
  if (selection != nullptr) part->selections.push_back({std::move(selection), *first_asked});
  return part;
}

}  // namespace meterbank
