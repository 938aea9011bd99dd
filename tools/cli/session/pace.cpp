// SPDX-License-Identifier: Apache-2.0
#include "cli/session/pace.hpp"

#include <algorithm>

namespace meterbank::cli {
namespace {

class LivePace : public Pace {
 public:
  LivePace(Waiter& waiter, const PaceOptions& options)
      : waiter_(waiter),
        start_(Clock::now()),
        cadence_(start_, options.interval),
        duration_(options.duration) {}

  Wake next() override {
    for (;;) {
      // A changed window size has no effect here.
      const auto wake = waiter_.wait_until(cadence_.next());
      if (wake != Wake::kResize) return wake;
    }
  }
  void done() override { cadence_.advance(Clock::now()); }
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

// Moments of a recording: at even distances, each showing the last one that was recorded by then; or
// all that were recorded in a range.
class LogPace : public Pace {
 public:
  LogPace(Selection& selection, Waiter& waiter, const PaceOptions& options)
      : selection_(selection),
        waiter_(waiter),
        takes_all_(options.log.has_range() && !options.log.every),
        step_ns_(static_cast<std::uint64_t>(options.log.every.value_or(options.interval).count())),
        next_ns_(selection.log_from_ns),
        end_ns_(selection.log_to_ns) {
    if (options.warm_up) next_ns_ -= std::min(next_ns_, step_ns_);
    if (options.duration) {
      const auto duration = static_cast<std::uint64_t>(options.duration->count());
      end_ns_ = std::min(end_ns_, selection.log_from_ns + duration);
    }
  }

  Wake next() override {
    if (waiter_.wait_until(Clock::now()) == Wake::kStop) return Wake::kStop;
    if (waiter_.timed_out()) return Wake::kTimeout;
    return (takes_all_ ? show_next() : show_at(next_ns_)) ? Wake::kDeadline : Wake::kEnd;
  }
  void done() override { next_ns_ += step_ns_; }
  [[nodiscard]] bool is_over() const override { return !takes_all_ && next_ns_ > end_ns_; }

 private:
  // The range begins with the moment that is shown, if it is in the range.
  bool show_next() {
    auto& log = *selection_.log;
    const bool is_first = !std::exchange(has_begun_, true);
    if (is_first && log.time().realtime_ns >= selection_.log_from_ns && is_wanted()) return true;
    while (log.next()) {
      if (log.time().realtime_ns > end_ns_) return false;
      if (is_wanted()) return true;
    }
    return false;
  }
  bool show_at(std::uint64_t realtime_ns) {
    auto& log = *selection_.log;
    // Before the beginning, the first moment stands for the one that was not recorded.
    if (!log.seek(realtime_ns)) return log.is_somewhere();
    return true;
  }
  bool is_wanted() {
    selection_.refresh();
    return selection_.log->has_all_of(selection_.query);
  }

  Selection& selection_;
  Waiter& waiter_;
  bool takes_all_;
  bool has_begun_ = false;
  std::uint64_t step_ns_;
  std::uint64_t next_ns_;
  std::uint64_t end_ns_;
};

}  // namespace

std::unique_ptr<Pace> make_pace(Selection& selection, Waiter& waiter, const PaceOptions& options) {
  if (selection.log != nullptr) return std::make_unique<LogPace>(selection, waiter, options);
  return std::make_unique<LivePace>(waiter, options);
}

}  // namespace meterbank::cli
