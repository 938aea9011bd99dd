// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <set>

#include "cli/arguments/option_values.hpp"
#include "cli/distribution/percentile_rows.hpp"
#include "cli/format/kinds.hpp"
#include "cli/format/quantity.hpp"
#include "cli/format/time_text.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/hung.hpp"
#include "cli/session/left_out.hpp"
#include "cli/session/log_selection.hpp"
#include "cli/session/output.hpp"
#include "cli/session/pace.hpp"
#include "cli/session/unmatched.hpp"
#include "cli/verbs.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

bool all_are_gone(const Sampler& sampler) {
  // A provider that ended in order takes its counterset out of the catalog.
  if (sampler.taken() > 0 && sampler.newer().selected().empty()) return true;
  bool any = false, any_here = false;
  sampler.each_row([&](const Value& row) {
    any = true;
    any_here = row.status() != RowStatus::kDead && row.status() != RowStatus::kGone;
    return !any_here;
  });
  return any && !any_here;
}

bool lacks_values(const RowWalk& rows, bool raw) {
  bool lacks = false;
  rows([&](const Value& row) {
    lacks = !row_has_value(row, raw);
    return !lacks;
  });
  return lacks;
}

// Of the sample that was taken last, or what was derived from it.
void each_shown(const RowPlan& plan, const Sampler& sampler, const Selection& selection,
                ValueSink take) {
  if (plan.derivation == nullptr) return sampler.each_row(take);
  for (const Value* const value : plan.derivation->rows(sampler, selection)) {
    if (!take(*value)) return;
  }
}

int stop_code(const RowPlan& plan, const Waiter& waiter) {
  return plan.stop_is_success ? kExitDone : 128 + waiter.signal();
}

// Names the providers of the sample that are hung: what they show are their last values.
bool report_hung(const Selection& selection, const Sampler& sampler, const Console& console) {
  std::set<std::string> hung;
  for (const SelectedSet& shown : sampler.newer().selected()) hung.insert(shown.provider().record);
  bool any = false;
  for (const auto& provider : selection.catalog().providers()) {
    if (provider->state != ProviderState::kHung || !hung.contains(provider->record)) continue;
    if (selection.log != nullptr) {
      complain(console,
               fmt::format("{} was hung then", escape_for_terminal(label_on_host(*provider))));
      any = true;
      continue;
    }
    const HungCause cause = cause_of_hang(*provider);
    complain(console, fmt::format("{} is hung: {}; try: {}", escape_for_terminal(provider->label()),
                                  cause.what, cause.remedy));
    any = true;
  }
  return any;
}

// Its exec plugin says what it calls this machine.
std::string collectd_host() {
  const char* const told = ::secure_getenv("COLLECTD_HOSTNAME");
  if (told != nullptr && *told != 0) return told;
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

// The machine that rows are of. A recording that does not say it is taken for one of this machine.
std::string host_for(Format format, const Selection& selection) {
  std::string recorded = selection.log ? recorded_host(*selection.log) : std::string();
  return recorded.empty() && format == Format::kCollectd ? collectd_host() : recorded;
}

// A page has no series for totals that a reader makes: its receiver would add them to their rows.
bool has_no_rows_for_page(const Selection& selection) {
  const auto& selected = selection.query.selected();
  return std::all_of(selected.begin(), selected.end(), [](const SelectedSet& one) {
    return one.is_total() && !is_shared(one.set().instances);
  });
}

// What the last sample means for the exit code; `answered` is what its callbacks mean.
int judge(const Invocation& invocation, const Selection& selection, const Sampler& sampler,
          bool complete, int answered, const Console& console) {
  // To convert a recording is to write what it has, also of providers that ended.
  if (!invocation.wants_all_of_log && all_are_gone(sampler)) {
    complain(console, "the provider is gone; these were its last values; try: " +
                          list_command(selection.log_path));
    return kExitNo;
  }
  if (invocation.strict && !complete) {
    complain(console, "not every path has a value; try: -n 2, or leave out --strict");
    return kExitNo;
  }
  if (invocation.strict && report_hung(selection, sampler, console)) return kExitNo;
  return answered;
}

// Takes the sample that rates are measured from. kDeadline: done.
std::optional<Wake> warm_up(const Invocation& invocation, const Selection& selection,
                            Sampler& sampler, Pace& pace, const Console& console) {
  const auto wake = pace.next();
  if (wake != Wake::kDeadline) return wake;
  sampler.take();
  if (pace.shows_first(sampler)) return Wake::kDeadline;
  const bool takes_time = selection.log == nullptr;
  if (takes_time && console.out_is_terminal && console.err_is_terminal && !invocation.quiet) {
    say(console, fmt::format("(two samples, {} apart)", print_interval(invocation.interval)));
  }
  pace.done();
  return Wake::kDeadline;
}

// For the rows of a recording.
LocalForm form_of_times(const Selection& selection, bool milliseconds) {
  return form_of_range(std::max(selection.log_from_ns, selection.log->first().realtime_ns),
                       std::min(selection.log_to_ns, selection.log->last().realtime_ns),
                       Timestamp::now().realtime_ns, milliseconds);
}

// Reads the paths now, because those of the expressions come behind them.
Result<Derivation> prepare_derivation(const Invocation& invocation, SelectionOptions& options) {
  const bool scoped =
      !options.provider.empty() && options.paths.empty() && options.paths_from.empty();
  // A provider without a path means all of it; behind expressions, it only says where they look.
  if (!scoped) {
    auto paths = gather_paths(options);
    if (!paths) return tl::make_unexpected(paths.error());
    options.paths = std::move(*paths);
    options.paths_from.clear();
  }
  return Derivation::prepare(invocation.expressions, options);
}

// Once, and again when their number has changed.
void report_not_in_totals(const NotInTotals& left_out, const Console& console, std::string& said) {
  auto text = not_in_totals_text(left_out);
  if (text == said) return;
  if (!text.empty()) complain(console, text);
  said = std::move(text);
}

}  // namespace

RowStyle style_of(const Invocation& invocation, const Console& console) {
  RowStyle style;
  const bool terminal = console.out_is_terminal && invocation.output.empty();
  style.format = invocation.format;
  // A picture is for people, wherever it goes.
  const bool for_people = terminal || invocation.histograms;
  if (style.format == Format::kAuto) style.format = for_people ? Format::kTable : Format::kPlain;
  style.units = invocation.units;
  style.raw = invocation.raw;
  style.integers_as_text = invocation.integers_as_text;
  style.time.milliseconds = invocation.interval % std::chrono::seconds(1) != Span::zero();
  style.color = invocation.output.empty() && wants_color(invocation.color, console);
  style.columns = terminal ? console.columns : 0;
  style.ascii = !locale_is_utf8();
  style.charset = terminal ? out_charset(console) : Charset::kUtf8;
  style.histograms = invocation.histograms;
  style.percentiles = invocation.percentiles;
  style.buckets = invocation.buckets;
  style.interval = invocation.interval;
  return style;
}

int explain_failure(const Error& error, const Waiter& waiter, const Console& console) {
  if (waiter.signal() != 0) return 128 + waiter.signal();
  complain(console, error);
  return waiter.timed_out() ? kExitTimeout : exit_code_of(error.code);
}

int print_rows(const Invocation& invocation, const RowPlan& plan, Selection& selection,
               Waiter& waiter, Console& console) {
  auto output = Output::open(console, invocation.output);
  if (!output) return explain_failure(output.error(), waiter, console);
  RowStyle style = style_of(invocation, console);
  if (selection.log != nullptr) style.time = form_of_times(selection, style.time.milliseconds);
  if (invocation.wants_all_of_log) style.interval = Span::zero();
  style.host = host_for(style.format, selection);
  const auto writer = make_row_writer(style);
  Sampler sampler(selection);
  const bool warms_up = plan.warm_up && !invocation.raw;
  const auto pace = make_pace(selection, waiter,
                              {.interval = invocation.interval,
                               .duration = invocation.duration,
                               .warm_up = warms_up,
                               .log = invocation.selection.log});
  std::optional<Wake> wake = Wake::kDeadline;
  if (warms_up) wake = warm_up(invocation, selection, sampler, *pace, console);

  bool taken = true;
  std::uint64_t shown = 0;
  bool complete = true;
  int answered = kExitDone;
  std::set<std::string> said;
  std::string said_not_in_totals;
  std::string said_hidden = left_out_of(selection.catalog()).line();  // by the caller
  // A percentile is stored nowhere.
  PercentileRows with_percentiles(invocation.raw ? Percentiles() : invocation.percentiles);
  while (taken && wake == Wake::kDeadline) {
    // A warm-up that found nothing to wait for has already taken the sample.
    const bool ready = shown == 0 && sampler.taken() == 1 && pace->shows_first(sampler);
    if (!ready) {
      wake = pace->next();
      if (wake != Wake::kDeadline) break;
      sampler.take();
      if (plan.warm_up && shown == 0 && !selection.log) wake = await_provider(sampler, waiter);
      if (wake != Wake::kDeadline) break;
    }
    const RowWalk known = [&](ValueSink take) { each_shown(plan, sampler, selection, take); };
    if (invocation.strict) complete = !lacks_values(known, invocation.raw);
    answered = report_answers(sampler.newer().callbacks, console, said);
    const RowWalk rows = [&](ValueSink take) { with_percentiles.each(known, take); };
    const auto hidden = left_out_of(selection.catalog());
    if (auto line = hidden.line(); line != said_hidden) {
      if (!line.empty()) complain(console, line);
      said_hidden = std::move(line);
    }
    writer->write({sampler.newer(), rows, sampler.interval(), hidden},
                  [&](std::string_view text) { return taken = output->write(text); });
    // Derived rows say what they left out once they are made.
    auto left_out = not_in_totals_of(sampler.newer().left_out());
    if (plan.derivation != nullptr) left_out.merge(plan.derivation->not_in_totals());
    if (!invocation.quiet) report_not_in_totals(left_out, console, said_not_in_totals);
    if (taken) output->end_sample();
    ++shown;
    if (plan.samples != 0 && shown == plan.samples) break;
    pace->done();
    if (pace->is_over()) break;
  }

  const int damages = report_damages(selection, console);
  const bool is_failure = invocation.strict || invocation.wants_all_of_log;
  if (damages != kExitDone && is_failure) answered = damages;
  report_passed_over(*pace, console);
  if (pace->missed() > 0 && !invocation.quiet) {
    complain(console, fmt::format("missed {} of {}; try: a longer -i", pace->missed(),
                                  counted(pace->missed() + shown, "sample")));
  }
  if (auto text = writer->left_out(); !text.empty() && !invocation.quiet) complain(console, text);
  if (wake == Wake::kStop) return output->finish(stop_code(plan, waiter), writer->end());
  if (wake == Wake::kTimeout) {
    complain(console, "timed out; try: a longer --timeout");
    return output->finish(kExitTimeout, writer->end());
  }
  if (shown == 0 && selection.log) {
    // Where nothing can be written, nothing was looked for.
    const int code = taken ? report_no_moment(invocation.selection.log, console) : kExitDone;
    return output->finish_empty(code, writer->end());
  }
  // A reader that has seen enough asks nothing of the last sample.
  const int code =
      taken ? judge(invocation, selection, sampler, complete, answered, console) : kExitDone;
  return output->finish(code, writer->end());
}

int get(const Invocation& invocation, Console& console) {
  Waiter waiter(invocation.timeout);
  auto options = invocation.selection;
  std::optional<Derivation> derivation;
  if (!invocation.expressions.empty()) {
    auto prepared = prepare_derivation(invocation, options);
    if (!prepared) return explain_failure(prepared.error(), waiter, console);
    derivation = std::move(*prepared);
  }
  auto selection = Selection::open(options, waiter);
  if (!selection) return explain_failure(selection.error(), waiter, console);
  const int left_out = report_left_out(selection->catalog(), console);
  int missing = report_missing(*selection, console);
  if (invocation.strict) missing = std::max(missing, left_out);
  if (missing != kExitDone && (invocation.strict || selection->has_nothing())) {
    return missing;
  }
  if (is_page(invocation.format) && has_no_rows_for_page(*selection)) {
    complain(console,
             usage("a page has no totals that readers make", "the paths of the rows, or -f influx")
                 .value());
    return kExitUsage;
  }
  RowPlan plan;
  const bool is_range = invocation.duration || invocation.selection.log.has_range();
  plan.samples = invocation.samples.value_or(is_range ? 0 : 1);
  // The Windows tool has a line without rates first, however few samples are asked for.
  plan.warm_up = plan.samples == 1 && invocation.verb != Verb::kTypeperf;
  plan.stop_is_success = plan.samples == 0;
  if (derivation) plan.derivation = &*derivation;
  const int printed = print_rows(invocation, plan, *selection, waiter, console);
  return printed != kExitDone ? printed : missing;
}

}  // namespace meterbank::cli
