// SPDX-License-Identifier: Apache-2.0
#include "cli/record/trigger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "cli/format/kinds.hpp"
#include "cli/session/unmatched.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

std::uint64_t ns_of(std::chrono::nanoseconds span) {
  return static_cast<std::uint64_t>(span.count());
}

std::string name_in(const Condition& condition, const Value& row) {
  return condition.expression() ? std::string(row.row->name()) : row.short_path();
}

// What to ask for where a row has a value that cannot be compared.
std::string remedy_for(const Condition& condition, const Value& row) {
  const bool is_count =
      row.counter->form == ValueForm::kDistribution && row.counter->word != kNoCounter;
  return is_count ? condition.path() + ".p99" : "meterbank help check";
}

}  // namespace

std::chrono::nanoseconds age_for_events(const RecordOptions& options) {
  // A part is read while the ring goes on, and the files of a ring cover some time.
  constexpr auto kMargin = std::chrono::minutes(1);
  return options.before + options.after + kEventMax + kMargin;
}

Trigger::Trigger(std::unique_ptr<Selection> selection, std::vector<Rule> rules,
                 const RecordOptions& options)
    : selection_(std::move(selection)),
      sampler_(std::make_unique<Sampler>(*selection_)),
      rules_(std::move(rules)),
      before_ns_(ns_of(options.before)),
      after_ns_(ns_of(options.after)) {}

Result<Trigger> Trigger::open(const RecordOptions& options, SelectionOptions selection,
                              Waiter& waiter) {
  // The conditions name what they read; what is recorded is another matter.
  selection.paths.clear();
  selection.paths_from.clear();
  selection.excluded.clear();
  std::vector<Rule> rules;
  for (const Condition& condition : options.when) {
    auto rows = ConditionRows::prepare(condition, selection);
    if (!rows) return tl::make_unexpected(std::move(rows.error()));
    rules.emplace_back(*std::move(rows));
  }
  auto opened = Selection::open(selection, waiter);
  if (!opened) return tl::make_unexpected(std::move(opened.error()));
  // An answer may take longer than the time between two ticks.
  if (opened->query.asks()) {
    return fail(ErrorCode::kInvalidArgument,
                "--when: a counter that its provider computes when it is asked", "another counter");
  }
  return Trigger(std::make_unique<Selection>(*std::move(opened)), std::move(rules), options);
}

void Trigger::say_unmatched(const Console& console) const {
  for (const Unmatched& miss : selection_->query.unmatched()) {
    complain(console, fmt::format("--when waits for a match: {}",
                                  escape_for_terminal(unmatched_text(miss, selection_->catalog(),
                                                                     {}, Asker::kCondition))));
  }
}

bool Trigger::holds(Rule& rule, const Console& console) {
  const Condition& condition = rule.rows.condition();
  bool holds = false;
  std::string name;
  std::optional<WhyNot> why_not;
  rule.rows.each(*sampler_, *selection_, [&](const Value& row) {
    const auto finding = condition.judge(row);
    if (finding.answer != Answer::kUnknown) {
      rule.was_compared = true;
      holds = finding.answer == Answer::kYes;
      if (holds) name = name_in(condition, row);
    } else if (!why_not && row_has_value(row, false) && !rule.said.contains(finding.why)) {
      // A row without a value may have one later.
      why_not = {name_in(condition, row), finding.why, remedy_for(condition, row)};
    }
    return !holds;
  });
  if (rule.rows.lacks_distribution()) {
    why_not = {condition.path(), "is not a distribution", condition.path()};
  }
  if (why_not && !rule.was_compared) say_why_not(rule, *why_not, console);
  if (holds && !std::exchange(rule.is_named, true)) {
    const auto words =
        name.empty() ? condition.text() : fmt::format("{} ({})", condition.text(), name);
    complain(console, "it holds: " + escape_for_terminal(words));
  }
  return holds;
}

void Trigger::say_why_not(Rule& rule, const WhyNot& found, const Console& console) {
  if (!rule.said.insert(found.why).second) return;
  complain(console, escape_for_terminal(fmt::format("--when '{}': {} {}; try: {}",
                                                    rule.rows.condition().text(), found.name,
                                                    found.why, found.remedy)));
}

void Trigger::look(Timestamp tick, Saving& saving, const Console& console) {
  const std::uint64_t now_ns = tick.realtime_ns;
  last_tick_ns_ = now_ns;
  sampler_->take();
  bool any_holds = false;
  for (Rule& rule : rules_) any_holds = holds(rule, console) || any_holds;
  if (any_holds) {
    if (!event_) event_ = Event{now_ns - std::min(now_ns, before_ns_), now_ns, now_ns};
    event_->last_held_ns = now_ns;
  }
  if (!event_) return;
  if (now_ns >= event_->last_held_ns + after_ns_) {
    saving.request_event(event_->from_ns, now_ns);
    end_event();
  } else if (now_ns >= event_->begun_ns + ns_of(kEventMax)) {
    saving.request_event(event_->from_ns, now_ns);
    event_->from_ns = event_->begun_ns = now_ns;
  }
}

void Trigger::end_event() noexcept {
  event_.reset();
  for (Rule& rule : rules_) rule.is_named = false;
}

void Trigger::finish(Saving& saving) {
  if (event_) saving.request_event(event_->from_ns, last_tick_ns_);
  end_event();
}

}  // namespace meterbank::cli
