// SPDX-License-Identifier: Apache-2.0
#include "build_plan.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "../catalog/memory/recorded_rows.hpp"
#include "meterbank/shm/case_fold.hpp"
#include "meterbank/shm/segment.hpp"
#include "namesakes.hpp"

namespace meterbank {
namespace {

// A registration of the catalog, on its way into a plan.
struct Source : QueryParts::Registered {
  std::shared_ptr<const PlanPart> before;  // compiled before, and still right
  std::shared_ptr<const PlanPart> nearly;  // the same, but for instances that have changed
  Numbered numbered;
  SetDescriptions::Place description;
  std::size_t first_row = 0;  // where its first selection begins in the plan
  // Of rows that were asked for: what came of it, and the provider's own registration word.
  const SharedWord* answered = nullptr;
  const SharedWord* word = nullptr;
};

bool is_before(const Source& left, const Source& right) noexcept {
  return comes_before(*left.provider, *right.provider);
}

// Rows point into the pieces that they were compiled of, so equal ones are not enough.
bool have_same_pieces(const InstanceViews& left, const InstanceViews& right) noexcept {
  return left.is(right) || std::equal(left.pieces().begin(), left.pieces().end(),
                                      right.pieces().begin(), right.pieces().end());
}

// Compiling the one again would give the part of the other, if they have the same instances. Both
// lie in the same mapped memory.
bool is_compiled_alike(const QueryParts::Registered& before, const ProviderView& provider,
                       const RegisteredSet& set) noexcept {
  const RegisteredSet& old = *before.set;
  return before.provider->name == provider.name &&
         before.provider->named_pid() == provider.named_pid() &&
         before.provider->trusted == provider.trusted && old.set == set.set &&
         old.generation == set.generation && old.groups == set.groups &&
         old.group_slots == set.group_slots && lie_alike(old, set);
}

template <typename T>
using ByName = std::unordered_map<std::string_view, T, KeyedFoldedHash, FoldedEqual>;

class PlanBuilder {
 public:
  PlanBuilder(const Providers& providers, std::shared_ptr<const QueryRequest> request,
              const QueryParts* before, AnsweredSets* answered)
      : providers_(providers),
        request_(std::move(request)),
        before_(before != nullptr && before->request == request_ ? before : nullptr) {
    for (const auto& provider : providers) {
      for (const RegisteredSet& set : provider->sets) {
        if (!is_readable(*provider, set)) continue;
        Source& source = sources_.emplace_back();
        source.provider = provider;
        source.set = &set;
        if (set.recorded != nullptr) {
          add_recorded(set);
        } else if (answered != nullptr && has_callback(set)) {
          add_answered(provider, set, *answered);
        }
      }
    }
    // Items are answered as PerfLib's are, patterns in the order of the catalog.
    if (!request_->items.empty()) std::stable_sort(sources_.begin(), sources_.end(), is_before);
    describe();
    if (before_ != nullptr) find_what_is_known();
  }

  BuiltPlan build() {
    auto parts = std::make_shared<QueryParts>();
    parts->request = request_;
    parts->described = std::move(described_);
    choose_instances();
    parts->registered.reserve(sources_.size());
    for (Source& source : sources_) {
      source.part = part_of(source);
      parts->registered.push_back(source);
    }
    const std::vector<std::uint32_t> of_selections = lay_out();
    chain_shares();
    mark_namesakes(parts->registered, of_selections, *plan_);
    for (std::size_t index = 0; index < request_->items.size(); ++index) answer(index);
    find_left_out();
    plan_->providers = providers_;
    auto touched = touched_by();
    return {plan_, std::move(parts), unmatched(), std::move(touched)};
  }

 private:
  // A registration has the rows that it keeps in shared memory and those that it was asked for.
  void add_answered(const std::shared_ptr<const ProviderView>& provider, const RegisteredSet& set,
                    AnsweredSets& answered) {
    const AnsweredSets::Rows rows = answered.rows_of(provider, set);
    const auto* const record = provider->segment->at<RegistrationRecord>(set.registration);
    if (rows.view == nullptr || record == nullptr) return;
    Source& source = sources_.emplace_back();
    source.provider = rows.view;
    source.set = &rows.view->sets.front();
    source.answered = rows.status;
    source.word = &record->word;
  }

  // The same of a recording, which has what was answered then.
  void add_recorded(const RegisteredSet& set) {
    const auto& answered = set.recorded->answered;
    if (answered == nullptr) return;
    const RegisteredSet& rows = answered->sets.front();
    const auto* const record = answered->segment->at<RegistrationRecord>(rows.registration);
    if (record == nullptr) return;
    Source& source = sources_.emplace_back();
    source.provider = answered;
    source.set = &rows;
    source.answered = source.word = &record->word;
  }

  void describe() {
    std::vector<Source*> in_order;
    in_order.reserve(sources_.size());
    for (Source& source : sources_) in_order.push_back(&source);
    std::stable_sort(in_order.begin(), in_order.end(), [](const Source* left, const Source* right) {
      return is_before(*left, *right);
    });
    described_.reserve(in_order.size());
    for (const Source* const source : in_order) {
      described_.push_back({source->set->set.get(), source->provider->trusted, {}});
    }
    const bool is_known =
        before_ != nullptr &&
        std::equal(described_.begin(), described_.end(), before_->described.begin(),
                   before_->described.end(), [](const auto& now, const auto& before) {
                     return now.set == before.set && now.trusted == before.trusted;
                   });
    SetDescriptions descriptions;
    for (std::size_t index = 0; index < in_order.size(); ++index) {
      Source& source = *in_order[index];
      source.description = is_known ? before_->described[index].place
                                    : descriptions.place_of(*source.provider, *source.set->set);
      described_[index].place = source.description;
    }
  }

  [[nodiscard]] std::vector<TouchedSet> touched_by() const {
    std::vector<TouchedSet> touched;
    for (const Source& source : sources_) {
      if (source.answered != nullptr || !counts_interest(*source.set)) continue;
      auto asked = asked_of(*request_, *source.provider, *source.set);
      if (!asked) continue;
      if (source.set->recorded == nullptr) {
        touched.push_back({source.provider, source.set, *std::move(asked)});
      } else if (has_callback(*source.set)) {
        plan_->recorded_answers.push_back({source.provider, source.set});
      }
    }
    return touched;
  }

  void find_what_is_known() {
    // Where a registration lies in this process.
    using Address = std::pair<const MappedSegment*, Ref>;
    const auto place_of = [](const QueryParts::Registered& registered) {
      return Address(registered.provider->segment.get(), registered.set->registration);
    };
    std::map<Address, const QueryParts::Registered*> known;
    const auto find = [&](const Address& place) -> const QueryParts::Registered* {
      if (known.empty()) {
        for (const auto& one : before_->registered) known.emplace(place_of(one), &one);
      }
      const auto found = known.find(place);
      return found == known.end() ? nullptr : found->second;
    };
    const std::vector<QueryParts::Registered>& all = before_->registered;
    std::size_t next = 0;  // most of them follow one another as they did
    for (Source& source : sources_) {
      const Address place = place_of(source);
      const bool is_next = next < all.size() && place_of(all[next]) == place;
      const auto* const before = is_next ? &all[next] : find(place);
      if (before == nullptr) continue;
      next = static_cast<std::size_t>(before - all.data()) + 1;
      if (!is_compiled_alike(*before, *source.provider, *source.set)) continue;
      const bool is_same = have_same_pieces(before->set->instances, source.set->instances);
      (is_same ? source.before : source.nearly) = before->part;
      if (is_same) source.names = before->names;
    }
  }

  void choose_instances() {
    for (std::size_t index = 0; index < request_->patterns.size(); ++index) {
      const PatternMatch* const match = request_->patterns[index].numbered();
      if (match != nullptr) choose_instances(index, *match);
    }
  }

  // `name#7` is an id if an instance of that name has it, else a name if one is called so, else a
  // position among those of the name, counted through all providers of the set and in each of them
  // in the order of ids. Trusted providers come first, so that the others cannot change what it
  // means among these.
  void choose_instances(std::size_t index, const PatternMatch& match) {
    has_numbers_ = true;
    const auto with_id = [&match](const RegisteredSet& set) {
      auto found = match.instances_of(set);
      std::erase_if(found, [&](auto one) { return set.instances[one].id != match.number(); });
      return found;
    };
    const auto called_so = [&match](const RegisteredSet& set) {
      return match.instances_with_hash(set);
    };
    ByName<ByName<std::uint32_t>> seen;  // by set, as paths know sets by their names
    const auto at_position = [&](const RegisteredSet& set) {
      auto found = match.instances_of(set);
      sort_by_id(set, found);
      std::erase_if(found, [&](auto one) {
        return seen[set.set->name][set.instances[one].name]++ != match.number();
      });
      return found;
    };
    for (const bool trusted : {true, false}) {
      if (take_numbered(index, trusted, with_id) || take_numbered(index, trusted, called_so) ||
          take_numbered(index, trusted, at_position)) {
        break;
      }
    }
    for (Source& source : sources_) {
      if (&request_->patterns[index].reading_in(*source.set->set) == &match) {
        source.numbered[index];  // the others of the name are not meant
      }
    }
  }

  // Tries one meaning of a number among the providers that are trusted, or those that are not;
  // false: it selects nothing.
  template <typename F>
  bool take_numbered(std::size_t index, bool trusted, F&& instances_in) {
    const QueryRequest::Pattern& pattern = request_->patterns[index];
    bool any = false;
    for (Source& source : sources_) {
      const PatternMatch& match = pattern.reading_in(*source.set->set);
      if (&match != pattern.numbered() || source.provider->trusted != trusted) continue;
      if (!match.matches(*source.provider) || !match.matches(*source.set->set)) continue;
      if (match.counters_of(*source.set->set).empty()) continue;
      auto& meant = source.numbered[index] = instances_in(*source.set);
      any = any || !meant.empty();
    }
    return any;
  }

  std::shared_ptr<const PlanPart> part_of(const Source& source) {
    // Which instance has a number is a matter of all registrations.
    if (source.before != nullptr && !has_numbers_) return source.before;
    ++plan_->compiled;
    if (request_->patterns.empty()) return part_of_items(*request_, *source.provider, *source.set);
    return part_of_patterns(*request_, source.numbered, *source.provider, *source.set,
                            source.nearly.get());
  }

  // Puts all selections in their order, one behind the other. Says which source each is of.
  std::vector<std::uint32_t> lay_out() {
    struct LaidSelection {
      Source* source;
      const PlanPart::Asked* asked;
    };
    std::vector<LaidSelection> places;
    for (Source& source : sources_) {
      for (const auto& asked : source.part->selections) places.push_back({&source, &asked});
    }
    const auto is_asked_first = [](const LaidSelection& left, const LaidSelection& right) {
      return left.asked->first < right.asked->first;
    };
    if (!std::is_sorted(places.begin(), places.end(), is_asked_first)) {
      std::stable_sort(places.begin(), places.end(), is_asked_first);
    }
    plan_->selections.reserve(places.size());
    std::vector<std::uint32_t> sources;
    sources.reserve(places.size());
    for (const auto& [source, asked] : places) {
      if (asked == source->part->selections.data()) source->first_row = plan_->rows;
      append(*source, *asked->selection);
      sources.push_back(static_cast<std::uint32_t>(source - sources_.data()));
    }
    if (plan_->rows != 0) add_guide();
    return sources;
  }

  void append(const Source& source, const UnplacedSelection& compiled) {
    QueryPlan::Selection selection;
    selection.provider = source.provider;
    selection.set = source.set;
    selection.total = compiled.total;
    selection.description = source.description.number;
    selection.is_apart = source.description.is_apart;
    selection.counters = compiled.counters;
    selection.counter_mask = compiled.counter_mask;
    selection.membership = compiled.membership;
    selection.word = source.word != nullptr ? source.word : compiled.word;
    selection.answered = source.answered;
    selection.list = compiled.list;
    selection.first_row = plan_->rows;
    selection.rows = compiled.list->size;
    if (selection.rows > 1) begin_line();
    selection.first_value = plan_->words;
    selection.groups = compiled.groups;
    selection.first_part = plan_->parts;
    selection.parts = compiled.list->parts.size();
    selection.all_have_namesakes = !source.provider->trusted;
    const BlockForm& form = form_of(*source.set);
    if (form.sharded()) {
      plan_->widest_shard = std::max<std::size_t>(plan_->widest_shard, form.words);
    }
    plan_->rows += selection.rows;
    plan_->parts += selection.parts;
    plan_->words += selection.rows * form.words;
    plan_->selections.push_back(std::move(selection));
  }

  void add_guide() {
    plan_->guide.resize((plan_->rows - 1) / QueryPlan::kRowsOfGuide + 2);
    std::size_t next = 0;
    for (std::uint32_t number = 0; number < plan_->selections.size(); ++number) {
      const QueryPlan::Selection& selection = plan_->selections[number];
      const std::size_t end = selection.first_row + selection.rows;
      for (; next * QueryPlan::kRowsOfGuide < end; ++next) plan_->guide[next] = number;
    }
    plan_->guide[next] = static_cast<std::uint32_t>(plan_->selections.size() - 1);
  }

  // The next selection begins at a cache line of a sample.
  void begin_line() noexcept {
    constexpr std::size_t kLast = kCacheLine / sizeof(std::uint64_t) - 1;
    plan_->words = (plan_->words + kLast) & ~kLast;
  }

  // Totals are made among registrations of one description.
  void chain_shares() {
    std::map<std::uint32_t, std::size_t> last;
    for (std::size_t index = 0; index < plan_->selections.size(); ++index) {
      QueryPlan::Selection& selection = plan_->selections[index];
      if (!selection.total) continue;
      const auto [known, is_first] = last.emplace(selection.description, index);
      selection.is_first_share = is_first;
      if (!is_first) plan_->selections[known->second].next_share = index;
      known->second = index;
    }
  }

  void find_left_out() {
    std::set<std::string_view> records;
    for (const Source& source : sources_) {
      if (!source.part->is_left_out) continue;
      if (records.insert(source.provider->record).second) {
        plan_->left_out.push_back(source.provider);
      }
    }
  }

  using SourcesOfOne = std::vector<const Source*>;  // that describe the set alike

  // An answer to an item for each description of its set, or one that there is none.
  void answer(std::size_t index) {
    std::map<std::uint32_t, std::size_t> places;
    std::vector<SourcesOfOne> described;
    for (const Source& source : sources_) {
      if (source.set->set->guid != request_->items[index].item.set) continue;
      const auto [place, is_new] = places.emplace(source.description.number, described.size());
      if (is_new) described.emplace_back();
      described[place->second].push_back(&source);
    }
    plan_->answers.push_back(answer_to(index, described.empty() ? SourcesOfOne() : described[0]));
    for (std::size_t other = 1; other < described.size(); ++other) {
      plan_->others.push_back(answer_to(index, described[other]));
    }
  }

  [[nodiscard]] ItemAnswer answer_to(std::size_t index, const SourcesOfOne& sources) {
    ItemAnswer answer;
    answer.item = request_->items[index].item;
    answer.index = index;
    if (!sources.empty()) {
      answer.set = sources.front()->set;
      answer.alive = is_alive(sources.front()->provider->state);
      answer.trusted = sources.front()->provider->trusted;
    }
    std::vector<const void*> rows;
    rows.reserve(sources.size());
    for (const Source* const source : sources) rows.push_back(source->part->items[index].get());
    // Items that differ in the counter alone have the same rows.
    auto& known = answered_[std::move(rows)];
    if (known.first == nullptr) known = rows_of(sources, index);
    std::tie(answer.rows, answer.summed) = known;
    answer.status = status_of(answer);
    if (answer.status != ItemStatus::kFound) answer.rows = answer.summed = no_rows_;
    return answer;
  }

  using SharedRows = std::shared_ptr<const std::vector<std::uint32_t>>;
  static std::pair<SharedRows, SharedRows> rows_of(const SourcesOfOne& sources, std::size_t index) {
    std::vector<std::uint32_t> rows, summed;
    for (const Source* const source : sources) {
      const PlanPart::ItemRows& found = *source->part->items[index];
      const auto in_plan = [source](std::uint32_t row) {
        return static_cast<std::uint32_t>(source->first_row) + row;
      };
      std::transform(found.rows.begin(), found.rows.end(), std::back_inserter(rows), in_plan);
      std::transform(found.summed.begin(), found.summed.end(), std::back_inserter(summed), in_plan);
    }
    return {std::make_shared<const std::vector<std::uint32_t>>(std::move(rows)),
            std::make_shared<const std::vector<std::uint32_t>>(std::move(summed))};
  }

  static ItemStatus status_of(const ItemAnswer& answer) noexcept {
    if (answer.set == nullptr) return ItemStatus::kCountersetAbsent;
    const Counterset& set = *answer.set->set;
    const std::uint32_t id = answer.item.counter_id;
    if (id != kAnyCounterId && set.find(id) == nullptr) return ItemStatus::kCounterAbsent;
    if (!answer.rows->empty() || !answer.summed->empty()) return ItemStatus::kFound;
    return fits(answer.item, set.instances) ? ItemStatus::kInstanceAbsent : ItemStatus::kWrongKind;
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
  std::vector<QueryParts::Described> described_;
  bool has_numbers_ = false;  // some pattern has
  // Rows and summed rows by what the parts have for an item.
  std::map<std::vector<const void*>, std::pair<SharedRows, SharedRows>> answered_;
  const SharedRows no_rows_ = std::make_shared<const std::vector<std::uint32_t>>();
  const std::shared_ptr<QueryPlan> plan_ = std::make_shared<QueryPlan>();
};

}  // namespace

BuiltPlan build_plan(const Providers& providers, std::shared_ptr<const QueryRequest> request,
                     const QueryParts* before, AnsweredSets* answered) {
  return PlanBuilder(providers, std::move(request), before, answered).build();
}

}  // namespace meterbank
