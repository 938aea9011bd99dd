// SPDX-License-Identifier: Apache-2.0
#include "cli/record/trigger.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "cli/session/unmatched.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

std::uint64_t ns_of(std::chrono::nanoseconds span) {
  return static_cast<std::uint64_t>(span.count());
}

}  // namespace

std::chrono::nanoseconds age_for_events(const RecordOptions& options) {
  // A part is read while the ring goes on, and the files of a ring cover some time.
  constexpr auto kMargin = std::chrono::minutes(1);
  return options.before + options.after + kEventMax + kMargin;
}

Trigger::Trigger(std::unique_ptr<Selection> selection, std::vector<ConditionRows> conditions,
                 const RecordOptions& options)
    : selection_(std::move(selection)),
      sampler_(std::make_unique<Sampler>(*selection_)),
      conditions_(std::move(conditions)),
      before_ns_(ns_of(options.before)),
      after_ns_(ns_of(options.after)) {}

Result<Trigger> Trigger::open(const RecordOptions& options, SelectionOptions selection,
                              Waiter& waiter) {
  // The conditions name what they read; what is recorded is another matter.
  selection.paths.clear();
  selection.paths_from.clear();
  selection.excluded.clear();
  std::vector<ConditionRows> conditions;
  for (const Condition& condition : options.when) {
    auto rows = ConditionRows::prepare(condition, selection);
    if (!rows) return tl::make_unexpected(std::move(rows.error()));
    conditions.push_back(*std::move(rows));
  }
  auto opened = Selection::open(selection, waiter);
  if (!opened) return tl::make_unexpected(std::move(opened.error()));
  // An answer may take longer than the time between two ticks.
  if (opened->query.asks()) {
    return fail(ErrorCode::kInvalidArgument,
                "--when: a counter that its provider computes when it is asked", "another counter");
  }
  return Trigger(std::make_unique<Selection>(*std::move(opened)), std::move(conditions), options);
}

void Trigger::say_unmatched(const Console& console) const {
  for (const Unmatched& miss : selection_->query.unmatched()) {
    complain(console, "--when: " + escape_for_terminal(unmatched_text(miss, selection_->catalog(),
                                                                      {}, Asker::kCondition)));
  }
}

std::string Trigger::what_holds() {
  sampler_->take();
  std::string holds;
  for (ConditionRows& rows : conditions_) {
    rows.each(*sampler_, *selection_, [&](const Value& row) {
      if (rows.condition().judge(row).answer != Answer::kYes) return true;
      holds = rows.condition().text();
      const auto name =
          rows.condition().expression() ? std::string(row.row->name()) : row.short_path();
      if (!name.empty()) holds += fmt::format(" ({})", name);
      return false;
    });
    if (!holds.empty()) break;
  }
  return holds;
}

void Trigger::look(Timestamp tick, Saving& saving, const Console& console) {
  const std::uint64_t now_ns = tick.realtime_ns;
  last_tick_ns_ = now_ns;
  if (const std::string holds = what_holds(); !holds.empty()) {
    if (!event_) {
      complain(console, "it holds: " + escape_for_terminal(holds));
      event_ = Event{now_ns - std::min(now_ns, before_ns_), now_ns, now_ns};
    }
    event_->last_held_ns = now_ns;
  }
  if (!event_) return;
  if (now_ns >= event_->last_held_ns + after_ns_) {
    saving.request_event(event_->from_ns, now_ns);
    event_.reset();
  } else if (now_ns >= event_->begun_ns + ns_of(kEventMax)) {
    saving.request_event(event_->from_ns, now_ns);
    event_->from_ns = event_->begun_ns = now_ns;
  }
}

void Trigger::finish(Saving& saving) {
  if (event_) saving.request_event(event_->from_ns, last_tick_ns_);
  event_.reset();
}

}  // namespace meterbank::cli
