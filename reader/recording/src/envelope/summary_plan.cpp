// SPDX-License-Identifier: Apache-2.0
#include "summary_plan.hpp"

#include <algorithm>
#include <cmath>
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
                     [percentile](double kept) { return std::abs(percentile - kept) < 0.0005; });
}

std::uint64_t part_ns(const Chunk& chunk) noexcept {
  return (chunk.last.realtime_ns - chunk.first.realtime_ns) / kSummaryParts + 1;
}

bool overlaps(const Chunk& chunk, std::uint64_t begin, std::uint64_t end) noexcept {
  return chunk.first.realtime_ns < end && chunk.last.realtime_ns >= begin;
}

// In the order of time.
std::vector<ChunkSummary> usable_summaries(std::span<const RecordingFile> files,
                                           const EnvelopeRequest& request) {
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::pair<std::string, std::uint64_t>> frames;
  for (const RecordingFile& file : files) {
    for (const SummaryPlace& place : file.index.summaries()) {
      frames.emplace(std::pair(place.sequence, place.chunk), std::pair(file.path, place.offset));
    }
  }
  std::vector<ChunkSummary> usable;
  for (const RecordingFile& file : files) {
    for (const Chunk& chunk : file.index.chunks()) {
      const auto frame = frames.find({file.head.sequence, chunk.offset});
      const bool is_usable = frame != frames.end() && part_ns(chunk) <= request.blur_ns &&
                             overlaps(chunk, request.from_ns, request.to_ns);
      if (!is_usable) continue;
      usable.push_back({.path = frame->second.first,
                        .offset = frame->second.second,
                        .sequence = file.head.sequence,
                        .chunk = chunk});
    }
  }
  std::sort(usable.begin(), usable.end(), [](const ChunkSummary& a, const ChunkSummary& b) {
    return a.chunk.first.realtime_ns < b.chunk.first.realtime_ns;
  });
  return usable;
}

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

std::optional<Summary> read_summary(const ChunkSummary& chunk, const WantedSeries& wanted) {
  // The ring may have removed the file.
  auto bytes = FileBytes::open(chunk.path);
  if (!bytes) return std::nullopt;
  FrameWalk walk(*bytes, chunk.offset);
  const auto frame = walk.here();
  auto summary = frame ? read_summary(*frame, wanted.names) : std::nullopt;
  const bool is_of_chunk = summary && summary->head.sequence == chunk.sequence &&
                           summary->head.chunk == chunk.chunk.offset &&
                           summary->head.from_ns == chunk.chunk.first.realtime_ns;
  if (!is_of_chunk) return std::nullopt;
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
  std::uint64_t done = request.from_ns;
  const auto decode_until = [&](std::uint64_t end) {
    const bool has_moments =
        std::any_of(files.begin(), files.end(), [&](const RecordingFile& file) {
          const auto& chunks = file.index.chunks();
          return std::any_of(chunks.begin(), chunks.end(),
                             [&](const Chunk& chunk) { return overlaps(chunk, done, end); });
        });
    if (done < end && has_moments) stretches.push_back({done, end, std::nullopt});
  };
  for (ChunkSummary& one : usable_summaries(files, request)) {
    const std::uint64_t first = one.chunk.first.realtime_ns;
    const std::uint64_t end = one.chunk.last.realtime_ns + 1;
    if (first < done && done != request.from_ns) continue;  // two chunks of one time
    decode_until(std::max(first, done));
    const std::uint64_t begin = std::max(first, done);
    done = std::min(end, request.to_ns);
    stretches.push_back({begin, done, std::move(one)});
  }
  decode_until(request.to_ns);
  return stretches;
}

}  // namespace meterbank::recording
