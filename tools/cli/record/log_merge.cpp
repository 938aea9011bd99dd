// SPDX-License-Identifier: Apache-2.0
#include "cli/record/log_merge.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/format/quantity.hpp"
#include "cli/format/time_text.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/waiter.hpp"
#include "meterbank/shm/utf8.hpp"
#include "record/merge/merge.hpp"
#include "record/new_file.hpp"

namespace meterbank::cli {
namespace {

void say_merged(const record::MergePlan& plan, const record::MergeCounts& counts,
                const std::string& output, Console& console) {
  say(console, fmt::format("{} of {} and {} in {}", counted(counts.written, "sample"),
                           counted(plan.parts.size(), "file"),
                           counted(plan.machines.size(), "host"), escape_for_terminal(output)));
  if (counts.repeated != 0) {
    say(console, fmt::format("{} in several of the files, written once",
                             counted(counts.repeated, "sample")));
  }
  if (counts.joined != 0) {
    say(console, fmt::format("{} written together with one of another recorder, at most {} apart",
                             counted(counts.joined, "sample"),
                             print_duration(static_cast<double>(counts.apart_ns) / 1e9)));
  }
  if (counts.gaps != 0 || counts.marks != 0) {
    say(console,
        fmt::format("{} and {} kept", counted(counts.gaps, "gap"), counted(counts.marks, "mark")));
  }
}

// Who is trusted follows from the user of the recorder, and one recording has one.
void say_users(const record::MergePlan& plan, Console& console) {
  const auto other = std::find_if(plan.parts.begin(), plan.parts.end(),
                                  [&](const auto& part) { return part.head.uid != plan.head.uid; });
  if (other == plan.parts.end()) return;
  complain(console, fmt::format("{} was recorded by user {}; totals are those of user {}, who "
                                "recorded {}",
                                escape_for_terminal(other->path), other->head.uid, plan.head.uid,
                                escape_for_terminal(plan.parts.front().path)));
}

}  // namespace

int log_merge(const Invocation& invocation, Console& console) {
  Waiter waiter(invocation.timeout);
  const auto refuse = [&](const Error& error) {
    complain(console, error);
    return exit_code_of(error.code);
  };
  auto file = record::NewFile::at(invocation.output);
  if (!file) return refuse(file.error());
  const auto plan = record::plan_merge(invocation.log.inputs, "meterbank " METERBANK_VERSION);
  if (!plan) return refuse(plan.error());
  auto files =
      record::RingFiles::open({.path = file->temporary(), .shown = file->path()}, plan->head);
  if (!files) return refuse(files.error());
  auto counts = record::merge_recordings(*plan, *files, [&] {
    return waiter.wait_until(Clock::now()) == Wake::kStop || waiter.timed_out();
  });
  if (!counts) return refuse(counts.error());
  if (counts->was_stopped) {
    if (!waiter.timed_out()) return 128 + waiter.signal();
    complain(console, "timed out; try: a longer --timeout");
    return kExitTimeout;
  }
  if (auto kept = file->keep(); !kept) return refuse(kept.error());
  if (!invocation.quiet) say_merged(*plan, *counts, invocation.output, console);
  say_users(*plan, console);
  for (const std::string& problem : counts->problems) {
    complain(console, fmt::format("not merged: {}", escape_for_terminal(problem)));
  }
  return counts->problems.empty() ? kExitDone : kExitNo;
}

}  // namespace meterbank::cli
