// SPDX-License-Identifier: Apache-2.0
#include "view/extremes.hpp"

#include <algorithm>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>

#include "meterbank/recording/recording.hpp"
#include "view/past.hpp"

namespace meterbank::view {
namespace {

constexpr std::uint64_t kColumnsOfBlur = 4;
constexpr unsigned kThreadsMax = 4;
constexpr std::chrono::milliseconds kPartTime(250);

unsigned threads() { return std::clamp(std::thread::hardware_concurrency(), 1U, kThreadsMax); }

// How many times as many chunks to read at once, after a part that took so long. Each part costs
// more than its chunks alone, and the first one says little of how long they take.
std::size_t more_chunks(Extremes::Clock::duration taken) {
  constexpr std::size_t kMost = 8;
  const auto times = kPartTime / std::max<Extremes::Clock::duration>(taken, kPartTime / kMost);
  return static_cast<std::size_t>(std::max<std::chrono::milliseconds::rep>(times, 1));
}

auto name_of(const recording::EnvelopeSeries& series) {
  return std::tie(series.path, series.provider, series.host, series.percentile, series.set);
}

// Adds what was seen in the same time, but not later.
void add_earlier(const recording::EnvelopeBucket& earlier, recording::EnvelopeBucket& bucket) {
  if (earlier.count == 0) return;
  if (bucket.count == 0) {
    bucket = earlier;
    return;
  }
  bucket.least = std::min(bucket.least, earlier.least);
  bucket.most = std::max(bucket.most, earlier.most);
  bucket.count += earlier.count;
}

}  // namespace

bool ExtremesOf::covers(const ExtremesOf& other) const {
  return from_ns == other.from_ns && to_ns == other.to_ns && columns == other.columns &&
         std::ranges::includes(paths, other.paths);
}

Extremes::Extremes(ExtremesOf wanted) : of_(std::move(wanted)), chunks_(threads()) {
  const std::uint64_t columns = std::max<std::size_t>(of_.columns, 1);
  const std::uint64_t end_ns = of_.to_ns + 1;
  found_.bucket_ns = (end_ns - of_.from_ns + columns - 1) / columns;
  found_.from_ns = end_ns - columns * found_.bucket_ns;
  begin_ns_ = end_ns;
}

void Extremes::read_on(cli::Selection& selection, Clock::time_point until,
                       const std::stop_token& stop) {
  recording::EnvelopeRequest request;
  request.patterns.assign(of_.paths.begin(), of_.paths.end());
  request.cap_percent = false;
  // As wide as a few columns: a spike is seen beside its moment, and a day at once.
  request.blur_ns = kColumnsOfBlur * found_.bucket_ns;
  for (const auto& [percent, share] : kPercentilesShown) {
    request.percentiles.push_back(100 * share);
  }
  request.threads = threads();
  request.stop = stop;
  while (!are_whole()) {
    const auto began = Clock::now();
    request.from_ns = begin_of_next(selection);
    // A value of a summary may count for columns of the part behind this one.
    request.to_ns = std::min(begin_ns_ + request.blur_ns, of_.to_ns + 1);
    request.buckets = (request.to_ns - request.from_ns) / found_.bucket_ns;
    auto part = recording::envelope(selection.log_path, request, selection.catalog().options());
    if (part && part->was_stopped) return;
    if (problem_.empty()) {
      problem_ = part ? cli::damages_text(part->damages) : part.error().message();
    }
    if (part) lay(std::move(*part));
    begin_ns_ = request.from_ns;
    const auto now = Clock::now();
    chunks_ *= more_chunks(now - began);
    if (now >= until) return;
  }
}

// Parts end where chunks begin, because a chunk is decoded from its beginning on.
std::uint64_t Extremes::begin_of_next(const cli::Selection& selection) const {
  std::vector<std::uint64_t> begins;
  for (const auto& file : selection.log->files()) {
    for (const auto& chunk : file.index.chunks()) begins.push_back(chunk.first.realtime_ns);
  }
  // A recording whose clock was set back is read as a whole each time.
  if (!std::ranges::is_sorted(begins)) return found_.from_ns;
  const auto before = std::ranges::lower_bound(begins, begin_ns_ - found_.bucket_ns);
  if (static_cast<std::size_t>(before - begins.begin()) < chunks_) return found_.from_ns;
  const std::uint64_t begin = before[-static_cast<std::ptrdiff_t>(chunks_)];
  if (begin <= found_.from_ns) return found_.from_ns;
  return begin - (begin - found_.from_ns) % found_.bucket_ns;
}

void Extremes::lay(recording::Envelope&& part) {
  const auto first = static_cast<std::size_t>((part.from_ns - found_.from_ns) / found_.bucket_ns);
  for (auto& series : part.series) {
    const auto buckets = std::exchange(series.buckets, {});
    auto known = std::ranges::lower_bound(found_.series, name_of(series), {}, name_of);
    if (known == found_.series.end() || name_of(*known) != name_of(series)) {
      series.buckets.resize(std::max<std::size_t>(of_.columns, 1));
      known = found_.series.insert(known, std::move(series));
    }
    for (std::size_t at = 0; at < buckets.size(); ++at) {
      add_earlier(buckets[at], known->buckets[first + at]);
    }
  }
}

std::vector<recording::EnvelopeSeries> Extremes::series_of(const std::string& path,
                                                           const std::string& provider) const {
  const auto [name, host] = name_and_host_of(provider);
  const auto label = std::string_view(provider).substr(0, provider.size() - host.size());
  std::vector<recording::EnvelopeSeries> found;
  for (const auto& series : found_.series) {
    if (series.path != path) continue;
    // A series has a pid in its name only while there is another provider of the name.
    const bool is_its = series.provider == name || series.provider == label;
    const bool is_there = series.host.empty() || host == " on " + series.host;
    if (!provider.empty() && !series.provider.empty() && !(is_its && is_there)) continue;
    const auto known =
        std::ranges::find(found, series.percentile, &recording::EnvelopeSeries::percentile);
    if (known == found.end()) {
      found.push_back(series);
      continue;
    }
    for (std::size_t at = 0; at < series.buckets.size(); ++at) {
      add_earlier(series.buckets[at], known->buckets[at]);
    }
  }
  return found;
}

}  // namespace meterbank::view
