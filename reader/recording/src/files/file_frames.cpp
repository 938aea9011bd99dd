// SPDX-License-Identifier: Apache-2.0
#include "meterbank/recording/file_frames.hpp"

#include <algorithm>
#include <cstring>

#include "../frames/bytes.hpp"
#include "../ticks/tick_times.hpp"
#include "meterbank/recording/tick_writer.hpp"

namespace meterbank::recording {
namespace {

constexpr std::size_t kTextMax = 64 << 10U;
constexpr Marker kTrailerMagic{'M', 'B', 'R', 'I', 'N', 'D', 'E', 'X'};

std::string_view view_of(const Marker& marker) { return {marker.data(), marker.size()}; }

void append_time(Timestamp time, ByteWriter& out) {
  out.number(time.monotonic_ns);
  out.number(time.realtime_ns);
}

Timestamp read_time(ByteReader& in) noexcept {
  Timestamp time;
  time.monotonic_ns = in.number();
  time.realtime_ns = in.number();
  return time;
}

template <typename Append>
void append_frame(std::string& out, FrameKind kind, Append append) {
  const std::size_t begin = begin_frame(out);
  ByteWriter writer(out);
  append(writer);
  end_frame(out, begin, kind);
}

bool begins_with(ByteReader& in, const Marker& marker) noexcept {
  return in.raw<Marker>() == marker;
}

// Offsets in an index rise and are below its own.
std::uint64_t rising_offset(ByteReader& in, std::uint64_t before, std::uint64_t end) noexcept {
  const std::uint64_t step = in.number();
  if (step == 0 || before >= end || step >= end - before) {
    in.fail();
    return 0;
  }
  return before + step;
}

void append_places(const std::vector<SummaryPlace>& places, ByteWriter& out) {
  out.number(places.size());
  std::uint64_t last = 0;
  for (const SummaryPlace& place : places) {
    out.number(place.offset - last);
    last = place.offset;
    out.number(place.sequence);
    out.number(place.chunk);
    out.number(place.chunks);
  }
}

std::vector<SummaryPlace> read_places(ByteReader& in, std::uint64_t end) {
  std::vector<SummaryPlace> places;
  const std::uint64_t count = in.number();
  std::uint64_t offset = 0;
  for (std::uint64_t place = 0; place < count && !in.failed(); ++place) {
    offset = rising_offset(in, offset, end);
    places.push_back(
        {.offset = offset, .sequence = in.number(), .chunk = in.number(), .chunks = in.number()});
  }
  return places;
}

}  // namespace

void append_head(const Head& head, std::string& out) {
  append_frame(out, FrameKind::kHead, [&](ByteWriter& writer) {
    writer.append(view_of(kHeadMarker));
    writer.number(head.major);
    writer.number(head.minor);
    writer.raw(head.recorder);
    writer.number(head.sequence);
    append_time(head.created, writer);
    writer.text(head.boot_id);
    writer.text(head.host);
    writer.number(head.uid);
    writer.text(head.program);
    writer.number(head.rates.size());
    for (const Rate& rate : head.rates) {
      writer.number(rate.interval_ns);
      writer.text(rate.patterns);
    }
  });
}

std::vector<std::string> patterns_of(const Rate& rate) {
  std::vector<std::string> patterns;
  for (std::size_t begin = 0; begin < rate.patterns.size();) {
    const auto end = std::min(rate.patterns.find('\n', begin), rate.patterns.size());
    patterns.push_back(rate.patterns.substr(begin, end - begin));
    begin = end + 1;
  }
  return patterns;
}

Result<Head> parse_head(const Frame& frame) {
  ByteReader in(frame.payload);
  Head head;
  const bool is_head = frame.kind == FrameKind::kHead && begins_with(in, kHeadMarker);
  head.major = static_cast<std::uint32_t>(in.number());
  head.minor = static_cast<std::uint32_t>(in.number());
  if (!is_head || in.failed()) {
    return fail(ErrorCode::kCorrupt, "not a recording: it does not begin with a head",
                kWrittenByRecord);
  }
  if (head.major != kFormatMajor) {
    return fail(ErrorCode::kNewerLayout,
                "a recording of format " + std::to_string(head.major) + ", this program reads " +
                    std::to_string(kFormatMajor),
                "the version of meterbank that wrote it");
  }
  head.recorder = in.raw<Guid>();
  head.sequence = in.number();
  head.created = read_time(in);
  head.boot_id = in.text(kTextMax);
  head.host = in.text(kTextMax);
  head.uid = static_cast<std::uint32_t>(in.number());
  head.program = in.text(kTextMax);
  const std::uint64_t rates = in.number_below(kRatesMax + 1);
  for (std::uint64_t count = 0; count < rates && !in.failed(); ++count) {
    Rate& rate = head.rates.emplace_back();
    rate.interval_ns = in.number();
    rate.patterns = in.text(kTextMax);
  }
  if (in.failed()) {
    return fail(ErrorCode::kCorrupt, "the head of the recording is too short", kWrittenByRecord);
  }
  return head;
}

std::string_view name_of(GapReason reason) noexcept {
  switch (reason) {
    case GapReason::kLate:
      return "late";
    case GapReason::kNoSpace:
      return "no-space";
    case GapReason::kWrite:
      return "write-failed";
  }
  return "unknown";
}

void append_gap(const Gap& gap, std::string& out) {
  append_frame(out, FrameKind::kGap, [&](ByteWriter& writer) {
    writer.number(static_cast<std::uint64_t>(gap.reason));
    writer.number(gap.ticks);
    append_time(gap.from, writer);
    append_time(gap.to, writer);
  });
}

std::optional<Gap> parse_gap(const Frame& frame) {
  ByteReader in(frame.payload);
  Gap gap;
  gap.reason = static_cast<GapReason>(in.number_below(256));
  gap.ticks = in.number();
  gap.from = read_time(in);
  gap.to = read_time(in);
  if (frame.kind != FrameKind::kGap || in.failed()) return std::nullopt;
  return gap;
}

void append_mark(const Mark& mark, std::string& out) {
  append_frame(out, FrameKind::kMark, [&](ByteWriter& writer) {
    append_time(mark.time, writer);
    writer.text(std::string_view(mark.text).substr(0, kTextMax));
  });
}

std::optional<Mark> parse_mark(const Frame& frame) {
  ByteReader in(frame.payload);
  Mark mark;
  mark.time = read_time(in);
  mark.text = in.text(kTextMax);
  if (frame.kind != FrameKind::kMark || in.failed()) return std::nullopt;
  return mark;
}

void ChunkIndex::take(const Frame& frame) {
  ByteReader in(frame.payload);
  switch (frame.kind) {
    case FrameKind::kSchema:
      schemas_.push_back(frame.offset);
      return;
    case FrameKind::kGap:
      ++gaps_;
      return;
    case FrameKind::kSummary: {
      SummaryPlace place{.offset = frame.offset,
                         .sequence = in.number(),
                         .chunk = in.number(),
                         .chunks = in.number()};
      if (!in.failed()) summaries_.push_back(place);
      return;
    }
    case FrameKind::kKey: {
      if (!begins_with(in, kKeyMarker)) return;
      TickTimes times;
      times.read_first(in);
      if (in.failed()) return;
      step_ = 0;
      chunks_.push_back({frame.offset, 1, times.time(), times.time()});
      return;
    }
    case FrameKind::kTick: {
      if (chunks_.empty()) return;
      Chunk& chunk = chunks_.back();
      TickTimes times(chunk.last, step_);
      times.read_next(in);
      if (in.failed()) return;
      chunk.last = times.time();
      step_ = times.step();
      ++chunk.ticks;
      return;
    }
    case FrameKind::kHead:
    case FrameKind::kMark:
    case FrameKind::kIndex:
      return;
  }
}

void ChunkIndex::append_to(std::string& out, std::uint64_t offset) const {
  append_frame(out, FrameKind::kIndex, [&](ByteWriter& writer) {
    writer.append(view_of(kIndexMarker));
    writer.number(gaps_);
    writer.number(schemas_.size());
    std::uint64_t last = 0;
    for (const std::uint64_t schema : schemas_) {
      writer.number(schema - last);
      last = schema;
    }
    writer.number(chunks_.size());
    last = 0;
    for (const Chunk& chunk : chunks_) {
      writer.number(chunk.offset - last);
      last = chunk.offset;
      writer.number(chunk.ticks);
      append_time(chunk.first, writer);
      writer.difference(chunk.last.monotonic_ns, chunk.first.monotonic_ns);
      writer.difference(chunk.last.realtime_ns, chunk.first.realtime_ns);
    }
    if (!summaries_.empty()) append_places(summaries_, writer);
    writer.raw(offset);
    writer.append(view_of(kTrailerMagic));
  });
}

std::optional<ChunkIndex> ChunkIndex::parse(const Frame& frame) {
  ByteReader in(frame.payload);
  if (frame.kind != FrameKind::kIndex || !begins_with(in, kIndexMarker)) return std::nullopt;
  ChunkIndex index;
  index.gaps_ = in.number();
  const std::uint64_t schemas = in.number();
  std::uint64_t offset = 0;
  for (std::uint64_t count = 0; count < schemas && !in.failed(); ++count) {
    offset = rising_offset(in, offset, frame.offset);
    index.schemas_.push_back(offset);
  }
  const std::uint64_t chunks = in.number();
  offset = 0;
  for (std::uint64_t count = 0; count < chunks && !in.failed(); ++count) {
    Chunk chunk;
    offset = rising_offset(in, offset, frame.offset);
    chunk.offset = offset;
    chunk.ticks = in.number();
    chunk.first = read_time(in);
    chunk.last.monotonic_ns = in.after(chunk.first.monotonic_ns);
    chunk.last.realtime_ns = in.after(chunk.first.realtime_ns);
    index.chunks_.push_back(chunk);
  }
  // Recordings without summaries end here.
  if (in.rest().size() > kTrailer) index.summaries_ = read_places(in, frame.offset);
  if (in.failed()) return std::nullopt;
  return index;
}

std::optional<std::uint64_t> index_offset(std::span<const std::byte, kTrailer> trailer) {
  std::uint64_t offset = 0;
  Marker magic{};
  std::memcpy(&offset, trailer.data(), sizeof offset);
  std::memcpy(magic.data(), trailer.data() + sizeof offset, magic.size());
  if (magic != kTrailerMagic) return std::nullopt;
  return offset;
}

}  // namespace meterbank::recording
