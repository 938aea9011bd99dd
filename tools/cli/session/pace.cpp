// SPDX-License-Identifier: Apache-2.0
#include "cli/session/pace.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/format/quantity.hpp"
#include "cli/session/exit_code.hpp"
#include "meterbank/shm/utf8.hpp"

namespace meterbank::cli {
namespace {

class LivePace : public Pace {
 public:
  LivePace(Waiter& waiter, const PaceOptions& options)
      : waiter_(waiter),
        start_(Clock::now()),
        cadence_(start_, options.interval),
        duration_(options.duration) {}

  std::optional<Wake> next() override {
    for (;;) {
      // A changed window size has no effect here, and requests are not waited for.
      const auto wake = waiter_.wait_until(cadence_.next());
      if (wake != Wake::kResize) return wake;
    }
  }
  void done() override { cadence_.advance(Clock::now()); }
  [[nodiscard]] bool shows_first(const Sampler& sampler) const override {
    return !sampler.needs_another();
  }
  [[nodiscard]] bool is_over() const override {
    return duration_ && cadence_.next() > start_ + *duration_;
  }
  [[nodiscard]] std::uint64_t missed() const noexcept override { return cadence_.missed(); }

 private:
  Waiter& waiter_;
  Clock::time_point start_;
  Cadence cadence_;
  std::optional<std::chrono::nanoseconds> duration_;
};

// Moments of a recording: at even distances, each showing the last one that was recorded by then;
// or all that were recorded in a range. No moment is shown twice.
class LogPace : public Pace {
 public:
  LogPace(Selection& selection, Waiter& waiter, const PaceOptions& options)
      : selection_(selection),
        log_(*selection.log),
        waiter_(waiter),
        takes_all_(options.log.has_range() && !options.log.every),
        takes_parts_(options.takes_parts),
        step_ns_(static_cast<std::uint64_t>(options.log.every.value_or(options.interval).count())),
        next_ns_(selection.log_from_ns),
        end_ns_(selection.log_to_ns) {
    const std::uint64_t begin_ns = std::max(next_ns_, log_.first().realtime_ns);
    if (!takes_all_) {
      next_ns_ = begin_ns;
      end_ns_ = std::min(end_ns_, log_.last().realtime_ns);
    }
    if (options.warm_up) {
      warm_up_ns_ = takes_all_ ? moment_before_range() : warm_up_before(begin_ns);
    }
    shows_first_ = !warm_up_ns_;
    if (options.log.every) late_ns_ = late_at_most();
    if (options.duration) {
      const auto duration = static_cast<std::uint64_t>(options.duration->count());
      end_ns_ = std::min(end_ns_, begin_ns + duration);
    }
  }

  std::optional<Wake> next() override {
    if (waiter_.wait_until(Clock::now()) == Wake::kStop) return Wake::kStop;
    if (waiter_.timed_out()) return Wake::kTimeout;
    const bool is_shown = warm_up_ns_  ? show_at(*warm_up_ns_)
                          : takes_all_ ? show_next()
                                       : show_another();
    shown_ns_ = log_.time().realtime_ns;
    if (!is_shown) return std::nullopt;
    return Wake::kDeadline;
  }
  void done() override {
    if (warm_up_ns_) {
      warm_up_ns_.reset();
    } else if (!takes_all_) {
      next_ns_ += step_ns_;
      late_ns_ = late_at_most();
    }
  }
  [[nodiscard]] bool is_over() const override { return !takes_all_ && next_ns_ > end_ns_; }
  [[nodiscard]] std::uint64_t passed_over() const noexcept override { return passed_over_; }
  [[nodiscard]] bool shows_first(const Sampler& /*sampler*/) const override { return shows_first_; }

 private:
  // A recorder takes its samples at even distances, some of them a little late. So the one that
  // belongs to a step may be behind it.
  [[nodiscard]] std::uint64_t late_at_most() const {
    std::uint64_t interval_ns = step_ns_;
    for (const auto& file : log_.files()) {
      for (const auto& rate : file.head.rates) {
        if (rate.interval_ns != 0) interval_ns = std::min(interval_ns, rate.interval_ns);
      }
    }
    constexpr std::uint64_t kPart = 4;
    return interval_ns / kPart;
  }
  // The moment that rates of the one at `realtime_ns` are measured from: one step earlier, and in
  // any case an earlier one. Nothing: the recording has none.
  std::optional<std::uint64_t> warm_up_before(std::uint64_t realtime_ns) {
    if (!show_at(realtime_ns)) return std::nullopt;
    const std::uint64_t before_ns = log_.time().realtime_ns - 1;
    const std::uint64_t wanted_ns = realtime_ns - std::min(realtime_ns, step_ns_);
    if (show_at(std::min(wanted_ns + late_at_most(), before_ns))) return log_.time().realtime_ns;
    // What is earlier was not recorded; the first moment that was stands for it.
    if (!log_.seek(log_.first().realtime_ns)) return std::nullopt;
    while (log_.time().realtime_ns <= before_ns) {
      if (look() == recording::Coverage::kAll) return log_.time().realtime_ns;
      if (!log_.next()) break;
    }
    return std::nullopt;
  }
  // Nothing: the recording has none, and shows what it did.
  std::optional<std::uint64_t> moment_before_range() {
    if (next_ns_ <= log_.first().realtime_ns) return std::nullopt;
    if (show_at(next_ns_ - 1)) return log_.time().realtime_ns;
    static_cast<void>(log_.seek(next_ns_));
    return std::nullopt;
  }
  // The range begins with the moment that is shown, if it is in the range.
  bool show_next() {
    bool is_there = !shown_ns_;
    while (is_there || log_.next()) {
      if (log_.time().realtime_ns > end_ns_) return false;
      if (log_.time().realtime_ns >= next_ns_) {
        const recording::Coverage coverage = look();
        if (coverage == recording::Coverage::kAll) return true;
        if (coverage == recording::Coverage::kSome && takes_parts_) return true;
        if (coverage == recording::Coverage::kSome) ++passed_over_;
      }
      is_there = false;
    }
    return false;
  }
  bool show_another() {
    for (; next_ns_ <= end_ns_; next_ns_ += step_ns_) {
      if (show_at(std::min(next_ns_ + late_ns_, end_ns_)) && log_.time().realtime_ns != shown_ns_)
        return true;
    }
    return false;
  }
  bool show_at(std::uint64_t realtime_ns) { return show_whole_moment(selection_, realtime_ns); }
  recording::Coverage look() {
    selection_.refresh();
    return log_.coverage_of(selection_.query);
  }

  Selection& selection_;
  recording::Recording& log_;
  Waiter& waiter_;
  bool takes_all_;
  bool takes_parts_;
  std::uint64_t step_ns_;
  std::uint64_t next_ns_;
  std::uint64_t end_ns_;
  std::uint64_t late_ns_ = 0;
  std::optional<std::uint64_t> warm_up_ns_;  // until its moment was shown
  bool shows_first_ = true;
  std::optional<std::uint64_t> shown_ns_;
  std::uint64_t passed_over_ = 0;
};

}  // namespace

bool show_whole_moment(Selection& selection, std::uint64_t realtime_ns) {
  recording::Recording& log = *selection.log;
  const auto is_whole = [&] {
    selection.refresh();
    return log.coverage_of(selection.query) == recording::Coverage::kAll;
  };
  if (!log.seek(realtime_ns)) return false;
  if (is_whole()) return true;
  // The samples of two rates may seldom fall together, but chunks begin with one of all rates.
  // Those of merged recordings need not.
  std::uint64_t slowest_ns = 0;
  for (const auto& file : log.files()) {
    for (const auto& rate : file.head.rates) slowest_ns = std::max(slowest_ns, rate.interval_ns);
  }
  std::uint64_t last_ns = 0;
  const std::uint64_t begin_ns = std::min(recording::chunk_before(log.files(), realtime_ns),
                                          realtime_ns - std::min(realtime_ns, 2 * slowest_ns));
  if (!log.seek(begin_ns) && !log.seek(log.first().realtime_ns)) return false;
  while (log.time().realtime_ns <= realtime_ns) {
    if (is_whole()) last_ns = log.time().realtime_ns;
    if (!log.next()) break;
  }
  return last_ns != 0 && log.seek(last_ns);
}

std::unique_ptr<Pace> make_pace(Selection& selection, Waiter& waiter, const PaceOptions& options) {
  if (selection.log != nullptr) return std::make_unique<LogPace>(selection, waiter, options);
  return std::make_unique<LivePace>(waiter, options);
}

Wake await_provider(Sampler& sampler, Waiter& waiter) {
  constexpr auto kStep = std::chrono::milliseconds(20);
  const auto end = Clock::now() + std::chrono::seconds(2);
  while (sampler.awaits_provider() && Clock::now() < end) {
    const auto wake = waiter.wait_until(Clock::now() + kStep);
    if (wake == Wake::kStop || wake == Wake::kTimeout) return wake;
    sampler.retake();
  }
  return Wake::kDeadline;
}

int report_no_moment(const LogOptions& log, const Console& console) {
  const auto path = escape_for_terminal(log.path);
  complain(console,
           fmt::format("{} has no sample of all these counters {}; try: meterbank log info {}, or "
                       "the paths of one rate",
                       path, log.has_range() ? "in this range" : "by this time", path));
  return kExitNo;
}

void report_passed_over(const Pace& pace, const Console& console, std::string_view side) {
  if (pace.passed_over() == 0) return;
  complain(
      console,
      fmt::format("left out {}{}, which lacked some of these counters; try: the paths of one rate",
                  counted(pace.passed_over(), "sample"), side));
}

}  // namespace meterbank::cli
