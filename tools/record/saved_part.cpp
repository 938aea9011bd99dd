// SPDX-License-Identifier: Apache-2.0
#include "record/saved_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "meterbank/recording/recording.hpp"
#include "meterbank/recording/tick_writer.hpp"
#include "record/new_file.hpp"
#include "record/ring_files.hpp"

namespace meterbank::record {
namespace {

using recording::Recording;

// The recording once it has the sample that was asked for, or as it is when the wait is over.
Result<Recording> open_when_written(const PartOptions& options, bool& is_late) {
  constexpr auto kStep = std::chrono::milliseconds(20);
  const auto end = std::chrono::steady_clock::now() + options.wait_max;
  for (;;) {
    auto opened = Recording::open(options.source);
    if (!opened) return opened;
    is_late = opened->last().realtime_ns < options.until_ns;
    if (!is_late || std::chrono::steady_clock::now() >= end) return opened;
    std::this_thread::sleep_for(kStep);
  }
}

// A recording that gets its name when it is complete.
class PartFile {
 public:
  explicit PartFile(NewFile file) : file_(std::move(file)) {}

  Result<void> begin(recording::Head head) {
    auto opened =
        RingFiles::open({.path = file_.temporary(), .shown = file_.path()}, std::move(head));
    if (!opened) return tl::make_unexpected(std::move(opened.error()));
    files_.emplace(*std::move(opened));
    return {};
  }
  Result<void> write(std::string_view frames) { return files_->write(frames); }
  Result<void> complete() {
    files_->end_file();
    return file_.keep();
  }

 private:
  NewFile file_;
  std::optional<RingFiles> files_;
};

class PartCopy {
 public:
  PartCopy(Recording& source, PartFile& file, SavedPart& saved)
      : source_(source), file_(file), saved_(saved) {}

  Result<void> copy(std::uint64_t from_ns, std::uint64_t until_ns) {
    const std::vector<recording::Rate>& rates = source_.files().back().head.rates;
    all_ = rates.size() >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << rates.size()) - 1;
    if (!go_to_begin(rates, begin_of_rates(rates, from_ns))) {
      return fail(ErrorCode::kNotFound, "no sample of all rates in this part", "a longer --last");
    }
    for (const recording::Rate& rate : rates) {
      auto query = Query::compile(source_.catalog(), recording::patterns_of(rate));
      if (!query) return tl::make_unexpected(std::move(query.error()));
      rates_.push_back({*std::move(query), {}});
    }
    recording::Head head = source_.files().back().head;
    head.sequence = 0;
    if (auto begun = file_.begin(std::move(head)); !begun) return begun;
    saved_.first = source_.time();
    do {
      take();
      if (bytes_.size() < kWriteBytes) continue;
      if (auto written = flush(); !written) return written;
    } while (source_.next() && (until_ns == 0 || source_.time().realtime_ns <= until_ns));
    return flush();
  }

 private:
  static constexpr std::size_t kWriteBytes = std::size_t{256} << 10U;
  static constexpr std::uint64_t kChunkTicks = 600;  // at most

  struct Rate {
    Query query;
    Sample sample;
  };

  // The rates of a file are those of one recorder.
  std::uint64_t begin_of_rates(const std::vector<recording::Rate>& rates, std::uint64_t from_ns) {
    const auto files = source_.files();
    const auto other = std::find_if(files.rbegin(), files.rend(),
                                    [&](const auto& file) { return file.head.rates != rates; });
    if (other == files.rend()) return from_ns;
    for (auto file = other.base(); file != files.end(); ++file) {
      const auto& chunks = file->index.chunks();
      if (chunks.empty()) continue;
      saved_.has_more = from_ns < chunks.front().first.realtime_ns;
      return std::max(from_ns, chunks.front().first.realtime_ns);
    }
    return from_ns;
  }

  [[nodiscard]] bool has_all() const { return (source_.due() & all_) == all_; }

  // Shows the last sample of all rates at or before this time, else the first one behind it.
  bool go_to_begin(const std::vector<recording::Rate>& rates, std::uint64_t from_ns) {
    std::uint64_t slowest_ns = 0, fastest_ns = ~std::uint64_t{0};
    for (const recording::Rate& rate : rates) {
      slowest_ns = std::max(slowest_ns, rate.interval_ns);
      fastest_ns = std::min(fastest_ns, rate.interval_ns);
    }
    if (source_.seek(from_ns) && has_all()) return true;
    const std::uint64_t back_ns = std::max(2 * slowest_ns, (kChunkTicks + 1) * fastest_ns);
    std::optional<std::uint64_t> found;
    const std::uint64_t back_to_ns = from_ns - std::min(from_ns, back_ns);
    bool is_there = source_.seek(std::max(back_to_ns, source_.first().realtime_ns));
    for (; is_there; is_there = source_.next()) {
      const bool is_behind = source_.time().realtime_ns > from_ns;
      if (is_behind && found) break;
      if (!has_all()) continue;
      if (is_behind) return true;
      found = source_.time().realtime_ns;
    }
    return found && source_.seek(*found);
  }

  void take() {
    const std::uint64_t due = source_.due();
    // Chunks begin where all rates are due, however long they become, so that no row is written as
    // newer than it is.
    if (has_all() && ticks_of_chunk_ >= kChunkTicks / 2) {
      writer_.begin_chunk();
      ticks_of_chunk_ = 0;
    }
    inputs_.clear();
    for (std::size_t number = 0; number < rates_.size(); ++number) {
      Rate& rate = rates_[number];
      rate.query.update(source_.catalog());
      const bool is_due = ((due >> number) & 1U) != 0;
      if (is_due) rate.query.collect(rate.sample, source_.time());
      inputs_.push_back({&rate.query, is_due ? &rate.sample : nullptr});
    }
    take_notes();
    writer_.tick({.catalog = source_.catalog(),
                  .rates = inputs_,
                  .time = source_.time(),
                  .window_ns = source_.window_ns(),
                  .may_begin_chunk = has_all()},
                 schemas_, bytes_);
    ++ticks_of_chunk_;
    ++saved_.ticks;
    saved_.last = source_.time();
  }

  // Gaps and marks since the sample before. Some were passed on the way to the beginning.
  void take_notes() {
    const auto gaps = source_.gaps();
    for (; gaps_ < gaps.size(); ++gaps_) {
      if (gaps[gaps_].to.realtime_ns <= saved_.first.realtime_ns) continue;
      append_gap(gaps[gaps_], bytes_);
      ++saved_.gaps;
    }
    const auto marks = source_.marks();
    for (; marks_ < marks.size(); ++marks_) {
      if (marks[marks_].time.realtime_ns < saved_.first.realtime_ns) continue;
      append_mark(marks[marks_], bytes_);
    }
  }

  Result<void> flush() {
    auto written = file_.write(bytes_);
    bytes_.clear();
    return written;
  }

  Recording& source_;
  PartFile& file_;
  SavedPart& saved_;
  std::vector<Rate> rates_;
  std::vector<recording::RateInput> inputs_;
  recording::TickWriter writer_;
  recording::SchemaNumbers schemas_;
  std::uint64_t all_ = 0;  // a bit a rate
  std::uint64_t ticks_of_chunk_ = 0;
  std::size_t gaps_ = 0, marks_ = 0;  // that were looked at
  std::string bytes_;
};

}  // namespace

Result<SavedPart> save_part(const PartOptions& options) {
  SavedPart saved;
  auto source = open_when_written(options, saved.is_late);
  if (!source) return tl::make_unexpected(std::move(source.error()));
  const std::uint64_t end_ns =
      options.until_ns != 0 ? options.until_ns : source->last().realtime_ns;
  const auto last_ns = static_cast<std::uint64_t>(options.last.count());
  auto target = NewFile::at(options.target);
  if (!target) return tl::make_unexpected(std::move(target.error()));
  PartFile file(*std::move(target));
  PartCopy copy(*source, file, saved);
  if (auto copied = copy.copy(end_ns - std::min(end_ns, last_ns), options.until_ns); !copied) {
    return tl::make_unexpected(std::move(copied.error()));
  }
  if (auto completed = file.complete(); !completed) {
    return tl::make_unexpected(std::move(completed.error()));
  }
  saved.damages = source->damages().size();
  return saved;
}

}  // namespace meterbank::record
