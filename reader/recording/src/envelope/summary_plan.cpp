// SPDX-License-Identifier: Apache-2.0
#include "summary_plan.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "../files/file_bytes.hpp"
#include "meterbank/reader/path.hpp"

namespace meterbank::recording {
namespace {

constexpr GlobOptions kGlobOfPath{.backslash_escapes = true};

// Names one counter of instances of one name, so that what it selects has one name in all chunks.
bool names_one_counter(const std::string& pattern) {
  const auto path = parse_path(pattern);
  if (!path || path->index || path->parent) return false;
  const auto is_plain = [](const std::string& glob) { return literal_of(glob).has_value(); };
  if (path->provider && !is_plain(*path->provider)) return false;
  if (!is_plain(path->set)) return false;
  if (path->second_word) {
    return !path->second_word->index && is_plain(path->second_word->as_counter);
  }
  return path->counter && is_plain(*path->counter) &&
         (!path->instance || is_plain(*path->instance));
}

bool is_kept(double percentile) {
  return std::any_of(kSummaryPercentiles.begin(), kSummaryPercentiles.end(),
                     [percentile](double kept) { return is_summary_percentile(percentile, kept); });
}

std::uint64_t part_ns(const ChunkRun& run) noexcept {
  return (run.last.realtime_ns - run.first.realtime_ns) / kSummaryParts + 1;
}

bool overlaps(const ChunkRun& run, std::uint64_t begin, std::uint64_t end) noexcept {
  return run.first.realtime_ns < end && run.last.realtime_ns >= begin;
}

// The chunks that a summary claims to describe. Nothing: the file does not have them.
std::optional<ChunkRun> run_of(const SummaryPlace& place, const RecordingFile& file) {
  const auto& chunks = file.index.chunks();
  const auto first = std::lower_bound(
      chunks.begin(), chunks.end(), place.chunk,
      [](const Chunk& chunk, std::uint64_t offset) { return chunk.offset < offset; });
  const auto left = static_cast<std::uint64_t>(chunks.end() - first);
  const bool is_there = place.chunks >= 1 && place.chunks <= left && first->offset == place.chunk;
  if (!is_there) return std::nullopt;
  const auto last = first + static_cast<std::ptrdiff_t>(place.chunks) - 1;
  return ChunkRun{place.sequence, place.chunk, place.chunks, first->first, last->last};
}

// In the order of time.
std::vector<RunSummary> usable_summaries(std::span<const RecordingFile> files,
                                         const EnvelopeRequest& request) {
  std::map<std::uint64_t, const RecordingFile*> by_sequence;
  for (const RecordingFile& file : files) by_sequence.emplace(file.head.sequence, &file);
  std::vector<RunSummary> usable;
  for (const RecordingFile& file : files) {
    for (const SummaryPlace& place : file.index.summaries()) {
      const auto of = by_sequence.find(place.sequence);
      const auto run = of != by_sequence.end() ? run_of(place, *of->second) : std::nullopt;
      const bool is_usable =
          run && part_ns(*run) <= request.blur_ns && overlaps(*run, request.from_ns, request.to_ns);
      if (is_usable) usable.push_back({file.path, place.offset, *run});
    }
  }
  std::stable_sort(usable.begin(), usable.end(), [](const RunSummary& a, const RunSummary& b) {
    return a.run.first.realtime_ns < b.run.first.realtime_ns;
  });
  return usable;
}

// Whether the range has a moment.
class Moments {
 public:
  // Precondition: times rise.
  explicit Moments(std::span<const RecordingFile> files) {
    for (const RecordingFile& file : files) {
      for (const Chunk& chunk : file.index.chunks()) chunks_.push_back(&chunk);
    }
    std::sort(chunks_.begin(), chunks_.end(), [](const Chunk* a, const Chunk* b) {
      return a->first.realtime_ns < b->first.realtime_ns;
    });
  }
  [[nodiscard]] bool any(std::uint64_t begin, std::uint64_t end) const {
    const auto found = std::partition_point(
        chunks_.begin(), chunks_.end(),
        [begin](const Chunk* chunk) { return chunk->last.realtime_ns < begin; });
    return found != chunks_.end() && (*found)->first.realtime_ns < end;
  }

 private:
  std::vector<const Chunk*> chunks_;
};

}  // namespace

bool may_use_summaries(const EnvelopeRequest& request) {
  return request.blur_ns != 0 && !request.stored && !request.cap_percent &&
         request.excluded.empty() && !request.patterns.empty() &&
         std::all_of(request.patterns.begin(), request.patterns.end(), names_one_counter) &&
         std::all_of(request.percentiles.begin(), request.percentiles.end(), is_kept);
}

// A path without an instance means all of them: its names are the same in all chunks only where the
// set has a single one. A provider is called "orders", or "orders@48213" beside a namesake.
std::optional<WantedSeries> wanted_series(const EnvelopeRequest& request,
                                          std::vector<SummaryName> names) {
  WantedSeries wanted{std::move(names), {}};
  bool has_any_provider = false;
  for (const std::string& pattern : request.patterns) {
    const auto path = parse_path(pattern);
    if (!path) return std::nullopt;
    const bool is_single =
        std::all_of(wanted.names.begin(), wanted.names.end(),
                    [](const SummaryName& name) { return name.instance.empty(); });
    if (!path->instance && !is_single) return std::nullopt;
    has_any_provider = has_any_provider || !path->provider;
    if (path->provider) wanted.providers.emplace_back(*path->provider, kGlobOfPath);
  }
  if (has_any_provider) wanted.providers.clear();
  return wanted;
}

std::optional<Summary> read_summary(const RunSummary& place, const WantedSeries& wanted) {
  // The ring may have removed the file.
  auto bytes = FileBytes::open(place.path);
  if (!bytes) return std::nullopt;
  FrameWalk walk(*bytes, place.offset);
  const auto frame = walk.here();
  auto summary = frame ? read_summary(*frame, wanted.names) : std::nullopt;
  // Where ticks are damaged, the index may say that a run is shorter than it was.
  const bool is_of_run = summary && summary->head.sequence == place.run.sequence &&
                         summary->head.chunk == place.run.offset &&
                         summary->head.chunks == place.run.chunks &&
                         summary->head.from_ns == place.run.first.realtime_ns &&
                         summary->head.part_ns >= part_ns(place.run);
  if (!is_of_run) return std::nullopt;
  std::erase_if(summary->series, [&](const SummarySeries& series) {
    const auto name = series.provider.substr(0, series.provider.rfind('@'));
    return !wanted.providers.empty() &&
           std::none_of(wanted.providers.begin(), wanted.providers.end(),
                        [&](const Glob& glob) { return glob.matches(name); });
  });
  return summary;
}

std::vector<Stretch> stretches_of(std::span<const RecordingFile> files,
                                  const EnvelopeRequest& request) {
  std::vector<Stretch> stretches;
  const Moments moments(files);
  std::uint64_t done = request.from_ns;
  const auto decode_until = [&](std::uint64_t end) {
    if (done < end && moments.any(done, end)) stretches.push_back({done, end, std::nullopt});
  };
  for (RunSummary& one : usable_summaries(files, request)) {
    const std::uint64_t first = one.run.first.realtime_ns;
    const std::uint64_t end = one.run.last.realtime_ns + 1;
    if (first < done && done != request.from_ns) continue;  // two runs of one time
    decode_until(std::max(first, done));
    const std::uint64_t begin = std::max(first, done);
    done = std::min(end, request.to_ns);
    stretches.push_back({begin, done, std::move(one)});
  }
  decode_until(request.to_ns);
  return stretches;
}

}  // namespace meterbank::recording
