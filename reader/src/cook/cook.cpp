// SPDX-License-Identifier: Apache-2.0
#include "meterbank/reader/cook.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "../plan/match/pattern_match.hpp"
#include "meterbank/reader/glob.hpp"
#include "meterbank/reader/path.hpp"
#include "raw_value.hpp"
#include "total.hpp"
#include "value_form.hpp"

namespace meterbank {
namespace {

using Plan = QueryPlan;

// A writer may keep more than the 32 bits that a counter has; what it counts is the lower half.
std::uint64_t cut(std::uint64_t value, const CounterView& counter) noexcept {
  return width_of(counter.type) == 4 ? value & 0xffffffff : value;
}

std::uint64_t linked(const Counterset& set, const std::uint64_t* values, std::uint32_t word,
                     std::uint64_t otherwise) noexcept {
  return word == kNoCounter ? otherwise : cut(values[word], set.counters[word]);
}

// Finds the rows of an older sample that belong to rows of a newer one. The same slot can be in a
// plan more than once, with other counters; its values are the same then.
class OlderRows {
 public:
  OlderRows(const Sample* older, const Sample& newer) : older_(older) {
    if (older == nullptr || older->plan == nullptr) {
      older_ = nullptr;
      return;
    }
    same_plan_ = older->plan == newer.plan;
    if (same_plan_) return;
    std::map<Place, std::vector<const Plan::Selection*>> places;
    for (const Plan::Selection& selection : older->plan->selections) {
      places[place_of(selection)].push_back(&selection);
    }
    selections_.reserve(newer.plan->selections.size());
    for (const Plan::Selection& selection : newer.plan->selections) {
      const auto found = places.find(place_of(selection));
      selections_.push_back(found == places.end() ? std::vector<const Plan::Selection*>()
                                                  : found->second);
    }
  }

  // The row of the same slot, of whatever life; false: there is none with values.
  [[nodiscard]] bool find(const Plan& newer, std::size_t row, std::size_t& found) const noexcept {
    if (older_ == nullptr) return false;
    found = row;
    if (!same_plan_ && !find_slot(newer, row, found)) return false;
    return holds_values(older_->status[found]);
  }

 private:
  // The same registration of the same segment.
  using Place = std::tuple<std::array<std::uint64_t, 2>, Ref, std::uint64_t>;
  static Place place_of(const Plan::Selection& selection) {
    return {selection.provider->segment_id, selection.set->registration, selection.set->generation};
  }

  // Rows of a selection are in the order of their slots.
  [[nodiscard]] bool find_slot(const Plan& newer, std::size_t row,
                               std::size_t& found) const noexcept {
    const Plan& plan = *older_->plan;
    const std::uint32_t slot = newer.instance_of(row).slot;
    for (const Plan::Selection* const selection : selections_[newer.rows[row].selection]) {
      const auto* const first = plan.rows.data() + selection->first_row;
      const auto* const last = first + selection->rows;
      const auto* const place =
          std::lower_bound(first, last, slot, [&](const Plan::Row& one, std::uint32_t wanted) {
            return selection->set->instances[one.instance].slot < wanted;
          });
      if (place == last || selection->set->instances[place->instance].slot != slot) continue;
      found = static_cast<std::size_t>(place - plan.rows.data());
      return true;
    }
    return false;
  }

  const Sample* older_;
  bool same_plan_ = false;
  // For each selection of the newer plan, those of the older one that have rows of the same slots.
  std::vector<std::vector<const Plan::Selection*>> selections_;
};

Words words_of(const Sample& sample, std::size_t row) noexcept {
  return {sample.row(row), sample.plan->selection_of(row).set->set->form.words};
}

// Cooks the rows of the newer sample one after the other.
class RowCook {
 public:
  RowCook(const Sample* older, const Sample& newer, CookOptions options)
      : older_(older), newer_(newer), options_(options), older_rows_(older, newer) {}

  [[nodiscard]] bool of_interval() const noexcept { return older_ != nullptr; }

  // Hands the row's counters over one by one. False: enough.
  template <typename F>
  bool cook_row(std::size_t row, const std::vector<std::uint32_t>& counters, F&& take) const {
    const Plan& plan = *newer_.plan;
    const Plan::Selection& selection = plan.selection_of(row);
    std::size_t before = 0;
    const bool has_older = holds_values(newer_.status[row]) && older_rows_.find(plan, row, before);
    for (const std::uint32_t index : counters) {
      CookedRow out;
      out.selection = &selection;
      out.instance = &plan.instance_of(row);
      out.has_namesake = plan.rows[row].has_namesake;
      out.counter = &selection.set->set->counters[index];
      out.row_status = newer_.status[row];
      if (holds_values(out.row_status)) {
        out.raw = raw_of(newer_, row, *selection.set->set, *out.counter);
        out.cooked = has_older ? cook_pair(out, row, before, index)
                               : cook(out.counter->type, nullptr, out.raw, options_);
        if (out.counter->form != ValueForm::kUnsigned || out.counter->timed) {
          add_form(words_of(newer_, row),
                   has_older ? older_words(out, row, before, index) : Words(), out);
        }
      }
      if (!take(out)) return false;
    }
    return true;
  }

 private:
  // Of the same counter of the same life in the older sample; empty: there are none.
  [[nodiscard]] Words older_words(const CookedRow& out, std::size_t row, std::size_t before,
                                  std::uint32_t counter) const noexcept {
    const Plan& old_plan = *older_->plan;
    if (old_plan.instance_of(before).generation != newer_.plan->instance_of(row).generation)
      return {};
    const Counterset& old_set = *old_plan.selection_of(before).set->set;
    if (counter >= old_set.counters.size()) return {};
    const CounterView& known = old_set.counters[counter];
    const bool is_same = known.form == out.counter->form && known.more == out.counter->more &&
                         known.more_words == out.counter->more_words;
    return is_same ? words_of(*older_, before) : Words();
  }

  [[nodiscard]] CookedValue cook_pair(const CookedRow& out, std::size_t row, std::size_t before,
                                      std::uint32_t counter) const {
    const Plan& old_plan = *older_->plan;
    if (old_plan.instance_of(before).generation != newer_.plan->instance_of(row).generation) {
      const bool is_anew = old_plan.instance_of(before).name == out.instance->name;
      if (is_anew && needs_two_samples(out.counter->type)) return {0, CookStatus::kReset};
      return cook(out.counter->type, nullptr, out.raw, options_);
    }
    const Counterset& old_set = *old_plan.selection_of(before).set->set;
    if (counter >= old_set.counters.size() || old_set.counters[counter].type != out.counter->type) {
      return {0, CookStatus::kTypeChanged};
    }
    const RawValue raw = raw_of(*older_, before, old_set, old_set.counters[counter]);
    return cook(out.counter->type, &raw, out.raw, options_);
  }

  const Sample* older_;
  const Sample& newer_;
  CookOptions options_;
  OlderRows older_rows_;
};

void add_ended(const Plan& plan, const Counterset& set, bool of_interval, Total& total) {
  for (const Plan::Ended& ended : plan.ended) {
    if (agree(*ended.set, set)) total.add(ended, of_interval);
  }
}

// Of a query of patterns.
void cook_selections(const RowCook& rows, const Plan& plan, RowSink take) {
  const auto cook_all = [&rows](const Plan::Selection& selection, auto&& take_one) {
    const std::size_t end = selection.first_row + selection.rows;
    for (std::size_t row = selection.first_row; row < end; ++row) {
      if (!rows.cook_row(row, selection.counters, take_one)) return false;
    }
    return true;
  };
  std::map<std::uint32_t, std::vector<const Plan::Selection*>> totals;
  for (const Plan::Selection& selection : plan.selections) {
    if (selection.total) totals[selection.description].push_back(&selection);
  }
  for (const Plan::Selection& selection : plan.selections) {
    if (!selection.total) {
      if (!cook_all(selection, take)) return;
      continue;
    }
    const auto& shares = totals[selection.description];
    if (shares.front() != &selection) continue;  // is in its total
    Total total;
    for (const Plan::Selection* const share : shares) {
      cook_all(*share, [&total](const CookedRow& row) {
        total.add(row);
        return true;
      });
    }
    add_ended(plan, *selection.set->set, rows.of_interval(), total);
    if (!total.give(take)) return;
  }
}

// Indexes in Counterset::counters.
std::vector<std::uint32_t> counters_of(const QueryItem& item, const Counterset& set) {
  std::vector<std::uint32_t> counters;
  for (std::uint32_t index = 0; index < set.counters.size(); ++index) {
    const CounterView& counter = set.counters[index];
    const bool is_asked =
        item.counter_id == kAnyCounterId ? !is_hidden(counter) : item.counter_id == counter.id;
    if (is_asked) counters.push_back(index);
  }
  return counters;
}

// False: `take` has had enough.
bool cook_answers(const RowCook& rows, const Plan& plan, const std::vector<Plan::Answer>& answers,
                  RowSink take) {
  for (const Plan::Answer& answer : answers) {
    const auto give = [&](const CookedRow& row) {
      CookedRow of_item = row;
      of_item.item = answer.index;
      return take(of_item);
    };
    // Providers may have declared the set each in their own way.
    const Counterset* set = nullptr;
    std::vector<std::uint32_t> counters;
    const auto cook_all = [&](const std::vector<std::uint32_t>& all, auto&& take_one) {
      for (const std::uint32_t row : all) {
        const Counterset* const of_row = plan.selection_of(row).set->set.get();
        if (of_row != set) counters = counters_of(answer.item, *of_row);
        set = of_row;
        if (!rows.cook_row(row, counters, take_one)) return false;
      }
      return true;
    };
    if (!cook_all(*answer.rows, give)) return false;
    Total total;
    cook_all(*answer.summed, [&total](const CookedRow& row) {
      if (row.counter->aggregate != kAggregateUndefined) total.add(row);
      return true;
    });
    if (!answer.summed->empty()) add_ended(plan, *answer.set->set, rows.of_interval(), total);
    if (!total.give(give)) return false;
  }
  return true;
}

}  // namespace

RawValue raw_of(const Sample& sample, std::size_t row, const Counterset& set,
                const CounterView& counter) noexcept {
  constexpr std::uint64_t kNanosecondsPerSecond = 1'000'000'000;
  const std::uint64_t* values = sample.row(row);
  RawValue raw;
  raw.stamped = set.stamp_word != kNoCounter;
  raw.time_ns = raw.stamped ? values[set.stamp_word] : sample.time.monotonic_ns;
  raw.value = cut(values[counter.word], counter);
  raw.base = linked(set, values, counter.base, 0);
  if (counter.base != kNoCounter) raw.base_bytes = width_of(set.counters[counter.base].type);
  raw.multi = linked(set, values, counter.multi, 1);
  // An object without a clock of its own lives by the performance clock.
  raw.object_time = linked(set, values, counter.time, raw.time_ns);
  raw.object_frequency = linked(set, values, counter.frequency, kNanosecondsPerSecond);
  return raw;
}

void cook_each(const Sample* older, const Sample& newer, CookOptions options, RowSink take) {
  if (newer.plan == nullptr) return;
  const RowCook rows(older, newer, options);
  if (newer.plan->answers.empty()) {
    cook_selections(rows, *newer.plan, take);
  } else {
    if (cook_answers(rows, *newer.plan, newer.plan->answers, take)) {
      cook_answers(rows, *newer.plan, newer.plan->others, take);
    }
  }
}

std::vector<CookedRow> cook(const Sample* older, const Sample& newer, CookOptions options) {
  std::vector<CookedRow> cooked;
  cook_each(older, newer, options, [&cooked](const CookedRow& row) {
    cooked.push_back(row);
    return true;
  });
  return cooked;
}

CounterPath CookedRow::counter_path(PathSpelling spelling) const {
  const Counterset& set = *selection->set->set;
  const std::string& name = counter->name.empty() ? counter->symbol : counter->name;
  const bool is_short = spelling == PathSpelling::kShort;
  CounterPath path = path_of(
      {{}, is_short ? word_of(set) : set.name, instance->name, is_short ? word_of(*counter) : name},
      spelling);
  if (has_namesake || needs_provider()) {
    path.provider = escape_glob(selection->provider->name);
    path.provider_pid = selection->provider->pid;
  }
  return path;
}

bool CookedRow::needs_provider() const noexcept {
  if (is_total) return selection->is_apart;
  return !selection->provider->trusted || is_called_total(*selection->set->set, *instance);
}

std::string CookedRow::path() const { return print_path(counter_path(PathSpelling::kWindows)); }

std::string CookedRow::short_path() const {
  CounterPath path = counter_path(PathSpelling::kShort);
  if (!needs_provider()) {
    path.provider.reset();
    path.provider_pid.reset();
  }
  return print_short(path);
}

}  // namespace meterbank
