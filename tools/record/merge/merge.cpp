// SPDX-License-Identifier: Apache-2.0
#include "record/merge/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <set>
#include <utility>

#include "meterbank/recording/tick_writer.hpp"
#include "meterbank/shm/utf8.hpp"
#include "record/merge/merged_view.hpp"

namespace meterbank::record {
namespace {

using recording::Recording;

constexpr std::uint64_t kMillisecond = 1'000'000;

// A boot of a machine, and where its times are on the clock of the merged recording.
struct MergedClock {
  bool is_known = false;
  std::uint64_t ahead = 0;        // of the merged clock, when it was first seen; modulo 2^64
  Timestamp last;                 // as its machine had it
  std::uint64_t last_merged = 0;  // the same on the merged clock
};

struct OpenPart {
  const PlannedPart* plan = nullptr;
  std::size_t number = 0;
  std::unique_ptr<Recording> recording;
  std::size_t gaps = 0, marks = 0, damages = 0;  // that were told
};

class Merger {
 public:
  Merger(const MergePlan& plan, RingFiles& files) : plan_(plan), files_(files) {
    clocks_.resize(plan.clocks);
    const std::uint64_t tenth = plan.shortest_ns / 10;
    together_ns_ = tenth == 0 ? kMillisecond : tenth;
    counts_.problems = plan.problems;
  }

  Result<MergeCounts> run(const std::function<bool()>& stop) {
    for (open_due_parts(); !open_.empty(); open_due_parts()) {
      if (stop()) {
        counts_.was_stopped = true;
        return std::move(counts_);
      }
      if (auto taken = take_moment(); !taken) return tl::make_unexpected(std::move(taken.error()));
    }
    if (auto written = write(); !written) return tl::make_unexpected(std::move(written.error()));
    files_.end_file();
    return std::move(counts_);
  }

 private:
  [[nodiscard]] std::uint64_t order_of(const OpenPart& part) const {
    return plan_.order_of(part.recording->time());
  }

  // All parts that may have the next moment.
  void open_due_parts() {
    while (next_part_ < plan_.parts.size()) {
      const PlannedPart& planned = plan_.parts[next_part_];
      if (!open_.empty() && plan_.order_of(planned.first) > order_of(*earliest()) + together_ns_) {
        return;
      }
      open_part(planned, next_part_++);
    }
  }

  void open_part(const PlannedPart& planned, std::size_t number) {
    auto opened = Recording::open(planned.path, {.outside_labels = true});
    if (!opened) {
      counts_.problems.push_back(opened.error().message());
      return;
    }
    OpenPart part{&planned, number, std::make_unique<Recording>(std::move(*opened)), 0, 0, 0};
    open_.push_back(std::move(part));
    go_on(std::prev(open_.end()));
  }

  // To the next moment of a part, or its end.
  void go_on(std::vector<OpenPart>::iterator part) {
    const bool has_more = part->recording->next();
    tell_of(*part);
    if (has_more) return;
    view_.drop(part->number);
    open_.erase(part);
  }

  // Gaps and marks on the way to the moment that it shows, and what could not be read.
  void tell_of(OpenPart& part) {
    const auto gaps = part.recording->gaps();
    for (; part.gaps < gaps.size(); ++part.gaps) {
      recording::Gap gap = gaps[part.gaps];
      if (!remember(part, gap.from, gap.to, recording::name_of(gap.reason))) continue;
      gap.from = merged_time(*part.plan, gap.from);
      gap.to = merged_time(*part.plan, gap.to);
      recording::append_gap(gap, between_);
      ++counts_.gaps;
    }
    const auto marks = part.recording->marks();
    for (; part.marks < marks.size(); ++part.marks) {
      recording::Mark mark = marks[part.marks];
      if (!remember(part, mark.time, mark.time, mark.text)) continue;
      mark.time = merged_time(*part.plan, mark.time);
      recording::append_mark(mark, between_);
      ++counts_.marks;
    }
    const auto damages = part.recording->damages();
    for (; part.damages < damages.size(); ++part.damages)
      tell_of_damage(part, damages[part.damages]);
  }

  void tell_of_damage(const OpenPart& part, const recording::Damage& damage) {
    std::string where = damage.path;
    if (damage.offset != 0 || damage.bytes != 0) where += fmt::format(", offset {}", damage.offset);
    const auto what =
        damage.bytes == 0 ? damage.what : fmt::format("{} {}", damage.bytes, damage.what);
    counts_.problems.push_back(where + ": " + what);
    recording::append_mark(
        {merged_time(*part.plan, part.recording->time()), "not merged: " + counts_.problems.back()},
        between_);
  }

  // False: a copy of this recording has told it.
  bool remember(const OpenPart& part, Timestamp from, Timestamp to, std::string_view what) {
    constexpr std::size_t kRemembered = 256;
    Told told{part.plan->head.recorder, from.monotonic_ns, to.monotonic_ns, std::string(what)};
    if (std::find(told_.begin(), told_.end(), told) != told_.end()) return false;
    told_.push_back(std::move(told));
    if (told_.size() > kRemembered) told_.pop_front();
    return true;
  }

  [[nodiscard]] std::vector<OpenPart>::iterator earliest() {
    return std::min_element(open_.begin(), open_.end(),
                            [this](const OpenPart& left, const OpenPart& right) {
                              return order_of(left) < order_of(right);
                            });
  }

  // The parts whose moments become one: `first`, the same moment in other recordings, and one near
  // it of each other recorder.
  std::vector<std::size_t> together_with(const OpenPart& first) {
    const auto first_index = static_cast<std::size_t>(&first - open_.data());
    std::vector<std::size_t> members{first_index};
    std::vector<std::size_t> others;
    for (std::size_t index = 0; index < open_.size(); ++index) {
      if (index != first_index && order_of(open_[index]) - order_of(first) <= together_ns_) {
        others.push_back(index);
      }
    }
    std::sort(others.begin(), others.end(), [this](std::size_t left, std::size_t right) {
      return order_of(open_[left]) < order_of(open_[right]);
    });
    for (const std::size_t index : others) {
      const bool may_join = std::all_of(members.begin(), members.end(), [&](std::size_t member) {
        return is_repeated(open_[member], open_[index]) ||
               !is_of_one_recorder(open_[member], open_[index]);
      });
      if (may_join) members.push_back(index);
    }
    return members;
  }

  [[nodiscard]] static bool is_of_one_recorder(const OpenPart& left, const OpenPart& right) {
    return left.plan->head.recorder == right.plan->head.recorder;
  }
  [[nodiscard]] static bool is_repeated(const OpenPart& left, const OpenPart& right) {
    return is_of_one_recorder(left, right) &&
           left.recording->time().monotonic_ns == right.recording->time().monotonic_ns;
  }

  // Whether this clock went on as a clock does.
  Result<void> check_clock(const OpenPart& part) {
    const MergedClock& clock = clocks_[part.plan->clock];
    if (plan_.clocks == 1 || !clock.is_known) return {};
    const Timestamp time = part.recording->time();
    const auto step = static_cast<std::int64_t>(time.monotonic_ns - clock.last.monotonic_ns);
    const auto wall_step = static_cast<std::int64_t>(time.realtime_ns - clock.last.realtime_ns);
    // A clock that is kept in time goes at most 0.05 % faster or slower.
    const std::int64_t most =
        static_cast<std::int64_t>(100 * kMillisecond) + std::max<std::int64_t>(step, 0) / 2000;
    const std::int64_t apart = wall_step - step;
    if (apart <= most && apart >= -most) return {};
    return fail(
        ErrorCode::kInvalidArgument,
        fmt::format("{}: the clock of {} jumped by {:.3f} s at @{:.3f}, so its samples have no "
                    "place among those of other machines",
                    escape_for_terminal(part.plan->path),
                    escape_for_terminal(plan_.machines[part.plan->machine]),
                    static_cast<double>(apart) / 1e9, static_cast<double>(time.realtime_ns) / 1e9),
        "meterbank log cut before and behind that moment");
  }

  [[nodiscard]] Timestamp merged_time(const PlannedPart& part, Timestamp time) const {
    const MergedClock& clock = clocks_[part.clock];
    if (plan_.clocks == 1) return time;
    if (!clock.is_known) {
      // Of several machines, the merged clock begins as late as the wall clock, so that all of them
      // were started at a time that it has.
      const std::uint64_t step = time.realtime_ns - last_.realtime_ns;
      return {counts_.written == 0 ? time.realtime_ns : last_.monotonic_ns + step,
              time.realtime_ns};
    }
    return {clock.last_merged + (time.monotonic_ns - clock.last.monotonic_ns), time.realtime_ns};
  }

  void keep_clock(const PlannedPart& part, Timestamp time, Timestamp shown) {
    MergedClock& clock = clocks_[part.clock];
    const std::uint64_t merged = shown.monotonic_ns + (time.realtime_ns - shown.realtime_ns);
    if (!clock.is_known) clock.ahead = merged - time.monotonic_ns;
    clock.is_known = true;
    clock.last = time;
    clock.last_merged = plan_.clocks == 1 ? time.monotonic_ns : merged;
  }

  Result<void> take_moment() {
    const OpenPart& first = *earliest();
    const auto members = together_with(first);
    const Timestamp time = merged_time(*first.plan, first.recording->time());
    const std::uint64_t begin_ns = order_of(first);
    std::uint64_t due = 0, window_ns = 0;
    std::set<Guid> recorders;
    for (const std::size_t member : members) {
      const OpenPart& part = open_[member];
      const Timestamp own = part.recording->time();
      if (auto checked = check_clock(part); !checked) return checked;
      keep_clock(*part.plan, own, time);
      if (auto taken = view_.take(part_of(part)); !taken) return taken;
      due |= due_of(part);
      const std::uint64_t apart = order_of(part) - begin_ns;
      window_ns = std::max(window_ns, apart + part.recording->window_ns());
      ++counts_.read;
      if (!recorders.insert(part.plan->head.recorder).second) ++counts_.repeated;
      if (member != members.front()) counts_.apart_ns = std::max(counts_.apart_ns, apart);
    }
    counts_.joined += recorders.size() - 1;
    view_.show(time, due);
    if (auto written = write(); !written) return written;
    bytes_.clear();
    writer_.tick(view_.tick(window_ns), schemas_, bytes_);
    if (auto written = files_.write(bytes_); !written) return written;
    ++counts_.written;
    last_ = time;
    go_on_all(members);
    return {};
  }

  void go_on_all(std::vector<std::size_t> members) {
    // From the back, because parts that end are removed.
    std::sort(members.rbegin(), members.rend());
    for (const std::size_t member : members) {
      go_on(open_.begin() + static_cast<std::ptrdiff_t>(member));
    }
  }

  [[nodiscard]] static std::uint64_t due_of(const OpenPart& part) {
    std::uint64_t due = 0;
    for (std::size_t rate = 0; rate < part.plan->sources.size(); ++rate) {
      if ((part.recording->due() >> rate & 1U) != 0)
        due |= std::uint64_t{1} << part.plan->sources[rate];
    }
    return due;
  }

  [[nodiscard]] MergedPart part_of(const OpenPart& part) const {
    const std::uint64_t ahead = plan_.clocks == 1 ? 0 : clocks_[part.plan->clock].ahead;
    return {part.number,
            part.plan->path,
            part.recording.get(),
            part.plan->head.recorder,
            part.plan->machine,
            plan_.machines.size() > 1 ? plan_.machines[part.plan->machine] : std::string(),
            part.plan->sources,
            ahead};
  }

  // Gaps and marks that belong before the next sample.
  Result<void> write() {
    if (between_.empty()) return {};
    return files_.write(std::exchange(between_, {}));
  }

  struct Told {
    Guid recorder;
    std::uint64_t from = 0, to = 0;
    std::string what;
    friend bool operator==(const Told&, const Told&) = default;
  };

  const MergePlan& plan_;
  RingFiles& files_;
  std::vector<OpenPart> open_;
  std::size_t next_part_ = 0;
  std::vector<MergedClock> clocks_;
  MergedView view_;
  recording::TickWriter writer_;
  recording::SchemaNumbers schemas_;
  std::string bytes_, between_;
  std::deque<Told> told_;
  Timestamp last_;  // that was written
  std::uint64_t together_ns_ = 0;
  MergeCounts counts_;
};

}  // namespace

Result<MergeCounts> merge_recordings(const MergePlan& plan, RingFiles& files,
                                     const std::function<bool()>& stop) {
  return Merger(plan, files).run(stop);
}

}  // namespace meterbank::record
