// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

#include "cli/format/time_text.hpp"
#include "cli/pmu/actions.hpp"
#include "cli/pmu/arbiter_access.hpp"
#include "cli/pmu/lease_session.hpp"
#include "cli/pmu/run/command_process.hpp"
#include "cli/pmu/run/counts.hpp"
#include "cli/pmu/run/task_lease.hpp"
#include "cli/session/exit_code.hpp"
#include "cli/session/output.hpp"
#include "cli/verbs.hpp"

namespace meterbank::cli {
namespace {

// What is not delegated is asked for so often, so that little is missing of the end.
constexpr auto kAskPeriod = std::chrono::milliseconds(100);

std::string command_text(const std::vector<std::string>& command) {
  return fmt::format("{}", fmt::join(command, " "));
}

// Where counts come from.
class Source {
 public:
  Source() = default;
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  virtual ~Source() = default;
  virtual std::optional<Counts> read() = 0;
  // read() is to be called so often; zero: at the end is enough.
  [[nodiscard]] virtual std::chrono::nanoseconds period() const { return {}; }
};

class CpuSource final : public Source {
 public:
  explicit CpuSource(LeaseSession& session) : session_(&session) {}
  std::optional<Counts> read() override {
    auto values = session_->lease().read();
    if (!values) return std::nullopt;
    return Counts{values->head.quality, std::move(values->values)};
  }

 private:
  LeaseSession* session_;
};

class TaskSource final : public Source {
 public:
  explicit TaskSource(TaskLease lease) : lease_(std::move(lease)) {}
  std::optional<Counts> read() override { return lease_.read(); }
  [[nodiscard]] std::chrono::nanoseconds period() const override {
    return lease_.is_exact_at_end() ? std::chrono::nanoseconds{} : kAskPeriod;
  }

 private:
  TaskLease lease_;
};

// Runs the command that waits to be let go, and says what was counted meanwhile.
class Run {
 public:
  Run(const Invocation& invocation, Console& console, Waiter& waiter, Source& source,
      CommandProcess& process)
      : invocation_(&invocation),
        console_(&console),
        // A command has standard output for itself.
        words_{console.err, console.err, console.err_is_terminal, console.err_is_terminal,
               console.columns},
        waiter_(&waiter),
        source_(&source),
        process_(&process) {}

  int go() {
    auto output = Output::open(words_, invocation_->output);
    if (!output) {
      complain(*console_, output.error());
      return kExitEnvironment;
    }
    output_ = &*output;
    const auto first = source_->read();
    last_ = first;
    began_ = shown_at_ = Clock::now();
    if (auto gone = process_->let_go(); !gone) {
      complain(*console_, gone.error());
      return gone.error().code == ErrorCode::kNotFound ? kExitNoSuchCommand : kExitCannotRun;
    }
    wait_for_end();
    const auto ended = Clock::now();
    const auto end = source_->read();
    const int code = process_->finish();
    if (invocation_->pmu.interval) {
      show_interval(end, ended);
    } else {
      show(first, end, std::chrono::duration<double>(ended - began_).count(), code);
    }
    return output_->finish(code);
  }

 private:
  void wait_for_end() {
    const auto period = source_->period();
    const auto& interval = invocation_->pmu.interval;
    auto next_show = interval ? began_ + *interval : Clock::time_point::max();
    for (;;) {
      auto next = next_show;
      if (period.count() > 0) next = std::min(next, Clock::now() + period);
      switch (waiter_->wait_until(next, process_->descriptor())) {
        case Wake::kInput:
          return;
        case Wake::kDeadline:
          if (Clock::now() < next_show) {
            static_cast<void>(source_->read());
            break;
          }
          show_interval(source_->read(), Clock::now());
          next_show += *interval;
          break;
        // Ctrl-C and the like are the command's as well: how it ends is its answer.
        case Wake::kStop:
        case Wake::kTimeout:
          process_->pass_on(waiter_->signal());
          process_->wait();
          return;
        case Wake::kResize:
        case Wake::kRequest:
          break;
      }
    }
  }

  std::string what_was_counted() const {
    const auto& v = invocation_->pmu;
    if (!v.cpus.empty()) return "all on CPU " + v.cpus;
    if (v.duty_permille < 1000) return "its first thread: what takes turns is not inherited";
    return "all its threads and children";
  }

  RowStyle style() const {
    auto style = style_of(*invocation_, words_);
    if (invocation_->format == Format::kAuto) style.format = Format::kTable;
    return style;
  }

  Counts shown(const Counts& counts) const {
    return invocation_->pmu.per_cpu ? counts : added_up(counts);
  }

  void show_interval(const std::optional<Counts>& now, Clock::time_point at) {
    const double seconds = std::chrono::duration<double>(at - shown_at_).count();
    shown_at_ = at;
    const auto before = std::exchange(last_, now);
    if (!before || !now) return;
    std::string text = print_counts(
        shown(since(*before, *now)), invocation_->pmu.events,
        {.seconds = seconds, .elapsed_s = std::chrono::duration<double>(at - began_).count()},
        style());
    // Headings once; a document of JSON for each interval.
    const bool has_headings = style().format != Format::kJson && style().format != Format::kPlain;
    if (has_headings && has_shown_) text.erase(0, text.find('\n') + 1);
    has_shown_ = true;
    if (output_->write(text)) output_->end_sample();
  }

  void show(const std::optional<Counts>& first, const std::optional<Counts>& last, double seconds,
            int code) {
    if (!first || !last) {
      complain(*console_, "the counters were lost before the command ended; try: --wait 30s");
      return;
    }
    const Counts counts = since(*first, *last);
    const auto& v = invocation_->pmu;
    const bool people = style().format == Format::kTable;
    if (people) {
      output_->write(fmt::format("\n{}\n{}, exit {}, counted {}\n\n",
                                 escape_for_terminal(command_text(v.command)),
                                 print_duration(seconds), code, what_was_counted()));
    }
    output_->write(print_counts(shown(counts), v.events, {.seconds = seconds}, style()));
    if (people) {
      const auto ratio = print_ratio(counts, v.events);
      if (!ratio.empty()) output_->write("\n" + ratio);
    }
  }

  const Invocation* invocation_;
  Console* console_;
  Console words_;
  Waiter* waiter_;
  Source* source_;
  CommandProcess* process_;
  Output* output_ = nullptr;
  Clock::time_point began_, shown_at_;
  std::optional<Counts> last_;
  bool has_shown_ = false;
};

int run_on_cpus(const Invocation& invocation, Console& console, Waiter& waiter) {
  LeaseSession session(invocation, console, waiter);
  if (!session.acquire(request_of(invocation.pmu, command_text(invocation.pmu.command)))) {
    return session.code();
  }
  auto process = CommandProcess::start(invocation.pmu.command, {});
  if (!process) {
    complain(console, process.error());
    return kExitEnvironment;
  }
  CpuSource source(session);
  return Run(invocation, console, waiter, source, *process).go();
}

// Waits for the answer that the command's process got.
bool wait_for_grant(TaskLease& lease, const Invocation& invocation, const Console& console,
                    Waiter& waiter, int& code) {
  for (;;) {
    const auto wake = waiter.wait_until(Clock::time_point::max(), lease.descriptor());
    if (wake == Wake::kStop || wake == Wake::kTimeout) {
      code = wake == Wake::kStop ? 128 + waiter.signal() : kExitTimeout;
      return false;
    }
    switch (lease.take()) {
      case TaskLease::Progress::kAsking:
        break;
      case TaskLease::Progress::kQueued:
        if (!invocation.quiet) complain(console, queued_text(lease.queued()));
        break;
      case TaskLease::Progress::kGranted:
        return true;
      case TaskLease::Progress::kRefused:
        code = report_refusal(console, lease.refusal(), remedies_of(invocation.pmu));
        return false;
    }
  }
}

int run_on_task(const Invocation& invocation, Console& console, Waiter& waiter) {
  // Whether there is an arbiter is better said here than there.
  if (const auto connection = connect_to_arbiter(invocation); !connection) {
    complain(console, connection.error());
    return kExitEnvironment;
  }
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) != 0) {
    complain(console, Error{ErrorCode::kSystem, errno, "cannot make a pair of sockets", ""});
    return kExitEnvironment;
  }
  UniqueFd mine(ends[0]);
  UniqueFd childs(ends[1]);
  const auto request = request_of(invocation.pmu, command_text(invocation.pmu.command));
  auto process = CommandProcess::start(invocation.pmu.command, [&] {
    mine.reset();
    ask_for_own_thread(arbiter_socket(invocation), request, childs.get());
    childs.reset();
  });
  if (!process) {
    complain(console, process.error());
    return kExitEnvironment;
  }
  childs.reset();
  TaskLease lease(std::move(mine));
  int code = kExitDone;
  if (!wait_for_grant(lease, invocation, console, waiter, code)) return code;
  TaskSource source(std::move(lease));
  return Run(invocation, console, waiter, source, *process).go();
}

}  // namespace

int pmu_run(const Invocation& invocation, Console& console) {
  // Text that waits here would be in the command's process as well.
  console.out.flush();
  console.err.flush();
  Waiter waiter(invocation.timeout);
  return invocation.pmu.cpus.empty() ? run_on_task(invocation, console, waiter)
                                     : run_on_cpus(invocation, console, waiter);
}

}  // namespace meterbank::cli
