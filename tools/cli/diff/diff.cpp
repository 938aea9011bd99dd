// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <vector>

#include "cli/arguments/option_values.hpp"
#include "cli/diff/diff_output.hpp"
#include "cli/format/quantity.hpp"
#include "cli/format/time_text.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/output.hpp"
#include "cli/session/pace.hpp"
#include "cli/verbs.hpp"
#include "compare/comparison.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

// That something changed is the only reason for kExitNo.
int code_of_failure(int code) { return code == kExitNo ? kExitEnvironment : code; }

// One side, while it is read.
class DiffReader {
 public:
  DiffReader(const Invocation& invocation, const DiffOptions::Side& typed, const char* name,
             Waiter& waiter, const Console& console)
      : invocation_(invocation), typed_(typed), name_(name), waiter_(waiter), console_(console) {}

  // kExitDone, or another code after having said why.
  int read(DiffSide& side) {
    side.path = typed_.path;
    SelectionOptions options = invocation_.selection;
    options.log = {
        .path = typed_.path, .at = {}, .from = typed_.from, .to = typed_.to, .every = {}};
    options.log.mean_all_by_default();
    auto selection = Selection::open(options, waiter_);
    if (!selection) {
      return code_of_failure(explain_failure(selection.error(), waiter_, console_));
    }
    if (const int code = take_samples(*selection, options.log, side); code != kExitDone) {
      return code;
    }
    if (const int missing = report_missing(*selection, console_);
        missing != kExitDone && side.observation.series().empty()) {
      return kExitEnvironment;
    }
    static_cast<void>(report_damages(*selection, console_));
    report_gaps(*selection->log, side);
    const int code = check_samples(*selection->log, side);
    selection_.emplace(*std::move(selection));
    return code;
  }

  // Finds out which rows of `side`, which was read, the recorder of `other` was asked for.
  void look_for_asked_of(const DiffReader& other, DiffSide& side) {
    recording::Recording& log = *selection_->log;
    if (other.records_everything() || !log.seek(side.to_ns)) return;
    side.observation.begin_asked_of_other();
    for (const recording::RecordingFile& file : other.selection_->log->files()) {
      // A set belongs to the first rate that selects it.
      std::set<const RegisteredSet*> taken;
      for (const recording::Rate& rate : file.head.rates) {
        auto asked = Query::compile(log.catalog(), recording::patterns_of(rate));
        if (!asked) continue;
        Sample sample;
        asked->collect(sample, log.time());
        std::set<const RegisteredSet*> of_rate;
        for (const Row& row : sample) {
          if (taken.contains(row.registered)) continue;
          of_rate.insert(row.registered);
          side.observation.take_asked_of_other(row);
        }
        taken.merge(of_rate);
      }
    }
  }

 private:
  [[nodiscard]] bool records_everything() const {
    const auto& files = selection_->log->files();
    return std::ranges::any_of(files, [](const recording::RecordingFile& file) {
      return std::ranges::all_of(file.head.rates,
                                 [](const recording::Rate& rate) { return rate.patterns.empty(); });
    });
  }

  int take_samples(Selection& selection, const LogOptions& log, DiffSide& side) {
    const auto pace = make_pace(
        selection, waiter_,
        {.interval = invocation_.interval, .duration = std::nullopt, .warm_up = false, .log = log});
    Sampler sampler(selection);
    auto wake = pace->next();
    for (; wake == Wake::kDeadline; wake = pace->next()) {
      sampler.take();
      const Timestamp time = selection.log->time();
      if (side.observation.samples() == 0) side.from_ns = time.realtime_ns;
      if (time.realtime_ns < side.to_ns) ++set_back_;
      side.to_ns = time.realtime_ns;
      side.observation.take(sampler.newer(), sampler.older(), selection.query.version(),
                            selection.catalog(), {selection.log->window_ns()});
    }
    report_passed_over(*pace, console_, std::string(" of ") + name_);
    if (wake == Wake::kStop) return 128 + waiter_.signal();
    if (wake == Wake::kTimeout) {
      complain(console_, "timed out; try: a longer --timeout");
      return kExitTimeout;
    }
    return kExitDone;
  }

  void report_gaps(const recording::Recording& log, const DiffSide& side) {
    std::uint64_t missing = 0;
    for (const recording::Gap& gap : log.gaps()) {
      const bool is_within =
          gap.to.realtime_ns >= side.from_ns && gap.from.realtime_ns <= side.to_ns;
      if (is_within) missing += gap.ticks;
    }
    if (invocation_.quiet) return;
    if (missing != 0) {
      complain(console_,
               fmt::format("{} lacks {}, missed or lost", name_, counted(missing, "sample")));
    }
    if (set_back_ != 0) {
      complain(console_, fmt::format("the clock was set back in {}; samples count in the order in "
                                     "which they were recorded",
                                     name_));
    }
  }

  int check_samples(const recording::Recording& log, const DiffSide& side) {
    const std::uint64_t samples = side.observation.samples();
    if (samples > compare::kBlocksNeeded) return kExitDone;
    const LocalForm form = form_of_range(log.first().realtime_ns, log.last().realtime_ns,
                                         Timestamp::now().realtime_ns);
    complain(
        console_,
        fmt::format("{} has {}, too few to compare; the recording is from {} to {}; "
                    "try: a range with more than {}",
                    name_, counted(samples, "sample"), print_local(log.first().realtime_ns, form),
                    print_local(log.last().realtime_ns, form), compare::kBlocksNeeded));
    return kExitEnvironment;
  }

  const Invocation& invocation_;
  const DiffOptions::Side& typed_;
  const char* name_;  // "A"
  Waiter& waiter_;
  const Console& console_;
  std::optional<Selection> selection_;
  std::uint64_t set_back_ = 0;
};

// The second word is B if there is such a file.
Result<Invocation> with_recordings(Invocation invocation) {
  auto& paths = invocation.selection.paths;
  auto& [a, b, least, shows_all] = invocation.diff;
  a.path = b.path = paths.front();
  paths.erase(paths.begin());
  std::error_code ignored;
  if (!paths.empty() && std::filesystem::exists(paths.front(), ignored)) {
    b.path = paths.front();
    paths.erase(paths.begin());
    return invocation;
  }
  const auto is_whole = [](const DiffOptions::Side& side) {
    return side.from.empty() && side.to.empty();
  };
  if (!is_whole(a) && !is_whole(b)) return invocation;
  return usage(fmt::format("diff: there is no file {}", escape_for_terminal(paths.front())),
               "the path of B, or --a and --b");
}

bool overlap(const DiffSide& a, const DiffSide& b) {
  return a.path == b.path && a.from_ns <= b.to_ns && b.from_ns <= a.to_ns;
}

void remark_on(const DiffSide& a, const DiffSide& b, const Console& console) {
  if (a.from_ns == b.from_ns && a.to_ns == b.to_ns &&
      a.observation.samples() == b.observation.samples()) {
    complain(console, "A and B are of the same time; try: --a and --b");
  } else if (overlap(a, b)) {
    complain(console, "A and B overlap, so that a change is hidden; try: other --a and --b");
  } else if (a.from_ns > b.to_ns) {
    complain(console, "A is later than B: changes are those from the later to the earlier one");
  }
}

}  // namespace

int diff(const Invocation& typed, Console& console) {
  const auto understood = with_recordings(typed);
  if (!understood) {
    complain(console, understood.error());
    return kExitUsage;
  }
  const Invocation& invocation = *understood;
  Waiter waiter(invocation.timeout);
  auto output = Output::open(console, invocation.output);
  if (!output) return code_of_failure(explain_failure(output.error(), waiter, console));
  DiffSide a, b;
  const auto& options = invocation.diff;
  DiffReader reader_a(invocation, options.a, "A", waiter, console);
  if (const int code = reader_a.read(a); code != kExitDone) return code;
  DiffReader reader_b(invocation, options.b, "B", waiter, console);
  if (const int code = reader_b.read(b); code != kExitDone) return code;
  reader_a.look_for_asked_of(reader_b, a);
  reader_b.look_for_asked_of(reader_a, b);
  if (!invocation.quiet) remark_on(a, b, console);
  const auto found = compare::compare(a.observation, b.observation, {.least = options.least});
  RowStyle style = style_of(invocation, console);
  style.time = form_of_range(std::min(a.from_ns, b.from_ns), std::max(a.to_ns, b.to_ns),
                             Timestamp::now().realtime_ns);
  const bool is_json = invocation.format == Format::kJson;
  output->write(is_json ? diff_as_json(a, b, found, options.shows_all)
                        : diff_as_text(a, b, found, options.shows_all, style));
  if (found.findings.empty()) {
    complain(console, "A and B have no counters that can be compared; try: --all");
    return output->finish(kExitEnvironment);
  }
  return output->finish(found.changed() == 0 ? kExitDone : kExitNo);
}

}  // namespace meterbank::cli
