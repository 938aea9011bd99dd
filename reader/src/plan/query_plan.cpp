// SPDX-License-Identifier: Apache-2.0
#include "query_plan.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "../callback/callback_asker.hpp"
#include "meterbank/shm/case_fold.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank {
namespace {

// A registration of the catalog, on its way into a plan.
struct Source : QueryParts::Registered {
  std::shared_ptr<const PlanPart> before;  // compiled before, and still right
  std::vector<bool> found_as_counter;
  Numbered numbered;
  std::size_t first_row = 0;  // of its first piece
  // Of rows that were asked for: what came of it, and the provider's own registration word.
  const SharedWord* answered = nullptr;
  const SharedWord* word = nullptr;
};

// Name and id are constant for the life that a generation names.
bool is_same_life(const InstanceView& left, const InstanceView& right) noexcept {
  return left.slot == right.slot && left.generation == right.generation &&
         left.closed == right.closed;
}

bool is_before(const Source& left, const Source& right) noexcept {
  return comes_before(*left.provider, *right.provider);
}

// Compiling the one again would give the part of the other. Both lie in the same mapped memory.
bool is_unchanged(const QueryParts::Registered& before, const ProviderView& provider,
                  const RegisteredSet& set) noexcept {
  const RegisteredSet& old = *before.set;
  return before.provider->name == provider.name && before.provider->pid == provider.pid &&
         old.set == set.set && old.generation == set.generation && old.groups == set.groups &&
         old.group_slots == set.group_slots &&
         std::equal(old.instances.begin(), old.instances.end(), set.instances.begin(),
                    set.instances.end(), is_same_life);
}

template <typename T>
using ByName = std::unordered_map<std::string_view, T, KeyedFoldedHash, FoldedEqual>;

class PlanBuilder {
 public:
  PlanBuilder(const Providers& providers, std::shared_ptr<const QueryRequest> request,
              const QueryParts* before, CallbackAsker* asker)
      : providers_(providers),
        request_(std::move(request)),
        before_(before != nullptr && before->request == request_ ? before : nullptr) {
    for (const auto& provider : providers) {
      for (const RegisteredSet& set : provider->sets) {
        if (!is_readable(*provider, set)) continue;
        Source& source = sources_.emplace_back();
        source.provider = provider;
        source.set = &set;
        if (asker != nullptr && has_callback(set)) add_answered(provider, set, *asker);
      }
    }
    // Items are answered as PerfLib's are, patterns in the order of the catalog.
    if (!request_->items.empty()) std::stable_sort(sources_.begin(), sources_.end(), is_before);
    if (before_ != nullptr) find_what_is_known();
  }

  BuiltPlan build() {
    auto parts = std::make_shared<QueryParts>();
    parts->request = request_;
    parts->as_instance = choose_words();
    choose_matches(parts->as_instance);
    for (Source& source : sources_) {
      source.part = part_of(source, parts->as_instance);
      parts->registered.push_back(source);
    }
    parts->pieces = lay_out();
    find_namesakes();
    for (std::size_t index = 0; index < request_->items.size(); ++index) {
      plan_->answers.push_back(answer_to(index));
    }
    plan_->providers = providers_;
    auto touched = touched_by(*parts);
    return {plan_, std::move(parts), unmatched(), std::move(touched)};
  }

 private:
  // A registration has the rows that it keeps in shared memory and those that it was asked for.
  void add_answered(const std::shared_ptr<const ProviderView>& provider, const RegisteredSet& set,
                    CallbackAsker& asker) {
    const CallbackAsker::Rows rows = asker.rows_of(provider, set);
    const auto* const record = provider->segment->at<RegistrationRecord>(set.registration);
    if (rows.view == nullptr || record == nullptr) return;
    Source& source = sources_.emplace_back();
    source.provider = rows.view;
    source.set = &rows.view->sets.front();
    source.answered = rows.status;
    source.word = &record->word;
  }

  [[nodiscard]] std::vector<TouchedSet> touched_by(const QueryParts& parts) const {
    std::vector<TouchedSet> touched;
    for (const Source& source : sources_) {
      if (source.answered != nullptr || !counts_interest(*source.set)) continue;
      auto asked = asked_of(*request_, parts.as_instance, *source.provider, *source.set);
      if (asked) touched.push_back({source.provider, source.set, *std::move(asked)});
    }
    return touched;
  }

  void find_what_is_known() {
    // Where a registration lies in this process.
    using Place = std::pair<const MappedSegment*, Ref>;
    const auto place_of = [](const QueryParts::Registered& registered) {
      return Place(registered.provider->segment.get(), registered.set->registration);
    };
    std::map<Place, const QueryParts::Registered*> known;
    for (const auto& registered : before_->registered) {
      known.emplace(place_of(registered), &registered);
    }
    for (Source& source : sources_) {
      const auto found = known.find(place_of(source));
      if (found != known.end() && is_unchanged(*found->second, *source.provider, *source.set)) {
        source.before = found->second->part;
      }
    }
  }

  // A second word is a counter if it is one anywhere.
  std::vector<bool> choose_words() {
    std::vector<bool> as_instance;
    for (const auto& pattern : request_->patterns) {
      as_instance.push_back(pattern.as_instance.has_value());
    }
    for (Source& source : sources_) {
      source.found_as_counter = source.before != nullptr
                                    ? source.before->found_as_counter
                                    : find_as_counter(*request_, *source.provider, *source.set);
      for (std::size_t index = 0; index < as_instance.size(); ++index) {
        if (source.found_as_counter[index]) as_instance[index] = false;
      }
    }
    return as_instance;
  }

  void choose_matches(const std::vector<bool>& as_instance) {
    for (std::size_t index = 0; index < request_->patterns.size(); ++index) {
      const auto& pattern = request_->patterns[index];
      matches_.push_back(as_instance[index] ? &*pattern.as_instance : &pattern.as_counter);
      if (matches_[index]->has_number()) choose_instances(index, *matches_[index]);
    }
  }

  // `name#7` is an id if an instance of that name has it, else a name if one is called so, else a
  // position among those of the name, counted through all providers of the set.
  void choose_instances(std::size_t index, const PatternMatch& match) {
    has_numbers_ = true;
    if (take_numbered(index, [&match](const RegisteredSet& set) {
          auto found = match.instances_of(set);
          std::erase_if(found, [&](auto one) { return set.instances[one].id != match.number(); });
          return found;
        })) {
      return;
    }
    if (take_numbered(index,
                      [&match](const auto& set) { return match.instances_with_hash(set); })) {
      return;
    }
    ByName<ByName<std::uint32_t>> seen;  // by set, as paths know sets by their names
    take_numbered(index, [&](const RegisteredSet& set) {
      auto found = match.instances_of(set);
      std::erase_if(found, [&](auto one) {
        return seen[set.set->name][set.instances[one].name]++ != match.number();
      });
      return found;
    });
  }

  // Tries one meaning of a number; false: it selects nothing.
  template <typename F>
  bool take_numbered(std::size_t index, F&& instances_in) {
    bool any = false;
    for (Source& source : sources_) {
      auto& meant = source.numbered[index];
      const PatternMatch& match = *matches_[index];
      if (!match.matches(*source.provider) || !match.matches(*source.set->set)) continue;
      if (match.counters_of(*source.set->set).empty()) continue;
      meant = instances_in(*source.set);
      any = any || !meant.empty();
    }
    return any;
  }

  std::shared_ptr<const PlanPart> part_of(const Source& source,
                                          const std::vector<bool>& as_instance) {
    // Which instance has a number is a matter of all registrations.
    const bool is_known =
        source.before != nullptr && before_->as_instance == as_instance && !has_numbers_;
    if (is_known) return source.before;
    ++plan_->compiled;
    if (request_->patterns.empty()) return part_of_items(*request_, *source.provider, *source.set);
    return part_of_patterns(*request_, matches_, source.numbered, source.found_as_counter,
                            *source.provider, *source.set);
  }

  // Puts all pieces in their order, one behind the other.
  std::vector<std::shared_ptr<const PlanPiece>> lay_out() {
    struct Place {
      Source* source;
      const PlanPart::Piece* piece;
    };
    std::set<Guid> own_totals;
    for (const Source& source : sources_) {
      if (has_living_own_total(source)) own_totals.insert(source.set->set->guid);
    }
    std::vector<Place> places;
    for (Source& source : sources_) {
      const bool set_has_own = own_totals.contains(source.set->set->guid);
      for (const auto& piece : source.part->pieces) {
        const bool has_own = piece.by_publisher ? source.part->has_own_total : set_has_own;
        if (!piece.piece->total || !has_own) places.push_back({&source, &piece});
      }
    }
    std::stable_sort(places.begin(), places.end(), [](const Place& left, const Place& right) {
      return left.piece->asked < right.piece->asked;
    });
    std::size_t rows = 0;
    for (const Place& place : places) rows += place.piece->piece->instances.size();
    plan_->rows.reserve(rows);
    plan_->selections.reserve(places.size());
    std::vector<std::shared_ptr<const PlanPiece>> pieces;
    pieces.reserve(places.size());
    for (const auto& [source, piece] : places) {
      if (piece == source->part->pieces.data()) source->first_row = plan_->rows.size();
      append(*source, *piece->piece);
      pieces.push_back(piece->piece);
    }
    return pieces;
  }

  void append(const Source& source, const PlanPiece& piece) {
    QueryPlan::Selection selection;
    selection.provider = source.provider;
    selection.set = source.set;
    selection.total = piece.total;
    selection.counters = piece.counters;
    selection.counter_mask = piece.counter_mask;
    selection.membership = piece.membership;
    selection.word = source.word != nullptr ? source.word : piece.word;
    selection.answered = source.answered;
    selection.first_row = plan_->rows.size();
    selection.rows = piece.instances.size();
    selection.first_value = plan_->words;
    selection.groups = piece.groups;
    const BlockForm& form = source.set->set->form;
    selection.first_version = plan_->blocks;
    plan_->blocks += selection.rows * form.shards;
    if (form.sharded()) {
      plan_->widest_shard = std::max<std::size_t>(plan_->widest_shard, form.words);
    }
    selection.first_run = plan_->runs.size();
    selection.runs = piece.runs.size();
    for (const std::uint32_t instance : piece.instances) {
      QueryPlan::Row& row = plan_->rows.emplace_back();
      row.selection = static_cast<std::uint32_t>(plan_->selections.size());
      row.instance = instance & QueryPlan::Row::kInstanceMask;
    }
    for (QueryPlan::Run run : piece.runs) {
      run.first_row += selection.first_row;
      plan_->runs.push_back(run);
    }
    plan_->words += selection.rows * form.words;
    plan_->selections.push_back(std::move(selection));
  }

  // See QueryPlan::Row::has_namesake. In one provider names are unique. Names are compared by their
  // keyed hashes: a list of them takes less memory than the instances themselves.
  void find_namesakes() {
    struct Registrations {
      std::size_t count = 0;
      std::vector<std::size_t> names;
    };
    ByName<Registrations> sets;
    for (const Source& source : sources_) ++sets[source.set->set->name].count;
    for (auto& [set, registrations] : sets) {
      if (registrations.count > 1) registrations.names = names_in(set);
    }
    for (const QueryPlan::Selection& selection : plan_->selections) {
      const Registrations& registrations = sets.find(selection.set->set->name)->second;
      if (registrations.count == 1) continue;
      const std::size_t end = selection.first_row + selection.rows;
      for (std::size_t index = selection.first_row; index < end; ++index) {
        const auto [first, last] =
            std::equal_range(registrations.names.begin(), registrations.names.end(),
                             KeyedFoldedHash{}(plan_->instance_of(index).name));
        plan_->rows[index].has_namesake = last - first > 1;
      }
    }
  }

  // The names of all living instances of sets that are called so, hashed and in order.
  [[nodiscard]] std::vector<std::size_t> names_in(std::string_view set) const {
    std::size_t count = 0;
    for (const Source& source : sources_) {
      if (equal_folded(source.set->set->name, set)) count += source.set->instances.size();
    }
    std::vector<std::size_t> names;
    names.reserve(count);
    for (const Source& source : sources_) {
      if (!equal_folded(source.set->set->name, set)) continue;
      for (const InstanceView& instance : source.set->instances) {
        if (!instance.closed) names.push_back(KeyedFoldedHash{}(instance.name));
      }
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  static bool has_living_own_total(const Source& source) noexcept {
    return source.part->has_own_total && is_alive(source.provider->state);
  }

  [[nodiscard]] QueryPlan::Answer answer_to(std::size_t index) {
    QueryPlan::Answer answer;
    answer.item = request_->items[index].item;
    bool has_own_total = false;
    std::vector<const Source*> sources;
    std::vector<const void*> rows;
    for (const Source& source : sources_) {
      if (source.set->set->guid != answer.item.set) continue;
      if (answer.set == nullptr) {
        answer.set = source.set;
        answer.alive = is_alive(source.provider->state);
      }
      sources.push_back(&source);
      rows.push_back(source.part->items[index].get());
      has_own_total = has_own_total || has_living_own_total(source);
    }
    // Items that differ in the counter alone have the same rows.
    auto& known = answered_[std::move(rows)];
    if (known.first == nullptr) known = rows_of(sources, index, has_own_total);
    std::tie(answer.rows, answer.summed) = known;
    answer.status = status_of(answer);
    if (answer.status != ItemStatus::kFound) answer.rows = answer.summed = no_rows_;
    return answer;
  }

  using SharedRows = std::shared_ptr<const std::vector<std::uint32_t>>;
  static std::pair<SharedRows, SharedRows> rows_of(const std::vector<const Source*>& sources,
                                                   std::size_t index, bool has_own_total) {
    std::vector<std::uint32_t> rows, summed;
    for (const Source* const source : sources) {
      const PlanPart::ItemRows& found = *source->part->items[index];
      const auto in_plan = [source](std::uint32_t row) {
        return static_cast<std::uint32_t>(source->first_row) + row;
      };
      std::transform(found.rows.begin(), found.rows.end(), std::back_inserter(rows), in_plan);
      if (has_own_total) continue;
      std::transform(found.summed.begin(), found.summed.end(), std::back_inserter(summed), in_plan);
    }
    return {std::make_shared<const std::vector<std::uint32_t>>(std::move(rows)),
            std::make_shared<const std::vector<std::uint32_t>>(std::move(summed))};
  }

  static ItemStatus status_of(const QueryPlan::Answer& answer) noexcept {
    if (answer.set == nullptr) return ItemStatus::kCountersetAbsent;
    const Counterset& set = *answer.set->set;
    const std::uint32_t id = answer.item.counter_id;
    if (id != kAnyCounterId && set.find(id) == nullptr) return ItemStatus::kCounterAbsent;
    if (!fits(answer.item, set.instances)) return ItemStatus::kWrongKind;
    if (answer.rows->empty() && answer.summed->empty()) return ItemStatus::kInstanceAbsent;
    return ItemStatus::kFound;
  }

  [[nodiscard]] std::vector<Unmatched> unmatched() const {
    Providers listed = providers_;
    for (const Source& source : sources_) {
      if (source.answered != nullptr) listed.push_back(source.provider);
    }
    std::vector<Unmatched> unmatched;
    for (std::size_t index = 0; index < request_->patterns.size(); ++index) {
      const auto& pattern = request_->patterns[index];
      const bool found = std::any_of(sources_.begin(), sources_.end(), [&](const Source& source) {
        return source.part->found[index];
      });
      if (found || !pattern.is_asked) continue;
      unmatched.push_back(explain_unmatched(listed, pattern.text, pattern.as_counter,
                                            pattern.as_instance ? &*pattern.as_instance : nullptr));
    }
    return unmatched;
  }

  const Providers& providers_;
  const std::shared_ptr<const QueryRequest> request_;
  const QueryParts* const before_;
  std::vector<Source> sources_;
  std::vector<const PatternMatch*> matches_;  // a pattern each, in its chosen reading
  bool has_numbers_ = false;                  // some pattern has
  // Rows and summed rows by what the parts have for an item.
  std::map<std::vector<const void*>, std::pair<SharedRows, SharedRows>> answered_;
  const SharedRows no_rows_ = std::make_shared<const std::vector<std::uint32_t>>();
  const std::shared_ptr<QueryPlan> plan_ = std::make_shared<QueryPlan>();
};

}  // namespace

BuiltPlan build_plan(const Providers& providers, std::shared_ptr<const QueryRequest> request,
                     const QueryParts* before, CallbackAsker* asker) {
  return PlanBuilder(providers, std::move(request), before, asker).build();
}

}  // namespace meterbank
