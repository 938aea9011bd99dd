// SPDX-License-Identifier: Apache-2.0
#include "cli/session/log_selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "cli/arguments/option_values.hpp"
#include "cli/format/time_text.hpp"
#include "cli/log/moment_words.hpp"

namespace meterbank::cli {
namespace {

using Patterns = std::vector<std::string>;

// The moments of a log that are wanted. `--at` is the last one; without any of the options it is
// the end of the log. A range that is open has no limit at that side: if the clock was set, the
// first moment of a log need not be its earliest one.
struct LogRange {
  std::uint64_t from_ns = 0, to_ns = 0;
};
Result<LogRange> read_range(const LogOptions& options, const recording::Recording& log) {
  const std::uint64_t first = log.first().realtime_ns;
  const std::uint64_t last = log.last().realtime_ns;
  LogRange range{last, last};
  if (options.has_range()) range = {0, ~std::uint64_t{0}};
  struct Word {
    const std::string& word;
    std::uint64_t& target;
  };
  for (const Word& one : {Word{options.at, range.from_ns}, Word{options.from, range.from_ns},
                          Word{options.to, range.to_ns}}) {
    if (one.word.empty()) continue;
    auto moment = parse_moment(one.word, last);
    if (!moment) return tl::make_unexpected(std::move(moment.error()));
    one.target = *moment;
  }
  // The time of a sample that was printed is the time of that sample.
  if (!options.at.empty() && range.from_ns <= last) {
    range.from_ns = std::min(last_meant_by(options.at, range.from_ns), last);
  }
  // A time of day that is after the end is not that of the day before, if the range begins later.
  if (range.from_ns > range.to_ns) {
    range.to_ns = std::max(range.to_ns, on_day_of(last, options.to).value_or(0));
  }
  const bool is_before_end = options.to.starts_with('-');
  if (!options.to.empty() && !is_before_end) range.to_ns = last_meant_by(options.to, range.to_ns);
  if (range.from_ns > range.to_ns && options.has_range()) {
    return usage(fmt::format("the range ends before it begins: {} is later than {}", options.from,
                             options.to),
                 "the earlier time first");
  }
  const std::uint64_t now_ns = Timestamp::now().realtime_ns;
  if (range.from_ns > last) {
    const LocalForm form = form_of_range(last, range.from_ns, now_ns);
    return fail(ErrorCode::kNotFound,
                fmt::format("{} ends at {}, earlier than {}", options.path, print_local(last, form),
                            print_local(range.from_ns, form)),
                "meterbank log info " + options.path);
  }
  const std::uint64_t wanted = options.has_range() ? range.to_ns : range.from_ns;
  if (wanted < first) {
    const LocalForm form = form_of_range(wanted, first, now_ns);
    return fail(ErrorCode::kNotFound,
                fmt::format("{} begins at {}, later than {}", options.path,
                            print_local(first, form), print_local(wanted, form)),
                "meterbank log info " + options.path);
  }
  return range;
}

std::set<std::string> missing_of(const Query& query) {
  std::set<std::string> missing;
  for (const Unmatched& miss : query.unmatched()) missing.insert(miss.pattern);
  return missing;
}

// Returns those of the missing patterns that match something at a later moment of the range: a
// recording may begin before what it records. Opens the recording once more, because the one that
// is shown counts what it passes.
Result<Patterns> matched_later(const SelectionOptions& options, const Patterns& patterns,
                               const LogRange& range, std::set<std::string> missing,
                               Waiter& waiter) {
  constexpr unsigned kMomentsOfALook = 1024;  // at signals and the timeout
  if (missing.empty()) return Patterns();
  auto log = recording::Recording::open(options.log.path, catalog_options(options));
  if (!log) return tl::make_unexpected(std::move(log.error()));
  log->leave_values_out();
  if (!log->seek(range.from_ns) && !log->next()) return Patterns();
  auto query = Query::compile(log->catalog(), patterns, options.excluded);
  if (!query) return tl::make_unexpected(std::move(query.error()));
  Patterns later;
  for (unsigned count = 1; !missing.empty() && log->next(); ++count) {
    if (log->time().realtime_ns > range.to_ns) break;
    const bool looks = count % kMomentsOfALook == 0;
    if (looks && waiter.wait_until(Clock::now()) != Wake::kDeadline) {
      return fail(ErrorCode::kGone, "stopped while looking for the paths in the recording");
    }
    if (!query->update(log->catalog())) continue;
    const std::set<std::string> still = missing_of(*query);
    std::set_difference(missing.begin(), missing.end(), still.begin(), still.end(),
                        std::back_inserter(later));
    std::erase_if(missing, [&still](const std::string& one) { return !still.contains(one); });
  }
  return later;
}

}  // namespace

Result<Selection> open_log(const SelectionOptions& options, std::vector<std::string> patterns,
                           Waiter& waiter) {
  auto opened = recording::Recording::open(options.log.path, catalog_options(options));
  if (!opened) return tl::make_unexpected(std::move(opened.error()));
  auto log = std::make_unique<recording::Recording>(std::move(*opened));
  const auto range = read_range(options.log, *log);
  if (!range) return tl::make_unexpected(range.error());
  if (!log->seek(range->from_ns) && !log->next()) {
    return fail(ErrorCode::kNotFound, options.log.path + " has no samples that can be read",
                "meterbank log check " + options.log.path);
  }
  auto query = Query::compile(log->catalog(), patterns, options.excluded);
  if (!query) return tl::make_unexpected(std::move(query.error()));
  Selection selection{.live = std::nullopt,
                      .log = std::move(log),
                      .log_from_ns = range->from_ns,
                      .log_to_ns = range->to_ns,
                      .query = std::move(*query),
                      .patterns = std::move(patterns),
                      .callback_timeout = options.callback_timeout,
                      .log_path = options.log.path};
  if (!options.log.has_range()) return selection;
  auto later =
      matched_later(options, selection.patterns, *range, missing_of(selection.query), waiter);
  if (!later) return tl::make_unexpected(std::move(later.error()));
  selection.matched_later = std::move(*later);
  return selection;
}

std::string recorded_host(const recording::Recording& log) {
  return log.files().empty() ? std::string() : log.files().front().head.host;
}

}  // namespace meterbank::cli
