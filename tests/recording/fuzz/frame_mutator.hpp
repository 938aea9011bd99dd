// SPDX-License-Identifier: Apache-2.0
//
// Changes recordings frame by frame, so that what is changed is decoded: bytes at random would end
// at the CRC of a frame, at the coder of packed bytes or at the hash of a schema. A part of all
// changes leaves these wrong on purpose.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../../reader/recording/src/frames/bytes.hpp"
#include "../../../reader/recording/src/ticks/packed.hpp"
#include "../../../reader/recording/src/ticks/schema_bytes.hpp"
#include "meterbank/reader/schema_decoder.hpp"
#include "meterbank/recording/file_frames.hpp"
#include "meterbank/recording/row_coder.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace meterbank::test {

using recording::ByteReader;
using recording::ByteWriter;
using recording::FrameKind;

struct MutableFrame {
  FrameKind kind = FrameKind::kHead;
  std::string payload;
  bool has_right_crc = true;
};

// By the lengths of the frames. The last one may be cut.
inline std::vector<MutableFrame> frames_of(std::string_view bytes) {
  std::vector<MutableFrame> frames;
  while (bytes.size() >= recording::kFrameHead) {
    std::uint32_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    MutableFrame frame;
    frame.kind = static_cast<FrameKind>(bytes[recording::kFrameHead - 1]);
    frame.payload = bytes.substr(recording::kFrameHead, length);
    recording::MemoryBytes source(std::as_bytes(std::span(bytes)));
    frame.has_right_crc = recording::FrameWalk(source).here().has_value();
    bytes.remove_prefix(recording::kFrameHead + frame.payload.size());
    frames.push_back(std::move(frame));
  }
  return frames;
}

inline std::string bytes_of(const std::vector<MutableFrame>& frames) {
  std::string bytes;
  for (const MutableFrame& frame : frames) {
    const std::size_t begin = recording::begin_frame(bytes);
    bytes += frame.payload;
    recording::end_frame(bytes, begin, frame.kind);
    if (!frame.has_right_crc) bytes[begin + sizeof(std::uint32_t)] ^= 1;
  }
  return bytes;
}

// Of what a key frame or a schema has in front of its packed bytes, these bytes unpacked, and what
// is behind them.
struct PackedPart {
  std::string before, bytes, behind;

  [[nodiscard]] std::string payload() const {
    std::string payload = before;
    recording::append_packed(bytes, payload);
    return payload + behind;
  }
};

inline std::optional<PackedPart> packed_part(const std::string& payload, ByteReader at) {
  const std::size_t begin = payload.size() - at.rest().size();
  auto bytes = recording::read_packed(at, kSchemaBytesMax);
  if (at.failed() || !bytes) return std::nullopt;
  return PackedPart{payload.substr(0, begin), std::move(*bytes),
                    payload.substr(payload.size() - at.rest().size())};
}

inline ByteReader reader_of(const std::string& payload) {
  return ByteReader(std::as_bytes(std::span(payload)));
}

class FrameMutator {
 public:
  FrameMutator(unsigned seed, std::size_t bytes_max) : random_(seed), bytes_max_(bytes_max) {}

  std::string mutate(std::string_view bytes) {
    room_ = bytes_max_ > bytes.size() ? bytes_max_ - bytes.size() : 0;
    // One in eight: anything, with wrong lengths too.
    if (bytes.size() <= recording::kFrameHead || below(8) == 0) return mutated(bytes);
    auto frames = frames_of(bytes);
    change(frames);
    if (below(4) != 0) point_again(frames);
    return bytes_of(frames);
  }
  // Frames of both, in one case of four: times that do not rise hide what a plot does.
  std::string cross(std::string_view left, std::string_view right) {
    if (below(4) != 0) return mutate(left);
    auto frames = frames_of(left);
    const auto others = frames_of(right);
    if (frames.empty() || others.empty()) return std::string(left);
    const std::size_t first = below(others.size());
    const std::size_t count = 1 + below(others.size() - first);
    const auto from = others.begin() + static_cast<std::ptrdiff_t>(first);
    frames.insert(frames.begin() + static_cast<std::ptrdiff_t>(below(frames.size() + 1)), from,
                  from + static_cast<std::ptrdiff_t>(count));
    return bytes_of(frames);
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  std::string mutated(std::string_view bytes) {
    std::string changed(bytes);
    changed.resize(bytes.size() + room_ + 1);
    auto* const data = reinterpret_cast<std::uint8_t*>(changed.data());
    changed.resize(::LLVMFuzzerMutate(data, bytes.size(), changed.size()));
    return changed;
  }

  void change(std::vector<MutableFrame>& frames) {
    if (frames.empty()) return;
    const std::size_t place = below(frames.size());
    const auto at = frames.begin() + static_cast<std::ptrdiff_t>(place);
    switch (below(16)) {
      case 0:
        frames.insert(at, MutableFrame(*at));
        return;
      case 1:
        frames.erase(at);
        return;
      case 2:
        std::swap(*at, frames[below(frames.size())]);
        return;
      case 3:
        at->has_right_crc = !at->has_right_crc;
        return;
      case 4:
        at->kind = static_cast<FrameKind>("HSKTGMPI?"[below(9)]);
        return;
      case 5:
        return end(frames);
      case 6:
      case 7:
      case 8:
        return change_unpacked(frames);
      case 9:
        return leave_out_rows(*at);
      default:
        return change_payload(*at);
    }
  }

  // Behind the marker, most of the time.
  void change_payload(MutableFrame& frame) {
    const bool has_marker = frame.kind == FrameKind::kHead || frame.kind == FrameKind::kKey ||
                            frame.kind == FrameKind::kIndex;
    const std::size_t kept =
        has_marker && frame.payload.size() > sizeof(recording::Marker) && below(16) != 0
            ? sizeof(recording::Marker)
            : 0;
    frame.payload =
        frame.payload.substr(0, kept) + mutated(std::string_view(frame.payload).substr(kept));
  }

  void change_unpacked(std::vector<MutableFrame>& frames) {
    // From anywhere, the next frame that has packed bytes.
    const std::size_t first = below(frames.size());
    for (std::size_t step = 0; step < frames.size(); ++step) {
      MutableFrame& frame = frames[(first + step) % frames.size()];
      if (frame.kind == FrameKind::kSchema) return change_schema(frame);
      if (frame.kind == FrameKind::kKey) return change_directory(frame);
    }
  }

  void change_schema(MutableFrame& frame) {
    ByteReader in = reader_of(frame.payload);
    const std::uint64_t number = in.number();
    in.skip(sizeof(Guid));
    const std::uint64_t consistency = in.number(), words = in.number();
    auto part = packed_part(frame.payload, in);
    if (!part) return;
    if (below(8) != 0) part->bytes = mutated(part->bytes);
    const std::uint64_t new_words = below(4) == 0 ? below(64) : words;
    part->before.clear();
    ByteWriter writer(part->before);
    writer.number(number);
    writer.raw(recording::hash_of(part->bytes, static_cast<Consistency>(consistency & 1U),
                                  static_cast<std::uint32_t>(new_words)));
    writer.number(consistency & 1U);
    writer.number(new_words);
    frame.payload = part->payload();
  }

  void change_directory(MutableFrame& frame) {
    ByteReader in = reader_of(frame.payload);
    in.skip(sizeof(recording::Marker));
    for (int number = 0; number < 5; ++number) static_cast<void>(in.number());
    static_cast<void>(in.text(in.rest().size()));
    auto part = packed_part(frame.payload, in);
    if (!part) return;
    part->bytes = mutated(part->bytes);
    frame.payload = part->payload();
    if (below(2) == 0) leave_out_rows(frame);
  }

  // Rows of another directory do not decode. Without rates that are due there are none.
  void leave_out_rows(MutableFrame& frame) {
    const bool is_key = frame.kind == FrameKind::kKey;
    if (!is_key && frame.kind != FrameKind::kTick) return;
    ByteReader in = reader_of(frame.payload);
    if (is_key) in.skip(sizeof(recording::Marker));
    for (int number = 0; number < 3; ++number) static_cast<void>(in.number());
    const std::size_t due = frame.payload.size() - in.rest().size();
    static_cast<void>(in.number());
    const std::size_t behind_due = frame.payload.size() - in.rest().size();
    if (is_key) static_cast<void>(in.number());
    static_cast<void>(in.text(in.rest().size()));
    if (is_key) recording::skip_packed(in);
    if (in.failed()) return;
    const std::size_t rows = frame.payload.size() - in.rest().size();
    std::string payload = frame.payload.substr(0, due);
    ByteWriter(payload).number(0);
    payload += frame.payload.substr(behind_due, rows - behind_due);
    frame.payload = payload + no_rows();
  }

  static const std::string& no_rows() {
    static const std::string bytes = [] {
      recording::RowEncoder encoder;
      encoder.begin_tick();
      std::string tick;
      encoder.finish_tick(tick);
      return tick;
    }();
    return bytes;
  }

  // Frames have other offsets now: summaries name that of the first chunk, an index those of all.
  static void point_again(std::vector<MutableFrame>& frames) {
    const auto of_kind = [&frames](FrameKind kind) {
      return std::find_if(frames.begin(), frames.end(),
                          [kind](const MutableFrame& one) { return one.kind == kind; });
    };
    const auto key = of_kind(FrameKind::kKey);
    std::uint64_t offset = 0;
    for (auto one = frames.begin(); one != key; ++one) {
      offset += recording::kFrameHead + one->payload.size();
    }
    for (MutableFrame& frame : frames) {
      if (frame.kind == FrameKind::kSummary) frame.payload = pointing_to(offset, frame.payload);
    }
    if (of_kind(FrameKind::kIndex) != frames.end()) end(frames);
  }

  static std::string pointing_to(std::uint64_t chunk, const std::string& summary) {
    ByteReader in = reader_of(summary);
    std::string payload;
    ByteWriter writer(payload);
    writer.number(in.number());  // sequence of the file
    writer.number(chunk);
    static_cast<void>(in.number());
    return payload + summary.substr(summary.size() - in.rest().size());
  }

  // With the index that belongs to these frames.
  static void end(std::vector<MutableFrame>& frames) {
    std::erase_if(frames, [](const MutableFrame& one) { return one.kind == FrameKind::kIndex; });
    const std::string bytes = bytes_of(frames);
    recording::MemoryBytes source(std::as_bytes(std::span(bytes)));
    recording::FrameWalk walk(source);
    recording::ChunkIndex index;
    while (const auto frame = walk.next()) index.take(*frame);
    std::string frame;
    index.append_to(frame, bytes.size());
    frames.push_back({FrameKind::kIndex, frame.substr(recording::kFrameHead), true});
  }

  std::mt19937 random_;
  std::size_t bytes_max_;
  std::size_t room_ = 0;
};

}  // namespace meterbank::test
