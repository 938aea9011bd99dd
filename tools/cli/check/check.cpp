// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/check/check_report.hpp"
#include "cli/check/provider_health.hpp"
#include "cli/format/quantity.hpp"
#include "cli/format/time_text.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/left_out.hpp"
#include "cli/session/output.hpp"
#include "cli/session/pace.hpp"
#include "cli/session/unmatched.hpp"
#include "cli/verbs.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

// What the check could not find out: no directory, no recording, no time left.
int say_unknown(std::string_view why, const Invocation& invocation, Console& console) {
  if (invocation.quiet) {
    complain(console, escape_for_terminal(why));
    return exit_code_of(CheckState::kUnknown);
  }
  CheckReport report;
  report.problems.push_back({CheckState::kUnknown, std::string(why)});
  report.conclude({});
  auto output = Output::open(console, {});
  output->write(invocation.format == Format::kJson ? report.as_json() : report.as_text());
  return output->finish(exit_code_of(CheckState::kUnknown));
}

Result<std::vector<RuleHistory>> prepare(const Invocation& invocation, SelectionOptions& options) {
  std::vector<RuleHistory> rules;
  for (const CheckOptions::Rule& rule : invocation.check.rules) {
    auto rows = ConditionRows::prepare(rule.condition, options);
    if (!rows) return tl::make_unexpected(rows.error());
    rules.emplace_back(rule.severity, *std::move(rows));
  }
  return rules;
}

// Shows the samples to all rules.
class Examination {
 public:
  Examination(const Invocation& invocation, Selection& selection, Waiter& waiter,
              std::vector<RuleHistory>& rules)
      : invocation_(invocation),
        selection_(selection),
        waiter_(waiter),
        rules_(rules),
        sampler_(selection),
        is_range_(invocation.selection.log.has_range()),
        pace_(make_pace(selection, waiter,
                        {.interval = invocation.interval,
                         .duration = std::nullopt,
                         .warm_up = true,
                         .log = invocation.selection.log})) {}

  // What ended it: kDeadline if nothing did.
  Wake run() {
    auto wake = pace_->next();
    bool ready = false;
    if (wake == Wake::kDeadline) {
      sampler_.take();
      ready = pace_->shows_first(sampler_) && !needs_interval();
      if (!ready) pace_->done();
    }
    const std::uint64_t samples = is_range_ ? 0 : invocation_.samples.value_or(1);
    for (std::uint64_t looked = 0; wake == Wake::kDeadline;) {
      if (!ready) {
        wake = pace_->next();
        if (wake != Wake::kDeadline) break;
        sampler_.take();
        if (selection_.log == nullptr) wake = await_provider(sampler_, waiter_);
        if (wake != Wake::kDeadline) break;
      }
      ready = false;
      for (RuleHistory& rule : rules_) rule.look(sampler_, selection_);
      if (++looked == samples) break;
      pace_->done();
      if (pace_->is_over()) break;
    }
    return wake.value_or(Wake::kDeadline);
  }
  [[nodiscard]] const Pace& pace() const noexcept { return *pace_; }
  [[nodiscard]] const Sampler& sampler() const noexcept { return sampler_; }

 private:
  // Live, there is always a second sample to be had.
  [[nodiscard]] bool needs_interval() const {
    return selection_.log == nullptr &&
           std::any_of(rules_.begin(), rules_.end(), [](const RuleHistory& rule) {
             return rule.condition().percentile().has_value();
           });
  }

  const Invocation& invocation_;
  Selection& selection_;
  Waiter& waiter_;
  std::vector<RuleHistory>& rules_;
  Sampler sampler_;
  bool is_range_;
  std::unique_ptr<Pace> pace_;
};

void add_answers(const Sampler& sampler, CheckReport& report) {
  const auto& answers = sampler.newer().callbacks;
  if (answers == nullptr) return;
  for (const CallbackAnswer& answer : *answers) {
    if (answer.outcome == AnswerOutcome::kAnswered) continue;
    report.problems.push_back({CheckState::kUnknown, complaint_about(answer)});
  }
}

void add_notes(const Selection& selection, const std::vector<RuleHistory>& rules, const Pace& pace,
               CheckReport& report) {
  if (auto line = left_out_of(selection.catalog()).line(); !line.empty()) {
    report.notes.push_back(std::move(line));
  }
  NotInTotals left_out = not_in_totals_of(selection.query.left_out());
  for (const RuleHistory& rule : rules) left_out.merge(rule.source().not_in_totals());
  if (auto line = not_in_totals_text(left_out); !line.empty()) {
    report.notes.push_back(std::move(line));
  }
  if (pace.passed_over() > 0) {
    report.notes.push_back(fmt::format("left out {}, which lacked some of these counters",
                                       counted(pace.passed_over(), "sample")));
  }
  if (pace.missed() > 0) {
    report.notes.push_back(
        fmt::format("missed {}; try: a longer -i", counted(pace.missed(), "sample")));
  }
  std::size_t more = 0;
  for (const RuleHistory& rule : rules) {
    for (const RowHistory& row : rule.rows()) {
      const bool is_unsaid =
          row.unknown_later > 0 && rule.state_of(row, report.needed) != CheckState::kUnknown;
      if (!is_unsaid) continue;
      constexpr std::size_t kNotesMax = 20;
      if (report.notes.size() >= kNotesMax && ++more > 0) continue;
      report.notes.push_back(fmt::format("{} had no value in {} of {}", row.subject,
                                         row.unknown_later, counted(row.samples, "sample")));
    }
  }
  if (more > 0) report.notes.push_back(fmt::format("{} more rows lacked values", more));
}

// How old the last sample of a recording is at the end of the range, or now if it is open.
void add_age_of_recording(Selection& selection, const Invocation& invocation, CheckReport& report) {
  const LogOptions& log = invocation.selection.log;
  const bool has_end = !log.at.empty() || !log.to.empty();
  const std::uint64_t end_ns = has_end ? selection.log_to_ns : report.now_ns;
  if (!selection.log->seek(end_ns)) return;
  selection.refresh();
  const auto age = std::chrono::nanoseconds(
      static_cast<std::int64_t>(end_ns - selection.log->time().realtime_ns));
  if (!invocation.check.stale || age <= *invocation.check.stale) return;
  report.problems.push_back(
      {CheckState::kCritical,
       fmt::format("the last sample of {} was at {}, {} before {}", log.path,
                   print_moment(selection.log->time().realtime_ns, report.now_ns),
                   print_duration(std::floor(std::chrono::duration<double>(age).count())),
                   has_end ? "the end of the range" : "now")});
}

void add_damages(const Selection& selection, CheckReport& report) {
  if (selection.log == nullptr || selection.log->damages().empty()) return;
  const auto& damages = selection.log->damages();
  report.problems.push_back(
      {CheckState::kUnknown,
       fmt::format("{} cannot be read in {}; try: meterbank log check {}", damages.front().path,
                   counted(damages.size(), "place"), damages.front().path)});
}

std::string words_if_well(const CheckReport& report, const Selection& selection,
                          const Invocation& invocation) {
  std::string text;
  if (!invocation.check.rules.empty()) {
    text = fmt::format("{} {} within limits", report.rows.size(),
                       report.rows.size() == 1 ? "row is" : "rows are");
    if (report.rows.size() == 1 && !report.rows.front().row->shown.empty()) {
      text =
          fmt::format("{} is {}", report.rows.front().row->subject, report.rows.front().row->shown);
    }
  }
  if (!invocation.check.stale) return text;
  std::set<std::pair<std::string, std::string>> providers;
  for (const SelectedSet& one : selection.query.selected()) {
    providers.emplace(one.provider().outside.host, one.provider().record);
  }
  return fmt::format("{}{}{} with a heartbeat within {}", text, text.empty() ? "" : ", ",
                     counted(providers.size(), "provider"),
                     print_interval(*invocation.check.stale));
}

void append(std::vector<CheckProblem>&& more, std::vector<CheckProblem>& problems) {
  std::move(more.begin(), more.end(), std::back_inserter(problems));
}

}  // namespace

int check(const Invocation& invocation, Console& console) {
  Waiter waiter(invocation.timeout);
  auto options = invocation.selection;
  auto rules = prepare(invocation, options);
  if (!rules) {
    complain(console, rules.error());
    return exit_code_of(CheckState::kUnknown);
  }
  auto selection = Selection::open(options, waiter);
  if (!selection) {
    if (waiter.signal() != 0) return 128 + waiter.signal();
    return say_unknown(waiter.timed_out() ? "timed out; try: a longer --timeout"
                                          : named_message(selection.error()),
                       invocation, console);
  }
  Examination examination(invocation, *selection, waiter, *rules);
  if (!rules->empty()) {
    const Wake wake = examination.run();
    if (wake == Wake::kStop) return 128 + waiter.signal();
    if (wake == Wake::kTimeout) {
      return say_unknown("timed out; try: a longer --timeout", invocation, console);
    }
  }
  CheckReport report;
  report.needed = invocation.samples.value_or(1);
  report.is_range = options.log.has_range();
  report.now_ns = Timestamp::now().realtime_ns;
  if (selection->log != nullptr) add_age_of_recording(*selection, invocation, report);
  append(provider_problems(*selection, *rules, invocation.check.stale), report.problems);
  append(unmatched_problems(*selection, *rules), report.problems);
  if (rules->empty() && selection->query.selected().empty() && report.problems.empty()) {
    report.problems.push_back(
        {CheckState::kUnknown, "no provider found; try: " + list_command(selection->log_path)});
  }
  add_answers(examination.sampler(), report);
  add_damages(*selection, report);
  add_notes(*selection, *rules, examination.pace(), report);
  report.conclude(*rules);
  report.well = words_if_well(report, *selection, invocation);
  const int code = exit_code_of(report.state);
  if (invocation.quiet) return code;
  auto output = Output::open(console, {});
  output->write(invocation.format == Format::kJson ? report.as_json() : report.as_text());
  return output->finish(code);
}

}  // namespace meterbank::cli
