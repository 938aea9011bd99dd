// SPDX-License-Identifier: Apache-2.0
#include "compiled_query.hpp"

#include <algorithm>
#include <new>

#include "../catalog/memory/recorded_rows.hpp"
#include "../collect/returned_versions.hpp"
#include "../cook/row_cursor.hpp"
#include "ended_values.hpp"

namespace meterbank {
namespace {

using RowList = QueryPlan::RowList;

// Rows lie in the same memory if the groups do, as far as both plans know them.
bool lie_in_the_same_groups(const QueryPlan::Selection& left,
                            const QueryPlan::Selection& right) noexcept {
  const auto is_same_group = [](const QueryPlan::Group& one, const QueryPlan::Group& other) {
    return one.memory == other.memory && one.first_slot == other.first_slot;
  };
  const auto groups =
      static_cast<std::ptrdiff_t>(std::min(left.groups->size(), right.groups->size()));
  return std::equal(left.groups->begin(), left.groups->begin() + groups, right.groups->begin(),
                    is_same_group);
}

bool have_same_rows(const QueryPlan::PieceRows& left, const QueryPlan::PieceRows& right) noexcept {
  if (left.size() != right.size()) return false;
  for (std::size_t row = 0; row < left.size(); ++row) {
    const InstanceView& one = left.instance(row);
    const InstanceView& other = right.instance(row);
    if (one.slot != other.slot || one.generation != other.generation) return false;
  }
  return true;
}

bool have_same_rows(const RowList& left, const RowList& right) noexcept {
  return std::equal(left.parts.begin(), left.parts.end(), right.parts.begin(), right.parts.end(),
                    [](const RowList::Part& one, const RowList::Part& other) {
                      return one.rows == other.rows || have_same_rows(*one.rows, *other.rows);
                    });
}

bool same_selection(const QueryPlan::Selection& left, const QueryPlan::Selection& right) noexcept {
  return left.word == right.word && left.set->generation == right.set->generation &&
         left.rows == right.rows && left.total == right.total && left.counters == right.counters &&
         lie_in_the_same_groups(left, right) && have_same_rows(*left.list, *right.list);
}

// Both plans hold their memory mapped, so equal addresses are the same words.
bool selects_the_same(const QueryPlan& left, const QueryPlan& right) noexcept {
  return std::equal(left.selections.begin(), left.selections.end(), right.selections.begin(),
                    right.selections.end(), same_selection);
}

// What came of asking when the recording was made. Null: nothing was asked.
std::shared_ptr<const std::vector<CallbackAnswer>> recorded_answers(const QueryPlan& plan,
                                                                    std::size_t& unanswered) {
  auto answers = std::make_shared<std::vector<CallbackAnswer>>();
  answers->reserve(plan.recorded_answers.size());
  for (const QueryPlan::RecordedAsk& asked : plan.recorded_answers) {
    const std::optional<CallbackAnswer>& last = asked.set->recorded->answer->last;
    if (!last) continue;
    answers->push_back(*last);
    answers->back().provider = asked.provider;
    answers->back().set = asked.set;
    if (!has_rows(last->outcome)) ++unanswered;
  }
  if (answers->empty()) return nullptr;
  return answers;
}

}  // namespace

// What can fail comes first.
void CompiledQuery::build(const Providers& providers, std::shared_ptr<const QueryRequest> request) {
  BuiltPlan built = build_plan(providers, request, parts_.get(), asker_.get());
  Versions versions;
  if (collector_ == nullptr) {
    versions = no_versions(*built.plan);
  } else {
    const QueryPlan& before = *plan();
    built.plan->ended = before.ended;
    built.plan->ended_left_out = before.ended_left_out;
    if (has_ended(*parts_, *built.parts)) {
      Sample last;
      prepare(last);
      collect(last, Timestamp{}, Cut::kNone);
      fold_ended(*built.parts, content_of(last), *built.plan);
    }
    // What was returned of a block before binds what may be returned of it later.
    versions = carried_versions(before, collector_->versions(), *built.plan);
  }
  auto collector = std::make_unique<Collector>(std::move(built.plan), std::move(versions));
  if (!is_part_) {
    if (asker_ == nullptr && !built.touched.empty()) asker_ = std::make_shared<CallbackAsker>();
    if (asker_ != nullptr) asker_->adapt(std::move(built.touched));
  }
  request_ = std::move(request);
  parts_ = std::move(built.parts);
  collector_ = std::move(collector);
  ++version_;
  unmatched_ = std::move(built.unmatched);
}

bool CompiledQuery::update(const Catalog& catalog) {
  // Views are immutable and the plan keeps them, so the same pointers are the same catalog.
  if (plan()->providers == catalog.providers()) {
    if (asker_ != nullptr && !is_part_) asker_->catch_up();
    return false;
  }
  const std::shared_ptr<const QueryPlan> before = plan();
  build(catalog.providers(), request_);
  return !selects_the_same(*before, *plan());
}

bool CompiledQuery::asks() const noexcept {
  return asker_ != nullptr && !is_part_ && asker_->asks();
}

std::shared_ptr<const std::vector<CallbackAnswer>> CompiledQuery::answers() const noexcept {
  return asker_ == nullptr ? nullptr : asker_->answers();
}

AskCounts CompiledQuery::ask_counts() const noexcept {
  return asker_ == nullptr ? AskCounts{} : asker_->counts();
}

void CompiledQuery::ask(MessageType type, std::chrono::nanoseconds timeout) {
  if (asker_ == nullptr || is_part_) return;
  asker_->ask(type, timeout);
  if (!asker_->has_changed()) return;
  build(plan()->providers, request_);
  asker_->take_change();
}

bool CompiledQuery::enumerate(std::chrono::nanoseconds timeout) {
  const std::shared_ptr<const QueryPlan> before = plan();
  ask(MessageType::kEnumerate, timeout);
  return before != plan() && !selects_the_same(*before, *plan());
}

std::vector<InterestAnswer> CompiledQuery::hear_interest(std::chrono::nanoseconds timeout) {
  if (asker_ == nullptr || is_part_) return {};
  return asker_->hear_interest(timeout);
}

void CompiledQuery::prepare(Sample& sample) const { prepare(sample, Collector::Words::kZero); }

void CompiledQuery::prepare(Sample& sample, Collector::Words words) const {
  SampleContent& content = SampleAccess::of(sample);
  // So that numbers can be looked at where no memory is left.
  if (content.cursor == nullptr) content.cursor = std::make_shared<RowCursor>();
  content.cursor->reserve(*plan());
  const bool is_other = collector_->prepare(content, words);
  if (is_other) sample.callbacks = nullptr;
}

CollectSummary CompiledQuery::collect(Sample& sample, Timestamp time, Cut cut) noexcept {
  CollectSummary summary;  // the one that every return names, so that it is not copied
  const SampleContent* const before = SampleAccess::find(sample);
  const bool is_warm =
      before != nullptr && before->cursor != nullptr && collector_->is_prepared(*before);
  if (!is_warm) {
    try {
      prepare(sample, Collector::Words::kAny);
    } catch (const std::bad_alloc&) {
      summary.no_memory = true;
      return summary;
    }
  }
  sample.time = time;
  collector_->collect(SampleAccess::of(sample), cut, summary);
  if (!plan()->recorded_answers.empty()) {
    try {
      sample.callbacks = recorded_answers(*plan(), summary.unanswered);
    } catch (const std::bad_alloc&) {
      sample.clear();
      summary.no_memory = true;
    }
    return summary;
  }
  if (asker_ == nullptr) return summary;
  sample.callbacks = asker_->answers();
  summary.unanswered = asker_->unanswered();
  return summary;
}

CollectSummary CompiledQuery::collect(Sample& sample, std::chrono::nanoseconds timeout, Cut cut) {
  ask(MessageType::kCollect, timeout);
  prepare(sample, Collector::Words::kAny);
  return collect(sample, Timestamp::now(), cut);
}

std::vector<std::string> CompiledQuery::expanded(PathSpelling spelling) const {
  Sample nothing;
  prepare(nothing);
  std::vector<std::string> paths;
  for (const Row& row : nothing) {
    for (const Value& value : row) paths.push_back(print_path(value.counter_path(spelling)));
  }
  return paths;
}

}  // namespace meterbank
