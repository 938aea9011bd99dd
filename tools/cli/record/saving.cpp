// SPDX-License-Identifier: Apache-2.0
#include "cli/record/saving.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>

#include "cli/format/quantity.hpp"
#include "cli/format/time_text.hpp"
#include "cli/record/log_info.hpp"
#include "cli/session/exit_code.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

LocalForm form_of(const record::SavedPart& saved, bool milliseconds = false) {
  return form_of_range(saved.first.realtime_ns, saved.last.realtime_ns,
                       Timestamp::now().realtime_ns, milliseconds);
}

// What is not in the file although it was asked for.
void say_missing_parts(const record::SavedPart& saved, const std::string& path,
                       const Console& console) {
  const auto name = escape_for_terminal(path);
  if (saved.is_late) {
    complain(console, fmt::format("{} ends at {}: the disk is behind; try: meterbank log save",
                                  name, print_local(saved.last.realtime_ns, form_of(saved, true))));
  }
  if (saved.has_more) {
    complain(console, fmt::format("{} begins at {}: what is older has other rates; try: meterbank "
                                  "log cut",
                                  name, print_local(saved.first.realtime_ns, form_of(saved))));
  }
  if (saved.damages > 0) {
    complain(console, fmt::format("{} of the recording cannot be read; try: meterbank log check",
                                  counted(saved.damages, "place")));
  }
}

std::string saved_text(const record::SavedPart& saved, const std::string& path) {
  const LocalForm form = form_of(saved);
  return fmt::format("{} in {}, from {} to {}", counted(saved.ticks, "sample"),
                     escape_for_terminal(path), print_local(saved.first.realtime_ns, form),
                     print_local(saved.last.realtime_ns, form));
}

}  // namespace

int log_save(const Invocation& invocation, Console& console) {
  // A size that a file reaches is an error of a write.
  static_cast<void>(std::signal(SIGXFSZ, SIG_IGN));
  const auto saved = record::save_part({.source = invocation.selection.log.path,
                                        .target = invocation.output,
                                        .last = invocation.log.last});
  if (!saved) {
    complain(console, saved.error());
    return exit_code_of(saved.error().code);
  }
  say_missing_parts(*saved, invocation.output, console);
  if (!invocation.quiet) say(console, saved_text(*saved, invocation.output));
  return saved->damages > 0 ? kExitNo : kExitDone;
}

Saving::Saving(const std::string& directory, std::chrono::nanoseconds last, const Console& console)
    : console_(console), last_ns_(static_cast<std::uint64_t>(last.count())) {
  if (!directory.empty()) saver_.emplace(directory);
}

void Saving::request(Timestamp last_tick) {
  if (!saver_) {
    complain(console_, "SIGUSR1 saves a part of a directory; try: meterbank record -o DIR/");
  } else if (last_tick.realtime_ns == 0) {
    complain(console_, "SIGUSR1: no sample was taken yet; try: again, after the first one");
  } else {
    const std::uint64_t until_ns = last_tick.realtime_ns;
    saver_->request(until_ns - std::min(until_ns, last_ns_), until_ns);
  }
}

void Saving::say_outcomes() {
  if (!saver_) return;
  for (const record::SaveOutcome& outcome : saver_->take_outcomes()) {
    if (!outcome.saved) {
      complain(console_, outcome.saved.error());
      continue;
    }
    say_missing_parts(*outcome.saved, outcome.path, console_);
    say(console_, saved_text(*outcome.saved, outcome.path));
  }
}

void Saving::finish() {
  if (saver_) saver_->finish();
  say_outcomes();
}

}  // namespace meterbank::cli
