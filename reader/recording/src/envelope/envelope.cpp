// SPDX-License-Identifier: Apache-2.0
#include "meterbank/recording/envelope.hpp"

#include <algorithm>
#include <future>
#include <new>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "../files/seek_order.hpp"
#include "envelope_parts.hpp"
#include "summary_plan.hpp"

namespace meterbank::recording {
namespace {

// What one thread reads: the moments with begin <= time < end, and those from `start` on for the
// samples before them.
struct Span {
  bool is_everything = false;  // from the first moment to the last, whatever their times are
  std::uint64_t start = 0, begin = 0, end = 0;
};

struct PartAnswer {
  explicit PartAnswer(EnvelopePart made) : part(std::move(made)) {}

  EnvelopePart part;
  std::uint64_t moments = 0;
  std::map<std::string, Unmatched> unmatched;  // by pattern
  bool has_query = false;
  bool was_stopped = false;
  std::vector<Damage> damages;
  std::vector<Gap> gaps;
};

std::uint64_t bucket_ns(const EnvelopeRequest& request) noexcept {
  const std::uint64_t span = request.to_ns - request.from_ns;
  return span / request.buckets + (span % request.buckets != 0 ? 1 : 0);
}

// ---- What to read -------------------------------------------------------------------------------

// Zero: one rate samples all counters, so any moment has a sample of everything.
std::uint64_t longest_interval(std::span<const RecordingFile> files) noexcept {
  std::uint64_t longest = 0;
  bool has_several = false;
  for (const RecordingFile& file : files) {
    has_several = has_several || file.head.rates.size() > 1;
    for (const Rate& rate : file.head.rates) longest = std::max(longest, rate.interval_ns);
  }
  return has_several ? longest : 0;
}

// A chunk is not divided, because its ticks need those before them. A part ends with the first
// moment of a chunk, with which the next part begins to read.
std::vector<Span> plan(const Recording& recording, unsigned threads, std::uint64_t from_ns,
                       std::uint64_t to_ns) {
  const auto files = recording.files();
  if (!SeekOrder(files).is_even()) {
    return {{.is_everything = true, .begin = from_ns, .end = to_ns}};
  }
  std::vector<std::uint64_t> begins;
  for (const RecordingFile& file : files) {
    for (const Chunk& chunk : file.index.chunks()) {
      const std::uint64_t first = chunk.first.realtime_ns;
      if (first > from_ns && first < to_ns - 1) begins.push_back(first);
    }
  }
  const std::size_t parts = std::clamp<std::size_t>(threads, 1, begins.size() + 1);
  // Key frames have all rates, but for those of merged recordings.
  const std::uint64_t interval = longest_interval(files);
  std::vector<Span> spans;
  for (std::size_t part = 0; part < parts; ++part) {
    Span span;
    span.begin = part == 0 ? from_ns : spans.back().end;
    const std::size_t next = (part + 1) * (begins.size() + 1) / parts;
    span.end = part + 1 < parts ? begins[next - 1] + 1 : to_ns;
    const std::uint64_t before = span.begin - std::min<std::uint64_t>(span.begin, 1);
    span.start =
        interval == 0 ? before : chunk_before(files, before - std::min(before, 2 * interval));
    spans.push_back(span);
  }
  return spans;
}

// ---- Reading ------------------------------------------------------------------------------------

class PartReader {
 public:
  PartReader(Recording& recording, const EnvelopeRequest& request, const Span& span)
      : recording_(&recording),
        request_(&request),
        span_(span),
        answer_(EnvelopePart(request, bucket_ns(request))) {}

  Result<PartAnswer> read() {
    bool is_there = !span_.is_everything && recording_->seek(span_.start);
    is_there = is_there || recording_->next();
    for (; is_there && !is_behind(); is_there = recording_->next()) {
      answer_.was_stopped = request_->stop.stop_requested();
      if (answer_.was_stopped) break;
      if (auto taken = take_moment(); !taken) return tl::make_unexpected(std::move(taken.error()));
      if (answer_.part.is_full()) break;
    }
    const auto damages = recording_->damages();
    answer_.damages.assign(damages.begin(), damages.end());
    const auto gaps = recording_->gaps();
    answer_.gaps.assign(gaps.begin(), gaps.end());
    return std::move(answer_);
  }
  // What is selected at the beginning of the span, without values.
  Result<PartAnswer> read_names() {
    if (!recording_->seek(span_.start)) return std::move(answer_);
    if (auto compiled = compile(); !compiled) {
      return tl::make_unexpected(std::move(compiled.error()));
    }
    Sample sample;
    if (query_->collect(sample, recording_->time()).no_memory) throw std::bad_alloc();
    answer_.part.name(sample, *recording_);
    return std::move(answer_);
  }

 private:
  struct Samples {
    Sample older, newer;
  };

  [[nodiscard]] std::uint64_t now() const noexcept { return recording_->time().realtime_ns; }
  [[nodiscard]] bool is_behind() const noexcept {
    return !span_.is_everything && now() >= span_.end;
  }
  [[nodiscard]] bool counts() const noexcept { return now() >= span_.begin && now() < span_.end; }

  Result<void> compile() {
    auto compiled = Query::compile(recording_->catalog(), request_->patterns, request_->excluded);
    if (!compiled) return tl::make_unexpected(std::move(compiled.error()));
    query_.emplace(std::move(*compiled));
    note_unmatched();
    return {};
  }

  Result<void> take_moment() {
    if (!query_) {
      if (auto compiled = compile(); !compiled) return compiled;
    } else if (query_->update(recording_->catalog())) {
      note_unmatched();
    }
    const std::size_t rates = rates_now();
    if (counts()) ++answer_.moments;
    if (rates <= 1) {
      take_rate(0, std::nullopt);
      return {};
    }
    for (std::uint32_t rate = 0; rate < rates; ++rate) {
      if ((recording_->due() >> rate & 1U) != 0) take_rate(rate, rate);
    }
    return {};
  }

  // Files of one directory may have been recorded at other rates.
  [[nodiscard]] std::size_t rates_now() const noexcept {
    std::size_t rates = 0;
    for (const RecordingFile& file : recording_->files()) {
      rates = std::max(rates, file.head.rates.size());
    }
    return rates;
  }

  void take_rate(std::uint32_t number, std::optional<std::uint32_t> rate) {
    Samples& samples = samples_[number];
    const CollectSummary collected = query_->collect(samples.newer, recording_->time());
    if (collected.no_memory) throw std::bad_alloc();
    if (counts()) {
      answer_.part.take(samples.newer, samples.older, query_->version() + 1, *recording_, rate);
    }
    std::swap(samples.newer, samples.older);
  }

  // A pattern that selected something once is not missing.
  void note_unmatched() {
    std::map<std::string, Unmatched> now;
    for (const Unmatched& one : query_->unmatched()) now.emplace(one.pattern, one);
    if (!std::exchange(answer_.has_query, true)) {
      answer_.unmatched = std::move(now);
    } else {
      std::erase_if(answer_.unmatched,
                    [&](const auto& known) { return !now.contains(known.first); });
    }
  }

  Recording* recording_;
  const EnvelopeRequest* request_;
  Span span_;
  std::optional<Query> query_;
  std::map<std::uint32_t, Samples> samples_;  // by rate
  PartAnswer answer_;
};

// With what is known of its files, so that their indexes are not read again; where one was removed
// since, with those that are there now.
Result<Recording> open_again(const std::string& path, std::span<const RecordingFile> files,
                             const CatalogOptions& options) {
  auto opened = Recording::open(std::vector(files.begin(), files.end()), options);
  if (opened || opened.error().code != ErrorCode::kNotFound) return opened;
  return Recording::open(path, options);
}

Result<PartAnswer> read_part(const std::string& path, std::span<const RecordingFile> files,
                             const EnvelopeRequest& request, const CatalogOptions& options,
                             const Span& span) noexcept {
  try {
    auto recording = open_again(path, files, options);
    if (!recording) return tl::make_unexpected(std::move(recording.error()));
    return PartReader(*recording, request, span).read();
  } catch (const std::bad_alloc&) {
    return tl::make_unexpected(out_of_memory());
  }
}

// ---- The answer ---------------------------------------------------------------------------------

bool is_same(const Gap& left, const Gap& right) noexcept {
  return left.from.monotonic_ns == right.from.monotonic_ns &&
         left.from.realtime_ns == right.from.realtime_ns && left.ticks == right.ticks;
}

bool is_same(const Damage& left, const Damage& right) noexcept {
  return left.path == right.path && left.offset == right.offset && left.bytes == right.bytes;
}

// What two parts have found at the seam between them is one.
template <typename One>
void append_new(std::vector<One>&& more, std::vector<One>& all) {
  for (One& one : more) {
    const bool is_known =
        std::any_of(all.begin(), all.end(), [&](const One& known) { return is_same(known, one); });
    if (!is_known) all.push_back(std::move(one));
  }
}

void append(PartAnswer&& next, PartAnswer& all) {
  all.part.append(std::move(next.part));
  all.moments += next.moments;
  all.was_stopped = all.was_stopped || next.was_stopped;
  append_new(std::move(next.damages), all.damages);
  append_new(std::move(next.gaps), all.gaps);
  if (!next.has_query) return;
  if (!std::exchange(all.has_query, true)) {
    all.unmatched = std::move(next.unmatched);
    return;
  }
  std::erase_if(all.unmatched,
                [&](const auto& known) { return !next.unmatched.contains(known.first); });
}

Result<void> decode(const std::string& path, std::span<const RecordingFile> files,
                    const EnvelopeRequest& request, const CatalogOptions& options,
                    const std::vector<Span>& spans, PartAnswer& all) {
  std::vector<std::future<Result<PartAnswer>>> others;
  for (std::size_t part = 1; part < spans.size(); ++part) {
    // Where no thread can be had, get() reads the part.
    others.push_back(std::async(std::launch::async | std::launch::deferred, read_part,
                                std::cref(path), files, std::cref(request), std::cref(options),
                                std::cref(spans[part])));
  }
  std::optional<Error> failed;
  const auto take = [&](Result<PartAnswer> next) {
    if (next && !failed) append(std::move(*next), all);
    if (!next && !failed) failed = std::move(next.error());
  };
  take(read_part(path, files, request, options, spans.front()));
  for (auto& other : others) take(other.get());
  if (failed) return tl::make_unexpected(std::move(*failed));
  return {};
}

// What the counters are called at the beginning of the first summary. Nothing: summaries do not
// have all that is asked for, or may not have it.
Result<std::optional<WantedSeries>> find_names(Recording& recording, const EnvelopeRequest& request,
                                               const std::vector<Stretch>& stretches,
                                               PartAnswer& all) {
  const auto first = std::find_if(stretches.begin(), stretches.end(),
                                  [](const Stretch& one) { return one.summary.has_value(); });
  if (first == stretches.end()) return std::nullopt;
  const std::uint64_t time = first->summary->run.first.realtime_ns;
  PartReader reader(recording, request, {.start = time, .begin = time, .end = time});
  auto named = reader.read_names();
  if (!named) return tl::make_unexpected(std::move(named.error()));
  append(std::move(*named), all);
  auto names = all.part.names();
  if (!names || names->empty()) return std::nullopt;
  return wanted_series(request, std::move(*names));
}

std::uint64_t moments_of(const SummaryHead& head, const EnvelopeRequest& request) noexcept {
  std::uint64_t moments = 0;
  for (std::size_t part = 0; part < kSummaryParts; ++part) {
    const std::uint64_t middle = head.from_ns + part * head.part_ns + head.part_ns / 2;
    if (middle >= request.from_ns && middle < request.to_ns) moments += head.moments[part];
  }
  return moments;
}

Result<PartAnswer> read_range(const std::string& path, const EnvelopeRequest& request,
                              const CatalogOptions& options, Recording& recording) {
  PartAnswer all(EnvelopePart(request, bucket_ns(request)));
  all.damages.assign(recording.damages().begin(), recording.damages().end());  // unreadable files
  std::vector<Stretch> stretches{{request.from_ns, request.to_ns, std::nullopt}};
  std::optional<WantedSeries> wanted;
  if (may_use_summaries(request) && SeekOrder(recording.files()).is_even()) {
    auto parted = stretches_of(recording.files(), request);
    auto found = find_names(recording, request, parted, all);
    if (!found) return tl::make_unexpected(std::move(found.error()));
    wanted = std::move(*found);
    if (wanted) stretches = std::move(parted);
  }
  std::size_t unreadable = 0;
  for (Stretch& stretch : stretches) {
    if (all.part.is_full() || all.was_stopped) break;
    const auto summary = stretch.summary ? read_summary(*stretch.summary, *wanted) : std::nullopt;
    if (summary && all.part.append(*summary)) {
      all.moments += moments_of(summary->head, request);
      continue;
    }
    // An index that is wrong so often is not believed any more: the rest is decoded at once.
    constexpr std::size_t kUnreadableMax = 8;
    if (stretch.summary && !summary) ++unreadable;
    const bool is_rest = unreadable > kUnreadableMax;
    if (is_rest) stretch.end_ns = request.to_ns;
    auto decoded = decode(path, recording.files(), request, options,
                          plan(recording, request.threads, stretch.begin_ns, stretch.end_ns), all);
    if (!decoded) return tl::make_unexpected(std::move(decoded.error()));
    if (is_rest) break;
  }
  return all;
}

Result<void> check(const EnvelopeRequest& request) {
  const bool is_sound = request.from_ns < request.to_ns && request.buckets >= 1 &&
                        request.buckets <= kEnvelopeBucketsMax;
  if (is_sound) return {};
  return fail(ErrorCode::kInvalidArgument, "the range of an envelope is empty or has no buckets",
              "a range that ends after it begins, and 1 to 1,048,576 buckets");
}

Result<Envelope> envelope_of(Result<PartAnswer> read, const EnvelopeRequest& request) {
  if (!read) return tl::make_unexpected(std::move(read.error()));
  if (read->part.is_full()) {
    return fail(ErrorCode::kLimit,
                "the envelope of these counters would take more memory than it may",
                "fewer counters, or fewer buckets");
  }
  Envelope made;
  made.from_ns = request.from_ns;
  made.bucket_ns = bucket_ns(request);
  made.series = read->part.finish();
  made.moments = read->moments;
  for (auto& [pattern, one] : read->unmatched) made.unmatched.push_back(std::move(one));
  made.was_stopped = read->was_stopped;
  made.damages = std::move(read->damages);
  made.gaps = std::move(read->gaps);
  return made;
}

}  // namespace

Result<Envelope> envelope(const std::string& path, const EnvelopeRequest& request,
                          const CatalogOptions& options) {
  if (auto checked = check(request); !checked) {
    return tl::make_unexpected(std::move(checked.error()));
  }
  try {
    auto recording = Recording::open(path, options);
    if (!recording) return tl::make_unexpected(std::move(recording.error()));
    return envelope_of(read_range(path, request, options, *recording), request);
  } catch (const std::bad_alloc&) {
    return tl::make_unexpected(out_of_memory());
  }
}

Result<Envelope> envelope(Recording& recording, const EnvelopeRequest& request) {
  if (auto checked = check(request); !checked) {
    return tl::make_unexpected(std::move(checked.error()));
  }
  try {
    const auto spans = plan(recording, 1, request.from_ns, request.to_ns);
    return envelope_of(PartReader(recording, request, spans.front()).read(), request);
  } catch (const std::bad_alloc&) {
    return tl::make_unexpected(out_of_memory());
  }
}

}  // namespace meterbank::recording
