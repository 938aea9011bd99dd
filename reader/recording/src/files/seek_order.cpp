// SPDX-License-Identifier: Apache-2.0
#include "seek_order.hpp"

#include <algorithm>
#include <optional>

#include "../ticks/tick_times.hpp"

namespace meterbank::recording {
namespace {

// A clock that is slewed is this much slower at most; one that was set back is behind by more.
constexpr std::uint64_t kSlewShare = 500;
constexpr std::uint64_t kSlewLeastNs = 1'000'000;

bool rises(const Chunk& chunk) noexcept {
  if (chunk.last.realtime_ns < chunk.first.realtime_ns) return false;
  const std::uint64_t wall = chunk.last.realtime_ns - chunk.first.realtime_ns;
  const std::uint64_t span = chunk.last.monotonic_ns - chunk.first.monotonic_ns;
  return wall >= span || span - wall <= kSlewLeastNs + span / kSlewShare;
}

// Where so many chunks cannot be read, the index of the file is wrong.
constexpr std::size_t kPlacesMax = 1000;

// The chunks that begin at or before that time, the latest first. Precondition: times rise.
std::vector<SeekPlace> chunks_before(std::uint64_t realtime_ns,
                                     std::span<const RecordingFile> files) {
  std::vector<SeekPlace> places;
  for (std::size_t file = files.size(); file-- > 0;) {
    const auto& chunks = files[file].index.chunks();
    auto behind = std::partition_point(chunks.begin(), chunks.end(), [=](const Chunk& chunk) {
      return chunk.first.realtime_ns <= realtime_ns;
    });
    while (behind != chunks.begin() && places.size() < kPlacesMax) {
      places.push_back({file, (--behind)->offset});
    }
  }
  return places;
}

struct Candidate {
  SeekPlace place;
  std::uint64_t realtime_ns = 0;
};

// The last of the latest moments of a chunk that are not behind the time. Where chunks begin is a
// claim of the file: they do not overlap, and few of them are damaged.
std::optional<Candidate> look_into(std::size_t file, const Chunk& chunk, std::uint64_t realtime_ns,
                                   FrameWalk& walk) {
  std::optional<Candidate> best;
  if (chunk.offset < walk.offset() || !walk.may_go_on()) return best;
  walk.go_to(chunk.offset);
  TickTimes times;
  for (;;) {
    const auto frame = walk.here();
    if (!frame) break;
    const bool is_first = frame->offset == chunk.offset;
    if (is_first != (frame->kind == FrameKind::kKey)) break;
    walk.go_to(frame->end());
    ByteReader in(frame->payload);
    if (is_first) {
      static_cast<void>(in.raw<Marker>());
      times.read_first(in);
    } else if (frame->kind == FrameKind::kTick) {
      times.read_next(in);
    } else {
      continue;
    }
    if (in.failed()) break;
    const std::uint64_t time = times.time().realtime_ns;
    if (time > realtime_ns || (best && time < best->realtime_ns)) continue;
    best = Candidate{{file, chunk.offset, frame->offset}, time};
  }
  return best;
}

}  // namespace

SeekOrder::SeekOrder(std::span<const RecordingFile> files) {
  std::uint64_t last = 0;
  for (const RecordingFile& file : files) {
    for (const Chunk& chunk : file.index.chunks()) {
      is_even_ = is_even_ && rises(chunk) && chunk.first.realtime_ns >= last;
      last = chunk.last.realtime_ns;
    }
  }
}

std::vector<SeekPlace> SeekOrder::before(std::uint64_t realtime_ns,
                                         std::span<const RecordingFile> files,
                                         std::span<FileBytes> bytes) const {
  if (is_even_) return chunks_before(realtime_ns, files);
  std::vector<Candidate> found;
  for (std::size_t file = 0; file < files.size(); ++file) {
    FrameWalk walk(bytes[file]);
    for (const Chunk& chunk : files[file].index.chunks()) {
      const auto [first, last] = std::minmax(chunk.first.realtime_ns, chunk.last.realtime_ns);
      if (first > realtime_ns) continue;
      if (rises(chunk) && last <= realtime_ns) {
        found.push_back({{file, chunk.offset}, last});
      } else if (auto best = look_into(file, chunk, realtime_ns, walk)) {
        found.push_back(*best);
      }
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const Candidate& left, const Candidate& right) {
    return left.realtime_ns < right.realtime_ns;
  });
  std::vector<SeekPlace> places;
  places.reserve(std::min(found.size(), kPlacesMax));
  for (auto one = found.rbegin(); one != found.rend() && places.size() < kPlacesMax; ++one) {
    places.push_back(one->place);
  }
  return places;
}

}  // namespace meterbank::recording
