// SPDX-License-Identifier: Apache-2.0
#include "row_cursor.hpp"

#include <algorithm>

#include "../plan/match/pattern_match.hpp"
#include "raw_value.hpp"

namespace meterbank {
namespace {

// Whether one is what the other was created anew as.
bool is_same_identity(const Counterset& set, const InstanceView& left,
                      const InstanceView& right) noexcept {
  const bool is_unique = set.identity == InstanceIdentity::kUnique;
  return left.name == right.name && (is_unique || left.id == right.id);
}

// kNone: it takes more than its word and the time between two samples.
Formula plain_formula_of(const Counterset& set, const CounterView& counter) noexcept {
  const bool is_alone =
      counter.form == ValueForm::kUnsigned && !counter.timed && is_unlinked(set, counter);
  const TypeRow* const row = type_row_of(counter.type);
  if (!is_alone || row == nullptr) return Formula::kNone;
  const bool is_plain = row->formula == Formula::kValue || row->formula == Formula::kDelta ||
                        row->formula == Formula::kRate;
  return is_plain ? row->formula : Formula::kNone;
}

const SampleContent* collected(const Sample* sample) noexcept {
  const SampleContent* const content = sample == nullptr ? nullptr : SampleAccess::find(*sample);
  return content == nullptr || content->plan == nullptr ? nullptr : content;
}

}  // namespace

void RowCursor::reserve(const QueryPlan& plan) {
  std::size_t most = 0;
  for (const QueryPlan::Selection& selection : plan.selections) {
    const bool is_of_patterns = plan.answers.empty();
    most = std::max(
        most, is_of_patterns ? selection.counters.size() : selection.set->set->counters.size());
  }
  counters_.reserve(most);
}

void RowCursor::start(const Sample* older, const Sample& newer, CookOptions options) {
  was_used_ = true;
  older_ = collected(older);
  newer_ = collected(&newer);
  older_time_ns_ = older == nullptr ? 0 : older->time.monotonic_ns;
  newer_time_ns_ = newer.time.monotonic_ns;
  options_ = options;
  older_rows_.pair(older_, *newer_);
  place_ = RowPlace(*newer_->plan);
  place_before_ = older_ == nullptr ? RowPlace() : RowPlace(*older_->plan);
  is_of_one_plan_ = older_ == nullptr || older_->plan == newer_->plan;
  const bool time_passed = newer_time_ns_ > older_time_ns_;
  ticks_ = time_passed ? static_cast<double>(newer_time_ns_ - older_time_ns_) : 0;
  selection_ = rows_left_ = answer_ = next_ = item_ = 0;
  counters_set_ = nullptr;
  shown_ = nullptr;
  share_plain();
  const std::shared_ptr<const QueryPlan>& plan = newer_->plan;
  if (!ended_plan_.owner_before(plan) && !plan.owner_before(ended_plan_)) return;
  ended_.clear();
  ended_plan_ = plan;
}

bool RowCursor::next() {
  if (rows_left_ != 0) {
    --rows_left_;
    show(next_row_++);
    return true;
  }
  if (newer_->plan->answers.empty()) return next_of_selections();
  do {
    if (!next_of_answers()) return false;
  } while (values() == 0);
  return true;
}

bool RowCursor::next_of_selections() {
  const QueryPlan& plan = *newer_->plan;
  while (selection_ < plan.selections.size()) {
    const std::size_t number = selection_++;
    const QueryPlan::Selection& selection = plan.selections[number];
    if (selection.total) {
      if (selection.is_first_share && add_up(number)) return true;
      continue;
    }
    use_counters_of(selection);
    if (selection.rows == 0 || counters_.empty()) continue;
    next_row_ = selection.first_row;
    rows_left_ = selection.rows - 1;
    show(next_row_++);
    return true;
  }
  return false;
}

// The row that is the total of a selection and the shares that follow it.
bool RowCursor::add_up(std::size_t first_share) {
  const QueryPlan& plan = *newer_->plan;
  total_.clear();
  for (std::size_t index = first_share; index != QueryPlan::kNoShare;) {
    const QueryPlan::Selection& share = plan.selections[index];
    use_counters_of(share);
    for (std::size_t row = 0; row < share.rows; ++row) add_to_total(share.first_row + row, true);
    index = share.next_share;
  }
  add_ended(*plan.selections[first_share].set->set);
  return show_total();
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
    use_counters_of(answer, row);
    show(row);
    return true;
  }
  if (next_ > answer.rows->size() || answer.summed->empty()) return false;
  ++next_;
  total_.clear();
  for (const std::uint32_t row : *answer.summed) {
    use_counters_of(answer, row);
    add_to_total(row, false);
  }
  add_ended(*answer.set->set);
  return show_total();
}

void RowCursor::add_counter(const Counterset& set, std::uint32_t index) {
  const CounterView& counter = set.counters[index];
  const Formula formula = plain_formula_of(set, counter);
  const bool is_rate = formula == Formula::kRate;
  const std::uint64_t mask = value_mask(counter);
  counters_.push_back({.view = &counter,
                       .index = index,
                       .word = counter.word,
                       .plain_run = formula == Formula::kNone ? 0U : 1U,
                       .mask = mask,
                       .mask_before = formula == Formula::kValue ? 0 : mask,
                       .divisor = is_rate ? ticks_ : 1,
                       .factor = is_rate ? kTicksPerSecond : 1});
}

void RowCursor::count_plain_runs() noexcept {
  std::uint32_t run = 0;
  for (std::size_t index = counters_.size(); index-- != 0;) {
    Counter& counter = counters_[index];
    run = counter.plain_run == 0 ? 0 : run % kPlainTogether + 1;
    counter.plain_run = run;
  }
}

void RowCursor::use_counters_of(const QueryPlan::Selection& selection) {
  counters_.clear();
  for (const std::uint32_t index : selection.counters) add_counter(*selection.set->set, index);
  count_plain_runs();
}

// Providers may have declared the set each in their own way.
void RowCursor::use_counters_of(const ItemAnswer& answer, std::size_t row) {
  const Counterset& set = *newer_->plan->selection_of(row).set->set;
  if (&set == counters_set_) return;
  counters_set_ = &set;
  counters_.clear();
  const std::uint32_t id = answer.item.counter_id;
  for (std::uint32_t index = 0; index < set.counters.size(); ++index) {
    const CounterView& counter = set.counters[index];
    const bool is_asked = id == kAnyCounterId ? !is_hidden(counter) : id == counter.id;
    if (is_asked) add_counter(set, index);
  }
  count_plain_runs();
}

void RowCursor::show(std::size_t row) {
  place_.move_to(row);
  const QueryPlan::Selection& selection = place_.selection();
  const Counterset& set = *selection.set->set;
  is_total_ = false;
  if (shown_ != &selection) {
    shown_ = &selection;
    row_ = Row();
    row_.source_.cursor = this;
    row_.provider = selection.provider.get();
    row_.registered = selection.set;
    row_.is_apart = selection.is_apart;
  }
  row_.item = item_;
  row_.instance = &place_.instance();
  row_.status = newer_->status[row];
  row_.consistency = newer_->consistency[row];
  if (!newer_->cuts.empty()) {
    const SelectionCut& cut = newer_->cuts[place_.number_of_selection()];
    row_.cut = cut.quality;
    row_.skew_ns = cut.skew_ns;
  }
  const bool holds = holds_values(row_.status);
  const bool is_stamped = holds && set.stamp_word != kNoCounter;
  words_ = newer_->values.data() + place_.first_value();
  row_.time_ns = is_stamped ? words_[set.stamp_word] : newer_time_ns_;
  const QueryPlan::NameMark mark = selection.mark_of(place_.in_selection());
  row_.has_namesake = mark.has_namesake;
  row_.shares_name = mark.shares_name;
  std::size_t before = 0;
  words_before_ = nullptr;
  if (holds && older_rows_.find(place_, row, before)) {
    if (is_of_one_plan_) {
      words_before_ = older_->values.data() + (words_ - newer_->values.data());
    } else {
      place_before_.move_to(before);
      words_before_ = older_->values.data() + place_before_.first_value();
    }
  }
  may_cook_plain_ = holds && is_of_one_plan_ && (older_ == nullptr || ticks_ != 0);
}

bool RowCursor::show_total() {
  if (total_.size() == 0) return false;
  is_total_ = true;
  may_cook_plain_ = false;
  shown_ = nullptr;
  row_ = total_.row();
  row_.source_.cursor = this;
  return true;
}

void RowCursor::add_to_total(std::size_t row, bool with_undefined) {
  const auto is_wanted = [with_undefined](const CounterView& counter) {
    return with_undefined || counter.aggregate != kAggregateUndefined;
  };
  show(row);
  for (std::size_t index = 0; index < counters_.size();) {
    if (!is_wanted(*counters_[index].view)) {  // it may be a distribution, which takes long
      ++index;
      continue;
    }
    const std::span<const Value> cooked = cook_from(index);
    for (const Value& value : cooked) {
      if (is_wanted(*value.counter)) total_.add(value);
    }
    index += cooked.size();
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

std::span<const Value> RowCursor::cook_in_full(std::size_t index) {
  if (is_total_) {
    total_.give(index, value_);
    return {&value_, 1};
  }
  const Counter& shown = counters_[index];
  const std::uint32_t at = shown.index;
  const Counterset& set = row_.set();
  const CounterView& counter = *shown.view;
  value_ = Value();
  value_.row = &row_;
  value_.counter = &counter;
  if (!holds_values(row_.status)) return {&value_, 1};
  value_.raw = raw_of(words_, newer_time_ns_, set, counter);
  const bool has_older = words_before_ != nullptr;
  value_.cooked = has_older ? cook_pair(counter, at)
                            : meterbank::cook(counter.type, nullptr, value_.raw, options_);
  if (counter.form != ValueForm::kUnsigned || counter.timed) {
    const Words before = has_older ? older_words(counter, at) : Words();
    add_form({words_, set.form.words}, before, room_, value_);
  }
  return {&value_, 1};
}

// What plain values of one sample have in common.
void RowCursor::share_plain() noexcept {
  for (Value& value : plain_) {
    value.row = &row_;
    value.raw = unlinked(newer_time_ns_);
  }
}

std::span<const Value> RowCursor::cook_first(std::size_t index, std::size_t count) noexcept {
  for (std::size_t at = 0; at < count; ++at) {
    const Counter& counter = counters_[index + at];
    Value& value = plain_[at];
    value.counter = counter.view;
    value.raw.value = words_[counter.word] & counter.mask;
    const bool is_value = counter.mask_before == 0;
    value.cooked = {is_value ? static_cast<double>(value.raw.value) : 0,
                    is_value ? CookStatus::kNew : CookStatus::kFirstSample};
  }
  return {plain_.data(), count};
}

// Of the same counter of the same life in the older sample; empty: there are none.
Words RowCursor::older_words(const CounterView& counter, std::uint32_t index) const noexcept {
  if (place_before().instance().generation != row_.instance->generation) return {};
  const Counterset& old_set = *place_before().selection().set->set;
  if (index >= old_set.counters.size()) return {};
  const CounterView& known = old_set.counters[index];
  const bool is_same = known.form == counter.form && known.more == counter.more &&
                       known.more_words == counter.more_words;
  return is_same ? Words{words_before_, old_set.form.words} : Words();
}

CookedValue RowCursor::cook_pair(const CounterView& counter, std::uint32_t index) const {
  const InstanceView& old_instance = place_before().instance();
  if (old_instance.generation != row_.instance->generation) {
    const bool is_anew = is_same_identity(row_.set(), old_instance, *row_.instance);
    if (is_anew && needs_two_samples(counter.type)) return {0, CookStatus::kReset};
    return meterbank::cook(counter.type, nullptr, value_.raw, options_);
  }
  const Counterset& old_set = *place_before().selection().set->set;
  if (index >= old_set.counters.size() || old_set.counters[index].type != counter.type) {
    return {0, CookStatus::kTypeChanged};
  }
  const RawValue raw = raw_of(words_before_, older_time_ns_, old_set, old_set.counters[index]);
  return meterbank::cook(counter.type, &raw, value_.raw, options_);
}

}  // namespace meterbank
