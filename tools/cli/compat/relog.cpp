// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/compat/output_file.hpp"
#include "meterbank/pdh_log/log_filter.hpp"
#include "meterbank/pdh_log/log_merge.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/output.hpp"
#include "cli/verbs.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

int refuse(const Error& error, const Console& console) {
  complain(console, error);
  return exit_code_of(error.code);
}

// Records that the options ask for, one after the other.
class Cut {
 public:
  Cut(LogMerge& log, const RelogOptions& options) : log_(&log), options_(&options) {}

  Result<bool> next(LogRecord& record) {
    for (;;) {
      auto more = log_->next(record);
      if (!more || !*more) return more;
      if (options_->begin && record.time < *options_->begin) continue;
      if (options_->end && record.time > *options_->end) continue;
      if (seen_++ % options_->every == 0) return true;
    }
  }

 private:
  LogMerge* log_;
  const RelogOptions* options_;
  std::uint64_t seen_ = 0;
};

// The columns to keep, or an exit code because nothing is left. A path that matches nothing is
// named and makes `missing` kExitNo.
std::optional<std::vector<std::size_t>> choose_columns(const LogHeader& header,
                                                       const std::vector<std::string>& patterns,
                                                       const Console& console, int& code) {
  auto choice = choose_log_columns(header.paths, patterns);
  if (!choice) {
    code = refuse(choice.error(), console);
    return std::nullopt;
  }
  for (const auto& pattern : choice->unmatched) {
    complain(console,
             fmt::format("no counter of the log matches '{}'; try: -q, to list them", pattern));
    code = kExitNo;
  }
  if (choice->columns.empty() && !patterns.empty()) return std::nullopt;
  return std::move(choice->columns);
}

std::vector<std::string> chosen(const std::vector<std::string>& all,
                                const std::vector<std::size_t>& columns) {
  std::vector<std::string> some;
  some.reserve(columns.size());
  for (const auto column : columns) some.push_back(all[column]);
  return some;
}

std::string_view format_name(LogFormat format) { return format == LogFormat::kCsv ? "CSV" : "TSV"; }

// -q: files, range of time, counters. With -o, the file gets the counters alone, for a later -cf.
int describe(const Invocation& invocation, const LogMerge& log, Cut& cut,
             const std::vector<std::string>& paths, Console& console) {
  std::optional<LogTime> first;
  LogTime last;
  std::uint64_t records = 0;
  LogRecord record;
  for (;;) {
    const auto more = cut.next(record);
    if (!more) return refuse(more.error(), console);
    if (!*more) break;
    if (!first) first = record.time;
    last = record.time;
    ++records;
  }
  std::string text;
  if (invocation.output.empty()) {
    text += "Files:\n";
    const auto& files = invocation.relog.inputs;
    for (std::size_t i = 0; i < files.size(); ++i) {
      text += fmt::format("     {} ({})\n", escape_for_terminal(files[i]),
                          format_name(log.format_of(i)));
    }
    text += fmt::format("Begin:    {}\nEnd:      {}\nSamples:  {}\n\n",
                        first ? print_log_time(*first) : "-", first ? print_log_time(last) : "-",
                        records);
  }
  // What a log names was cleaned by the program that wrote it, or is made harmless here.
  for (const auto& path : paths) text += escape_composed(path, Composed::kLine) + "\n";
  auto output = Output::open(console, invocation.output);
  if (!output) return refuse(output.error(), console);
  output->write(text);
  return output->finish(kExitDone);
}

int rewrite(const Invocation& invocation, const LogMerge& log, Cut& cut,
            const std::vector<std::size_t>& columns, Console& console) {
  LogHeader header = log.header();
  header.format = invocation.relog.format.value_or(header.format);
  header.paths = chosen(header.paths, columns);
  LogRecord record;
  auto more = cut.next(record);
  if (!more) return refuse(more.error(), console);
  if (!*more && (invocation.relog.begin || invocation.relog.end)) {
    complain(console, "no record of the log lies between -b and -e; try: -q, to see its range");
    return kExitNo;
  }
  auto output = Output::open(console, invocation.output);
  if (!output) return refuse(output.error(), console);
  bool taken = output->write(print_log_header(header));
  while (taken && *more) {
    record.values = chosen(record.values, columns);
    taken = output->write(print_log_record(header.format, record));
    more = cut.next(record);
    // The file that was begun vanishes with `output`; half a log would look like a whole one.
    if (!more) return refuse(more.error(), console);
  }
  return output->finish(kExitDone);
}

}  // namespace

int relog(const Invocation& invocation, Console& console) {
  if (const int answer = ask_to_replace(invocation, console); answer != kExitDone) return answer;
  const auto patterns = gather_paths(invocation.selection);
  if (!patterns) return refuse(patterns.error(), console);
  auto log = LogMerge::open(invocation.relog.inputs);
  if (!log) return refuse(log.error(), console);
  int code = kExitDone;
  const auto columns = choose_columns(log->header(), *patterns, console, code);
  if (!columns) return code;
  Cut cut(*log, invocation.relog);
  const int done = invocation.relog.lists ? describe(invocation, *log, cut,
                                                     chosen(log->header().paths, *columns), console)
                                          : rewrite(invocation, *log, cut, *columns, console);
  return done != kExitDone ? done : code;
}

}  // namespace meterbank::cli
