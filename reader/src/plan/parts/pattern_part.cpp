// SPDX-License-Identifier: Apache-2.0
//
// Patterns held against one registration.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "plan_part.hpp"

namespace meterbank {
namespace {

using Counters = std::vector<std::uint32_t>;  // indexes in Counterset::counters

constexpr std::uint32_t kNothing = 0;

// Which counters of which instances are selected. Instances mostly share their counters, so each
// distinct list is kept once and named by a number; 0 is the empty list.
class Choice {
 public:
  Choice(const RegisteredSet& set, bool total) : set_(set), total_(total) {}

  void add(const std::vector<std::uint32_t>& instances, const Counters& counters,
           std::size_t asked) {
    if (!asked_) {
      asked_ = asked;
      list_of_.assign(set_.instances.index_end(), kNothing);
    }
    std::map<std::uint32_t, std::uint32_t> sums;
    for (const std::uint32_t instance : instances) {
      const std::uint32_t before = list_of_[instance];
      auto sum = sums.find(before);
      if (sum == sums.end()) {
        Counters both = lists_[before];
        for (const std::uint32_t counter : counters) {
          if (std::find(both.begin(), both.end(), counter) == both.end()) both.push_back(counter);
        }
        sum = sums.emplace(before, number_of(both)).first;
      }
      list_of_[instance] = sum->second;
    }
  }

  void exclude(const std::vector<Glob>& globs) {
    std::string text;
    for (std::size_t instance = 0; instance < list_of_.size(); ++instance) {
      if (list_of_[instance] == kNothing) continue;
      Counters kept = lists_[list_of_[instance]];
      std::erase_if(kept, [&](std::uint32_t counter) {
        const std::string& set = word_of(*set_.set);
        const std::string& word = word_of(set_.set->counters[counter]);
        const auto is_excluded = [&text](const Glob& glob) { return glob.matches(text); };
        text.assign(set).append("/").append(word);
        if (std::any_of(globs.begin(), globs.end(), is_excluded)) return true;
        text.assign(set).append("/").append(shown_as(instance)).append("/").append(word);
        if (std::any_of(globs.begin(), globs.end(), is_excluded)) return true;
        if (total_) return false;
        const std::string id = std::to_string(set_.instances[instance].id);
        text.resize(text.size() - word.size() - 1);
        text.append("#").append(id).append("/").append(word);
        return std::any_of(globs.begin(), globs.end(), is_excluded);
      });
      if (kept.size() != lists_[list_of_[instance]].size()) list_of_[instance] = number_of(kept);
    }
  }

  void write(const ProviderView& provider, std::vector<PlanPart::Asked>& selections) const {
    if (!asked_) return;
    std::vector<std::vector<std::uint32_t>> instances(lists_.size());
    for (std::uint32_t instance = 0; instance < list_of_.size(); ++instance) {
      instances[list_of_[instance]].push_back(instance);
    }
    for (std::size_t list = 1; list < lists_.size(); ++list) {
      auto selection = make_selection(provider, set_, instances[list], lists_[list]);
      if (selection == nullptr) continue;
      selection->total = total_;
      selections.push_back({std::move(selection), *asked_});
    }
  }

 private:
  // The name of the row that an instance is part of.
  [[nodiscard]] std::string_view shown_as(std::size_t instance) const noexcept {
    if (!total_) return set_.instances[instance].name;
    return is_shared(set_.set->instances) ? std::string_view() : kTotalName;
  }

  std::uint32_t number_of(const Counters& counters) {
    const auto [known, is_new] =
        numbers_.emplace(counters, static_cast<std::uint32_t>(lists_.size()));
    if (is_new) lists_.push_back(counters);
    return known->second;
  }

  const RegisteredSet& set_;
  const bool total_;                    // the instances are inputs of one row
  std::optional<std::size_t> asked_;    // nothing: nothing was selected
  std::vector<std::uint32_t> list_of_;  // one an instance
  std::vector<Counters> lists_{Counters{}};
  std::map<Counters, std::uint32_t> numbers_{{Counters{}, kNothing}};
};

// What one reading of one pattern selects of a registration.
class Selected {
 public:
  Selected(const PatternMatch& match, const ProviderView& provider, const RegisteredSet& set)
      : match_(match), set_(set), trusted_(provider.trusted) {
    if (!match.matches(provider) || !match.matches(*set.set)) return;
    counters = match.counters_of(*set.set);
    const bool wants_total = !counters.empty() && match.wants_total(set);
    // A share is shown as part of the one row that all shares make.
    const bool is_share = wants_total && is_shared(set.set->instances) && provider.trusted;
    wants_rows = !counters.empty() && !is_share;
    if (!wants_total) return;
    std::copy_if(counters.begin(), counters.end(), std::back_inserter(summed_counters),
                 [&set](std::uint32_t counter) {
                   return set.set->counters[counter].aggregate != kAggregateUndefined;
                 });
    wants_summed = !summed_counters.empty();
  }

  void find_instances() {
    if (wants_rows) instances = match_.instances_of(set_);
    if (wants_summed) summed = summed_instances(set_);
    is_left_out = !summed.empty() && !trusted_;
    if (is_left_out) summed.clear();
  }
  [[nodiscard]] bool anything() const noexcept { return !instances.empty() || !summed.empty(); }

  Counters counters, summed_counters;
  bool wants_rows = false, wants_summed = false;
  // After find_instances():
  std::vector<std::uint32_t> instances, summed;
  bool is_left_out = false;  // it would be summed if the provider were trusted

 private:
  const PatternMatch& match_;
  const RegisteredSet& set_;
  const bool trusted_;
};

// What one pattern alone selects needs no Choice: its instances have the same counters.
void write_alone(std::shared_ptr<UnplacedSelection> selection, bool total, PlanPart& part) {
  if (selection == nullptr) return;
  selection->total = total;
  part.selections.push_back({std::move(selection), 0});
}

// The instances for which f() is true. Of pieces that the part before knows, its rows are taken.
template <typename F>
std::shared_ptr<UnplacedSelection> chosen_one_by_one(const ProviderView& provider,
                                                     const RegisteredSet& set, Counters counters,
                                                     const PlanPart* before, bool total, F&& f) {
  const QueryPlan::RowList* known = nullptr;
  if (before != nullptr) {
    for (const auto& [selection, first] : before->selections) {
      if (selection->total == total) known = selection->list.get();
    }
  }
  SelectionBuilder builder(provider, set);
  std::size_t index = 0;
  for (const auto& piece : set.instances.pieces()) {
    const bool is_known =
        known != nullptr && index < known->parts.size() && known->parts[index].rows->piece == piece;
    if (is_known) {
      builder.add_known(known->parts[index].rows);
    } else {
      builder.add_part(f);
    }
    ++index;
  }
  return std::move(builder).finish(std::move(counters));
}

// The part of one pattern that looks at each instance by itself.
std::shared_ptr<const PlanPart> part_of_one(const PatternMatch& match, Selected& selected,
                                            const ProviderView& provider, const RegisteredSet& set,
                                            const PlanPart* before) {
  auto part = std::make_shared<PlanPart>();
  if (selected.wants_rows) {
    write_alone(chosen_one_by_one(
                    provider, set, std::move(selected.counters), before, false,
                    [&match](const InstanceView& instance) { return match.matches(instance); }),
                false, *part);
  }
  if (selected.wants_summed) {
    auto summed =
        chosen_one_by_one(provider, set, std::move(selected.summed_counters), before, true,
                          [&set](const InstanceView& instance) {
                            return !instance.closed && !is_called_total(*set.set, instance);
                          });
    part->is_left_out = summed != nullptr && !provider.trusted;
    if (provider.trusted) write_alone(std::move(summed), true, *part);
  }
  part->found.push_back(!part->selections.empty());
  return part;
}

}  // namespace

std::shared_ptr<const PlanPart> part_of_patterns(const QueryRequest& request,
                                                 const Numbered& numbered,
                                                 const ProviderView& provider,
                                                 const RegisteredSet& set, const PlanPart* before) {
  const bool is_alone = request.patterns.size() == 1 && request.excluded.empty();
  auto part = std::make_shared<PlanPart>();
  part->found.reserve(request.patterns.size());
  Choice rows(set, false), totals(set, true);
  for (std::size_t index = 0; index < request.patterns.size(); ++index) {
    const PatternMatch& match = request.patterns[index].reading_in(*set.set);
    Selected selected(match, provider, set);
    if (is_alone && match.chooses_one_by_one()) {
      return part_of_one(match, selected, provider, set, before);
    }
    selected.find_instances();
    const auto meant = numbered.find(index);
    if (meant != numbered.end() && !selected.counters.empty()) selected.instances = meant->second;
    part->found.push_back(selected.anything());
    part->is_left_out = part->is_left_out || selected.is_left_out;
    if (is_alone) {
      // Those that a number means may be in the order of their ids.
      std::sort(selected.instances.begin(), selected.instances.end());
      write_alone(make_selection(provider, set, selected.instances, std::move(selected.counters)),
                  false, *part);
      write_alone(
          make_selection(provider, set, selected.summed, std::move(selected.summed_counters)), true,
          *part);
      return part;
    }
    if (!selected.instances.empty()) rows.add(selected.instances, selected.counters, index);
    if (!selected.summed.empty()) totals.add(selected.summed, selected.summed_counters, index);
  }
  for (Choice* const choice : {&rows, &totals}) {
    if (!request.excluded.empty()) choice->exclude(request.excluded);
    choice->write(provider, part->selections);
  }
  return part;
}

}  // namespace meterbank
