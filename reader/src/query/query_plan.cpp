// SPDX-License-Identifier: Apache-2.0
#include "query_plan.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/path.hpp"
#include "meterbank/shm/segment.hpp"
#include "pattern_match.hpp"

namespace meterbank {
namespace {

using Counters = std::vector<std::uint32_t>;  // indexes in Counterset::counters

constexpr std::uint32_t kNothing = 0;
constexpr std::size_t kLanes = 8;

// Which counters of which instances of one registration are selected. Instances mostly share their
// counters, so each distinct list is kept once and named by a number; 0 is the empty list.
class Choice {
 public:
  Choice(std::shared_ptr<const ProviderView> provider, const RegisteredSet& set, bool total)
      : provider_(std::move(provider)),
        set_(&set),
        total_(total),
        list_of_(set.instances.size(), kNothing) {}

  [[nodiscard]] const std::shared_ptr<const ProviderView>& provider() const { return provider_; }
  [[nodiscard]] const RegisteredSet& set() const noexcept { return *set_; }
  [[nodiscard]] bool total() const noexcept { return total_; }
  [[nodiscard]] std::size_t lists() const noexcept { return lists_.size(); }
  [[nodiscard]] const Counters& list(std::size_t number) const { return lists_[number]; }
  [[nodiscard]] std::uint32_t list_of(std::size_t instance) const { return list_of_[instance]; }

  void add(const std::vector<std::uint32_t>& instances, const Counters& counters) {
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
        const std::string& set = word_of(*set_->set);
        const std::string& word = word_of(set_->set->counters[counter]);
        const auto is_excluded = [&text](const Glob& glob) { return glob.matches(text); };
        text.assign(set).append("/").append(word);
        if (std::any_of(globs.begin(), globs.end(), is_excluded)) return true;
        text.assign(set).append("/").append(set_->instances[instance].name);
        text.append("/").append(word);
        return !total_ && std::any_of(globs.begin(), globs.end(), is_excluded);
      });
      if (kept.size() != lists_[list_of_[instance]].size()) list_of_[instance] = number_of(kept);
    }
  }

 private:
  std::uint32_t number_of(const Counters& counters) {
    const auto [known, is_new] =
        numbers_.emplace(counters, static_cast<std::uint32_t>(lists_.size()));
    if (is_new) lists_.push_back(counters);
    return known->second;
  }

  std::shared_ptr<const ProviderView> provider_;
  const RegisteredSet* set_;
  bool total_;                          // the instances are inputs of one row
  std::vector<std::uint32_t> list_of_;  // one an instance
  std::vector<Counters> lists_{Counters{}};
  std::map<Counters, std::uint32_t> numbers_{{Counters{}, kNothing}};
};

bool is_selectable(const ProviderView& provider, const RegisteredSet& set) noexcept {
  return provider.segment != nullptr &&
         (set.state == RegistrationState::kInserted || set.state == RegistrationState::kClosing);
}

// Choices are kept in the order in which patterns asked for them.
class Choices {
 public:
  explicit Choices(const Catalog& catalog) : catalog_(catalog) {}

  // False: the reading selects nothing.
  bool add(const PatternMatch& match) {
    bool found = false;
    for (const auto& provider : catalog_.providers()) {
      if (!match.matches(*provider)) continue;
      for (const RegisteredSet& set : provider->sets) {
        if (!is_selectable(*provider, set) || !match.matches(*set.set)) continue;
        const Counters counters = match.counters_of(*set.set);
        if (counters.empty()) continue;
        const auto instances = match.instances_of(set);
        if (!instances.empty()) choice_of(provider, set, false).add(instances, counters);
        const bool has_total = match.wants_total(set) && add_total(provider, set, counters);
        found = found || has_total || !instances.empty();
      }
    }
    return found;
  }

  [[nodiscard]] std::vector<Choice>& all() noexcept { return choices_; }

 private:
  // False: there is nothing to add up.
  bool add_total(const std::shared_ptr<const ProviderView>& provider, const RegisteredSet& set,
                 Counters counters) {
    std::erase_if(counters, [&set](std::uint32_t counter) {
      return set.set->counters[counter].aggregate == kAggregateUndefined;
    });
    std::vector<std::uint32_t> instances;
    for (std::uint32_t index = 0; index < set.instances.size(); ++index) {
      if (!set.instances[index].closed) instances.push_back(index);
    }
    if (counters.empty() || instances.empty()) return false;
    choice_of(provider, set, true).add(instances, counters);
    return true;
  }

  Choice& choice_of(const std::shared_ptr<const ProviderView>& provider, const RegisteredSet& set,
                    bool total) {
    const auto [known, is_new] = index_.emplace(std::pair(&set, total), choices_.size());
    if (is_new) choices_.emplace_back(provider, set, total);
    return choices_[known->second];
  }

  const Catalog& catalog_;
  std::vector<Choice> choices_;
  std::map<std::pair<const RegisteredSet*, bool>, std::size_t> index_;
};

// Turns choices into addresses.
class PlanWriter {
 public:
  explicit PlanWriter(QueryPlan& plan) noexcept : plan_(plan) {}

  void add(const Choice& choice) {
    for (std::uint32_t list = 1; list < choice.lists(); ++list) add_selection(choice, list);
  }

 private:
  // The group that holds a slot. Slots are asked for in rising order.
  struct Place {
    const std::byte* group = nullptr;
    std::size_t index = 0;
    std::uint32_t first_slot = 0;
  };

  void add_selection(const Choice& choice, std::uint32_t list) {
    const RegisteredSet& set = choice.set();
    const MappedSegment& segment = *choice.provider()->segment;
    const auto* record = segment.at<RegistrationRecord>(set.registration);
    if (record == nullptr) return;
    QueryPlan::Selection selection;
    selection.provider = choice.provider();
    selection.set = &set;
    selection.total = choice.total();
    selection.counters = choice.list(list);
    selection.first_row = plan_.rows.size();
    selection.membership = &record->membership;
    selection.word = &record->word;
    Place place;
    for (std::uint32_t instance = 0; instance < set.instances.size(); ++instance) {
      if (choice.list_of(instance) != list) continue;
      if (!go_to(segment, set, set.instances[instance].slot, place)) continue;
      add_row(set, instance, place);
    }
    selection.rows = plan_.rows.size() - selection.first_row;
    if (selection.rows == 0) return;
    selection.first_run = plan_.runs.size();
    add_runs(set, selection.first_row, plan_.rows.size());
    selection.runs = plan_.runs.size() - selection.first_run;
    plan_.selections.push_back(std::move(selection));
  }

  static bool go_to(const MappedSegment& segment, const RegisteredSet& set, std::uint32_t slot,
                    Place& place) noexcept {
    while (place.index < set.groups.size() &&
           slot - place.first_slot >= set.group_slots[place.index]) {
      place.first_slot += set.group_slots[place.index];
      ++place.index;
      place.group = nullptr;
    }
    if (place.index == set.groups.size()) return false;
    if (place.group == nullptr) {
      place.group = segment.lines_at(set.groups[place.index], set.layouts[place.index].bytes);
    }
    return place.group != nullptr;
  }

  void add_row(const RegisteredSet& set, std::uint32_t instance, const Place& place) {
    const InstanceView& view = set.instances[instance];
    QueryPlan::Row row;
    row.selection = static_cast<std::uint32_t>(plan_.selections.size());
    row.instance = instance;
    row.generation = view.generation;
    row.values = plan_.words;
    row.block = block_parts(place.group, set.set->form, set.layouts[place.index],
                            view.slot - place.first_slot);
    plan_.words += row.block.words;
    plan_.rows.push_back(row);
  }

  // How many rows from `row` on, before `end`, lie one head after the other, `lanes` to a head.
  [[nodiscard]] std::size_t heads_in_order(std::size_t row, std::size_t end, std::size_t lanes,
                                           std::size_t head_words) const noexcept {
    const SharedWord* head = plan_.rows[row].block.seq;
    std::size_t count = 0;
    while (row + count < end &&
           plan_.rows[row + count].block.seq == head + count / lanes * head_words + count % lanes) {
      ++count;
    }
    return count / lanes * lanes;
  }

  void add_runs(const RegisteredSet& set, std::size_t row, std::size_t end) {
    using Kind = QueryPlan::Run::Kind;
    const std::size_t lanes = set.set->form.lanes;
    const std::size_t head_words = set.set->form.head_stride() / sizeof(SharedWord);
    std::size_t scattered = row;
    const auto add_scattered = [&] {
      if (scattered != row) {
        plan_.runs.push_back({scattered, row - scattered, nullptr, 0, Kind::kScattered});
      }
    };
    while (row < end) {
      const std::size_t rows =
          starts_a_head(set, row) ? heads_in_order(row, end, lanes, head_words) : 0;
      if (rows == 0) {
        ++row;
        continue;
      }
      add_scattered();
      plan_.runs.push_back({row, rows, plan_.rows[row].block.seq, head_words,
                            lanes == kLanes ? Kind::kTiles : Kind::kLines});
      row += rows;
      scattered = row;
    }
    add_scattered();
  }

  [[nodiscard]] bool starts_a_head(const RegisteredSet& set, std::size_t row) const noexcept {
    return set.instances[plan_.rows[row].instance].slot % set.set->form.lanes == 0;
  }

  QueryPlan& plan_;
};

}  // namespace

Result<BuiltPlan> build_plan(const Catalog& catalog, const std::vector<std::string>& patterns,
                             const std::vector<std::string>& excluded) {
  static const std::vector<std::string> everything{"*"};
  Choices choices(catalog);
  BuiltPlan built;
  for (const std::string& text : patterns.empty() ? everything : patterns) {
    auto path = parse_path(text);
    if (!path) return tl::make_unexpected(std::move(path.error()));
    const PatternMatch as_counter(path->reading_as_counter());
    if (choices.add(as_counter)) continue;
    std::optional<PatternMatch> as_instance;
    if (path->second_word) as_instance.emplace(path->reading_as_instance());
    if (as_instance && choices.add(*as_instance)) continue;
    if (patterns.empty()) continue;
    built.unmatched.push_back(
        explain_unmatched(catalog, text, as_counter, as_instance ? &*as_instance : nullptr));
  }
  std::vector<Glob> globs;
  globs.reserve(excluded.size());
  for (const std::string& text : excluded) globs.emplace_back(text, GlobOptions{true});
  auto plan = std::make_shared<QueryPlan>();
  PlanWriter writer(*plan);
  for (Choice& choice : choices.all()) {
    if (!globs.empty()) choice.exclude(globs);
    writer.add(choice);
  }
  plan->providers = catalog.providers();
  built.plan = std::move(plan);
  return built;
}

}  // namespace meterbank
