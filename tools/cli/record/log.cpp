// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "cli/convert/conversions.hpp"
#include "cli/format/quantity.hpp"
#include "cli/format/time_text.hpp"
#include "cli/record/log_info.hpp"
#include "cli/record/log_merge.hpp"
#include "cli/record/saving.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/pace.hpp"
#include "cli/verbs.hpp"
#include "meterbank/recording/tick_writer.hpp"
#include "meterbank/shm/utf8.hpp"
#include "record/new_file.hpp"
#include "record/ring_files.hpp"

namespace meterbank::cli {
namespace {

// All samples of the log, or those of a range, in a format of get.
int convert(const Invocation& invocation, Console& console) {
  switch (invocation.log.conversion) {
    case Conversion::kOpenMetrics:
      return convert_to_openmetrics(invocation, console);
    case Conversion::kPcp:
      return convert_to_pcp(invocation, console);
    case Conversion::kPerfetto:
      return convert_to_perfetto(invocation, console);
    case Conversion::kSqlite:
      return convert_to_sqlite(invocation, console);
    case Conversion::kFromTable:
      return convert_from_table(invocation, console);
    case Conversion::kRows:
      break;
  }
  Invocation all = invocation;
  all.selection.log.mean_all_by_default();
  all.verb = Verb::kGet;
  all.wants_all_of_log = true;
  all.percentiles = *parse_percentiles(kUsualPercentiles);
  if (all.raw) all.percentiles = {};
  return get(all, console);
}

// Writes the moments of a selection as a recording of its own.
class Cutter {
 public:
  Cutter(Selection& selection, record::RingFiles& files) : selection_(selection), files_(files) {}

  Result<void> take() {
    const auto& log = *selection_.log;
    selection_.refresh();
    selection_.query.collect(sample_, log.time());
    const recording::RateInput rate{&selection_.query, &sample_};
    bytes_.clear();
    writer_.tick({log.catalog(), {&rate, 1}, log.time(), log.window_ns()}, schemas_, bytes_);
    ++ticks_;
    return files_.write(bytes_);
  }
  [[nodiscard]] std::uint64_t ticks() const noexcept { return ticks_; }

 private:
  Selection& selection_;
  record::RingFiles& files_;
  Sample sample_;
  recording::TickWriter writer_;
  recording::SchemaNumbers schemas_;
  std::string bytes_;
  std::uint64_t ticks_ = 0;
};

int cut(const Invocation& invocation, Console& console) {
  Waiter waiter(invocation.timeout);
  auto options = invocation.selection;
  options.log.mean_all_by_default();
  auto selection = Selection::open(options, waiter);
  if (!selection) return explain_failure(selection.error(), waiter, console);
  if (const int missing = report_missing(*selection, console);
      missing != kExitDone && selection->has_nothing()) {
    return missing;
  }
  recording::Head head = selection->log->files().front().head;
  head.sequence = 0;
  // It has the samples that all of the selection was in.
  const std::uint64_t interval_ns = head.rates.size() == 1 ? head.rates.front().interval_ns : 0;
  head.rates = {{interval_ns, fmt::format("{}", fmt::join(selection->patterns, "\n"))}};
  auto file = record::NewFile::at(invocation.output);
  if (!file) return explain_failure(file.error(), waiter, console);
  auto files =
      record::RingFiles::open({.path = file->temporary(), .shown = file->path()}, std::move(head));
  if (!files) return explain_failure(files.error(), waiter, console);
  const auto pace = make_pace(*selection, waiter,
                              {.interval = invocation.interval,
                               .duration = std::nullopt,
                               .warm_up = false,
                               .log = options.log});
  Cutter cutter(*selection, *files);
  auto wake = pace->next();
  for (; wake == Wake::kDeadline; wake = pace->next()) {
    if (auto taken = cutter.take(); !taken) {
      return explain_failure(taken.error(), waiter, console);
    }
  }
  files->end_file();
  if (wake == Wake::kStop) return 128 + waiter.signal();
  if (wake == Wake::kTimeout) {
    complain(console, "timed out; try: a longer --timeout");
    return kExitTimeout;
  }
  const int damages = report_damages(*selection, console);
  report_passed_over(*pace, console);
  if (cutter.ticks() == 0) return report_no_moment(options.log, console);
  if (auto kept = file->keep(); !kept) return explain_failure(kept.error(), waiter, console);
  if (!invocation.quiet) {
    say(console, fmt::format("{} in {}", counted(cutter.ticks(), "sample"),
                             escape_for_terminal(invocation.output)));
  }
  return damages;
}

}  // namespace

int log(const Invocation& invocation, Console& console) {
  switch (invocation.log.action) {
    case LogAction::kInfo:
      return log_info(invocation, console);
    case LogAction::kCheck:
      return log_check(invocation, console);
    case LogAction::kCut:
      return cut(invocation, console);
    case LogAction::kMerge:
      return log_merge(invocation, console);
    case LogAction::kSave:
      return log_save(invocation, console);
    case LogAction::kConvert:
      return convert(invocation, console);
  }
  return kExitUsage;
}

}  // namespace meterbank::cli
