// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>

#include "cli/arguments/option_values.hpp"
#include "cli/format/quantity.hpp"
#include "cli/format/time_text.hpp"
#include "cli/pmu/run/command_process.hpp"
#include "cli/record/saving.hpp"
#include "cli/record/trigger.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/left_out.hpp"
#include "cli/verbs.hpp"
#include "meterbank/shm/utf8.hpp"
#include "record/recorder.hpp"

namespace meterbank::cli {
namespace {

// Of a directory, if nothing else is said: a day of a thousand counters at one second.
constexpr std::uint64_t kUsualRing = std::uint64_t{256} << 20U;

bool is_directory(const std::string& path) {
  struct stat facts {};
  return path.ends_with('/') || (::stat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode));
}

record::AppenderOptions file_options(const Invocation& invocation) {
  record::AppenderOptions files;
  files.path = invocation.output;
  files.is_ring = is_directory(files.path) || invocation.record.has_limits();
  while (files.path.size() > 1 && files.path.ends_with('/')) files.path.pop_back();
  if (!files.is_ring) return files;
  const auto& age = invocation.record.age_max;
  files.bytes_max = invocation.record.bytes_max.value_or(age ? 0 : kUsualRing);
  if (age) files.age_max_ns = static_cast<std::uint64_t>(age->count());
  if (!invocation.record.when.empty()) {
    // Until something holds, no more is kept than may be saved.
    const auto least = static_cast<std::uint64_t>(age_for_events(invocation.record).count());
    files.age_max_ns = std::max(files.age_max_ns, least);
  }
  return files;
}

Result<record::RecorderOptions> recorder_options(const Invocation& invocation) {
  auto patterns = gather_paths(invocation.selection);
  if (!patterns) return tl::make_unexpected(std::move(patterns.error()));
  record::RecorderOptions options;
  options.catalog = catalog_options(invocation.selection);
  options.files = file_options(invocation);
  options.program = "meterbank " METERBANK_VERSION;
  options.callback_timeout =
      std::chrono::duration_cast<std::chrono::milliseconds>(invocation.selection.callback_timeout);
  // Rates that were asked for come first, so that they have what both select.
  for (const auto& rate : invocation.record.rates) {
    options.rates.push_back({{rate.pattern}, invocation.selection.excluded, rate.interval});
  }
  options.rates.push_back(
      {*std::move(patterns), invocation.selection.excluded, invocation.interval});
  return options;
}

// A size that a file reaches is an error of a write here, and no end of the program.
void ignore_file_size_signal() { static_cast<void>(std::signal(SIGXFSZ, SIG_IGN)); }

class RecordSession {
 public:
  RecordSession(const Invocation& invocation, Console& console, Waiter& waiter,
                record::Recorder& recorder, Saving& saving, Trigger* trigger)
      : invocation_(invocation),
        console_(console),
        waiter_(waiter),
        recorder_(recorder),
        saving_(saving),
        trigger_(trigger) {}

  int run() {
    std::optional<CommandProcess> process;
    if (!invocation_.record.command.empty()) {
      auto started = CommandProcess::start(invocation_.record.command, [] {});
      if (!started) return explain_failure(started.error(), waiter_, console_);
      process.emplace(std::move(*started));
      // The first sample is of before, the last one of after.
      recorder_.tick_everything();
      if (auto gone = process->let_go(); !gone) {
        complain(console_, gone.error());
        // The recording of nothing would be in the way of the next try.
        is_of_nothing_ = true;
        return gone.error().code == ErrorCode::kNotFound ? kExitNoSuchCommand : kExitCannotRun;
      }
    }
    const int code = take_ticks(process ? &*process : nullptr);
    const int ended = process ? process->finish() : kExitDone;
    return code != kExitDone ? code : ended;
  }

  [[nodiscard]] bool is_of_nothing() const noexcept { return is_of_nothing_; }

 private:
  int take_ticks(CommandProcess* process) {
    const auto end =
        invocation_.duration ? Clock::now() + *invocation_.duration : Clock::time_point::max();
    const std::uint64_t most = invocation_.samples.value_or(0);
    for (;;) {
      switch (waiter_.wait_until(std::min(recorder_.next(), end),
                                 process == nullptr ? -1 : process->descriptor())) {
        case Wake::kInput:
          recorder_.tick_everything();
          return kExitDone;
        case Wake::kStop:
          if (process == nullptr) return kExitDone;
          // It ends in its own time, which belongs to the recording.
          process->pass_on(waiter_.take_signal());
          break;
        case Wake::kTimeout:
          if (process != nullptr) process->pass_on(SIGTERM);
          complain(console_, "timed out; what was recorded is kept");
          return kExitTimeout;
        case Wake::kDeadline:
          if (Clock::now() >= end) return kExitDone;
          recorder_.tick();
          say_losses();
          if (trigger_ != nullptr) trigger_->look(recorder_.last_tick(), saving_, console_);
          saving_.say_outcomes();
          if (most != 0 && recorder_.counts().ticks >= most) return kExitDone;
          break;
        case Wake::kRequest:
          saving_.request(recorder_.last_tick());
          break;
        case Wake::kResize:
          break;
      }
    }
  }

  void say_losses() {
    const auto files = recorder_.file_counts();
    if (losses_.look_at(files, Clock::now()) == record::LossWatch::Change::kBegins) {
      complain(console_, fmt::format("samples are lost: {}", files.last_error.message()));
    }
  }

  const Invocation& invocation_;
  Console& console_;
  Waiter& waiter_;
  record::Recorder& recorder_;
  Saving& saving_;
  Trigger* trigger_;  // null: nothing is waited for
  record::LossWatch losses_;
  bool is_of_nothing_ = false;
};

// "60 samples, 1,204 values each, 31 KiB" and what is missing.
void say_result(const record::Recorder& recorder, const std::string& path, const Console& console) {
  const auto counts = recorder.counts();
  const auto files = recorder.file_counts();
  const auto size = print_quantity(static_cast<double>(files.bytes), "By");
  std::string text = fmt::format("{} of {} in {}: {}", counted(counts.ticks, "sample"),
                                 counted(counts.rows, "row"), escape_for_terminal(path), size);
  if (counts.values != 0) {
    text += fmt::format(", {:.2f} bytes a value",
                        static_cast<double>(files.bytes) / static_cast<double>(counts.values));
  }
  say(console, text);
}

void say_missing(const record::Recorder& recorder, const Console& console) {
  const auto counts = recorder.counts();
  if (counts.missed != 0) {
    complain(console, fmt::format("missed {} of {}; try: a longer -i", counts.missed,
                                  counted(counts.missed + counts.ticks, "sample")));
  }
  const auto files = recorder.file_counts();
  if (files.lost != 0) {
    complain(console, fmt::format("lost {} of {}: {}", files.lost, counted(counts.ticks, "sample"),
                                  files.last_error.message()));
  }
  if (counts.left_out != 0) {
    complain(console, fmt::format("left out {} for too large a description",
                                  counted(counts.left_out, "counterset")));
  }
}

// What the patterns select when recording begins. More may come later, so nothing is no error.
void say_selection(const record::Recorder& recorder, std::size_t rates,
                   const Invocation& invocation, const Console& console) {
  for (std::size_t rate = 0; rate < rates; ++rate) {
    for (const Unmatched& miss : recorder.query(rate).unmatched()) {
      complain(console, fmt::format("nothing matches '{}' now; what matches later is recorded",
                                    escape_for_terminal(miss.pattern)));
    }
  }
  if (recorder.catalog().providers().empty()) {
    complain(console, fmt::format("no provider found in {}; those that start later are recorded",
                                  fmt::join(recorder.catalog().directories(), " or ")));
  }
  static_cast<void>(report_left_out(recorder.catalog(), console));
  if (!invocation.quiet && console.err_is_terminal && invocation.record.command.empty()) {
    say(console,
        fmt::format("recording to {}; stop with Ctrl-C", escape_for_terminal(invocation.output)));
  }
}

}  // namespace

int record(const Invocation& invocation, Console& console) {
  // Before any thread, so that every thread leaves the signals to this one.
  Waiter waiter(invocation.timeout);
  waiter.wait_for_requests();
  ignore_file_size_signal();
  auto options = recorder_options(invocation);
  if (!options) return explain_failure(options.error(), waiter, console);
  const std::size_t rates = options->rates.size();
  const std::string path = options->files.path;
  const bool is_ring = options->files.is_ring;
  std::optional<Trigger> trigger;
  if (!invocation.record.when.empty()) {
    if (!is_ring) {
      complain(console, usage("--when is about a directory", "-o DIR/").value());
      return kExitUsage;
    }
    auto opened = Trigger::open(invocation.record, invocation.selection, waiter);
    if (!opened) return explain_failure(opened.error(), waiter, console);
    trigger.emplace(*std::move(opened));
    trigger->say_unmatched(console);
  }
  auto recorder = record::Recorder::open(std::move(*options));
  if (!recorder) return explain_failure(recorder.error(), waiter, console);
  say_selection(*recorder, rates, invocation, console);
  Saving saving(is_ring ? path : std::string(), invocation.record.last, console);
  RecordSession session(invocation, console, waiter, *recorder, saving,
                        trigger ? &*trigger : nullptr);
  int code = session.run();
  if (trigger) trigger->finish(saving);
  // The ring is still there.
  saving.finish();
  if (auto ended = recorder->finish(); !ended) {
    complain(console, ended.error());
    if (code == kExitDone) code = kExitEnvironment;
  }
  if (session.is_of_nothing() && !is_ring) {
    ::unlink(path.c_str());
    return code;
  }
  if (!invocation.quiet) say_result(*recorder, path, console);
  say_missing(*recorder, console);
  const bool is_whole = recorder->file_counts().lost == 0;
  return code == kExitDone && !is_whole ? kExitEnvironment : code;
}

}  // namespace meterbank::cli
