// SPDX-License-Identifier: Apache-2.0
#include "row_cursor.hpp"

#include <algorithm>

#include "../plan/match/pattern_match.hpp"
#include "raw_value.hpp"

namespace meterbank {
namespace {

Words words_of(const SampleContent& sample, std::size_t row) noexcept {
  return {sample.row(row), sample.plan->selection_of(row).set->set->form.words};
}

// Whether one is what the other was created anew as.
bool is_same_identity(const Counterset& set, const InstanceView& left,
                      const InstanceView& right) noexcept {
  const bool is_unique = set.identity == InstanceIdentity::kUnique;
  return left.name == right.name && (is_unique || left.id == right.id);
}

const SampleContent* collected(const Sample* sample) noexcept {
  const SampleContent* const content = sample == nullptr ? nullptr : SampleAccess::find(*sample);
  return content == nullptr || content->plan == nullptr ? nullptr : content;
}

}  // namespace

void RowCursor::start(const Sample* older, const Sample& newer, CookOptions options) {
  was_used_ = true;
  older_ = collected(older);
  newer_ = collected(&newer);
  older_time_ns_ = older == nullptr ? 0 : older->time.monotonic_ns;
  newer_time_ns_ = newer.time.monotonic_ns;
  options_ = options;
  older_rows_.pair(older_, *newer_);
  selection_ = answer_ = next_ = item_ = 0;
  counters_set_ = nullptr;
  const std::shared_ptr<const QueryPlan>& plan = newer_->plan;
  if (!ended_plan_.owner_before(plan) && !plan.owner_before(ended_plan_)) return;
  ended_.clear();
  ended_plan_ = plan;
}

bool RowCursor::next() {
  do {
    const bool found = newer_->plan->answers.empty() ? next_of_selections() : next_of_answers();
    if (!found) return false;
  } while (values() == 0);
  return true;
}

bool RowCursor::next_of_selections() {
  const QueryPlan& plan = *newer_->plan;
  for (; selection_ < plan.selections.size(); ++selection_, next_ = 0) {
    const QueryPlan::Selection& selection = plan.selections[selection_];
    if (!selection.total) {
      if (next_ == selection.rows) continue;
      show(selection.first_row + next_++, selection.counters);
      return true;
    }
    if (!selection.is_first_share || next_ != 0) continue;
    ++next_;
    total_.clear();
    for (std::size_t index = selection_; index != QueryPlan::kNoShare;) {
      const QueryPlan::Selection& share = plan.selections[index];
      for (std::size_t row = 0; row < share.rows; ++row) {
        add_to_total(share.first_row + row, share.counters, true);
      }
      index = share.next_share;
    }
    add_ended(*selection.set->set);
    if (show_total()) return true;
  }
  return false;
}

bool RowCursor::next_of_answers() {
  const QueryPlan& plan = *newer_->plan;
  const std::size_t all = plan.answers.size() + plan.others.size();
  for (; answer_ < all; ++answer_, next_ = 0, counters_set_ = nullptr) {
    const bool is_first = answer_ < plan.answers.size();
    const ItemAnswer& answer =
        is_first ? plan.answers[answer_] : plan.others[answer_ - plan.answers.size()];
    item_ = answer.index;
    if (next_of_answer(answer)) return true;
  }
  return false;
}

bool RowCursor::next_of_answer(const ItemAnswer& answer) {
  if (next_ < answer.rows->size()) {
    const std::size_t row = (*answer.rows)[next_++];
    show(row, counters_of(answer, row));
    return true;
  }
  if (next_ > answer.rows->size() || answer.summed->empty()) return false;
  ++next_;
  total_.clear();
  for (const std::uint32_t row : *answer.summed) {
    add_to_total(row, counters_of(answer, row), false);
  }
  add_ended(*answer.set->set);
  return show_total();
}

// Providers may have declared the set each in their own way.
const RowCursor::Counters& RowCursor::counters_of(const ItemAnswer& answer, std::size_t row) {
  const Counterset& set = *newer_->plan->selection_of(row).set->set;
  if (&set == counters_set_) return item_counters_;
  counters_set_ = &set;
  item_counters_.clear();
  const std::uint32_t id = answer.item.counter_id;
  for (std::uint32_t index = 0; index < set.counters.size(); ++index) {
    const CounterView& counter = set.counters[index];
    const bool is_asked = id == kAnyCounterId ? !is_hidden(counter) : id == counter.id;
    if (is_asked) item_counters_.push_back(index);
  }
  return item_counters_;
}

void RowCursor::show(std::size_t row, const Counters& counters) {
  const QueryPlan& plan = *newer_->plan;
  const QueryPlan::Selection& selection = plan.selection_of(row);
  const Counterset& set = *selection.set->set;
  is_total_ = false;
  number_ = row;
  counters_ = &counters;
  row_ = Row();
  row_.source_.cursor = this;
  row_.item = item_;
  row_.provider = selection.provider.get();
  row_.registered = selection.set;
  row_.instance = &plan.instance_of(row);
  row_.status = newer_->status[row];
  row_.consistency = newer_->consistency[row];
  if (!newer_->cuts.empty()) {
    const SelectionCut& cut = newer_->cuts[plan.rows[row].selection];
    row_.cut = cut.quality;
    row_.skew_ns = cut.skew_ns;
  }
  const bool holds = holds_values(row_.status);
  const bool is_stamped = holds && set.stamp_word != kNoCounter;
  row_.time_ns = is_stamped ? newer_->row(row)[set.stamp_word] : newer_time_ns_;
  row_.has_namesake = plan.rows[row].has_namesake;
  row_.shares_name = plan.rows[row].shares_name;
  row_.is_apart = selection.is_apart;
  has_older_ = holds && older_rows_.find(plan, row, before_);
}

bool RowCursor::show_total() {
  if (total_.size() == 0) return false;
  is_total_ = true;
  row_ = total_.row();
  row_.source_.cursor = this;
  return true;
}

void RowCursor::add_to_total(std::size_t row, const Counters& counters, bool with_undefined) {
  show(row, counters);
  for (std::size_t index = 0; index < counters.size(); ++index) {
    const CounterView& counter = row_.set().counters[counters[index]];
    if (!with_undefined && counter.aggregate == kAggregateUndefined) continue;
    cook(index);
    total_.add(value_);
  }
}

// Comparing two sets allocates, so it is done once a plan.
void RowCursor::add_ended(const Counterset& set) {
  const auto is_of_set = [&set](const EndedOfSet& known) { return known.set == &set; };
  if (std::none_of(ended_.begin(), ended_.end(), is_of_set)) {
    for (const EndedValues& ended : newer_->plan->ended) {
      if (agree(*ended.set, set)) ended_.push_back({&set, &ended});
    }
    ended_.push_back({&set, nullptr});
  }
  for (const EndedOfSet& known : ended_) {
    if (is_of_set(known) && known.values != nullptr) total_.add(*known.values, older_ != nullptr);
  }
}

void RowCursor::cook(std::size_t index) {
  if (is_total_) return total_.give(index, value_);
  const std::uint32_t at = (*counters_)[index];
  const Counterset& set = row_.set();
  const CounterView& counter = set.counters[at];
  value_ = Value();
  value_.row = &row_;
  value_.counter = &counter;
  if (!holds_values(row_.status)) return;
  value_.raw = raw_of(*newer_, newer_time_ns_, number_, set, counter);
  value_.cooked = has_older_ ? cook_pair(counter, at)
                             : meterbank::cook(counter.type, nullptr, value_.raw, options_);
  if (counter.form == ValueForm::kUnsigned && !counter.timed) return;
  add_form(words_of(*newer_, number_), has_older_ ? older_words(counter, at) : Words(), room_,
           value_);
}

// Of the same counter of the same life in the older sample; empty: there are none.
Words RowCursor::older_words(const CounterView& counter, std::uint32_t index) const noexcept {
  const QueryPlan& old_plan = *older_->plan;
  if (old_plan.instance_of(before_).generation != row_.instance->generation) return {};
  const Counterset& old_set = *old_plan.selection_of(before_).set->set;
  if (index >= old_set.counters.size()) return {};
  const CounterView& known = old_set.counters[index];
  const bool is_same = known.form == counter.form && known.more == counter.more &&
                       known.more_words == counter.more_words;
  return is_same ? words_of(*older_, before_) : Words();
}

CookedValue RowCursor::cook_pair(const CounterView& counter, std::uint32_t index) const {
  const QueryPlan& old_plan = *older_->plan;
  const InstanceView& old_instance = old_plan.instance_of(before_);
  if (old_instance.generation != row_.instance->generation) {
    const bool is_anew = is_same_identity(row_.set(), old_instance, *row_.instance);
    if (is_anew && needs_two_samples(counter.type)) return {0, CookStatus::kReset};
    return meterbank::cook(counter.type, nullptr, value_.raw, options_);
  }
  const Counterset& old_set = *old_plan.selection_of(before_).set->set;
  if (index >= old_set.counters.size() || old_set.counters[index].type != counter.type) {
    return {0, CookStatus::kTypeChanged};
  }
  const RawValue raw = raw_of(*older_, older_time_ns_, before_, old_set, old_set.counters[index]);
  return meterbank::cook(counter.type, &raw, value_.raw, options_);
}

}  // namespace meterbank
