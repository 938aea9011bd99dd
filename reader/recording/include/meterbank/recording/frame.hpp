// SPDX-License-Identifier: Apache-2.0
//
// The format of a recording, from the outside in: files, frames, chunks. docs/recording.md has what
// frames contain.
//
// A recording is a file, or a directory of files that follow one another. A file is a sequence of
// frames and is only ever appended to; what was written is never written again.
//
//   +------+--------+--------+-----+------+------+-- --+------+-----+------+-- --+-------+
//   | head | schema | schema | key | tick | tick | ... | tick | key | tick | ... | index |
//   +------+--------+--------+-----+------+------+-- --+------+-----+------+-- --+-------+
//                            |<------ a chunk ------------->|
//
//   frame                     bytes
//   +-----------------------+
//   | length of the payload |   4
//   | CRC-32 of kind and    |   4   that of zlib
//   |   payload             |
//   | kind                  |   1
//   | payload               |
//   +-----------------------+
//
// 1. All numbers of fixed size are little-endian.
// 2. The first frame is a head. A schema frame precedes the first key frame that refers to it, and
//    a file has each schema once.
// 3. A key frame has the whole directory: providers, sets, instances. Coding begins anew there, so
//    a chunk needs nothing but the schemas before it. A tick has what changed since the frame
//    before it, and the values.
// 4. A file may end anywhere: what is not a whole frame with the right CRC is the end. A file that
//    was ended in order has an index as its last frame, and a reader finds it by the last 16 bytes.
// 5. The payloads of heads, key frames and indexes begin with a marker. After a frame that is
//    damaged, a reader looks for the next marker and goes on there, or at the next whole schema.
// 6. A reader skips frames of kinds that it does not know.
//
// Thread safety  Functions may be called concurrently on different objects.
// Errors         FrameWalk says where frames are missing. A source of bytes that cannot read ends
//                there.
// Progress       Bounded by the bytes.
// Cost           A frame that is walked over costs its CRC.
// Lifetime       A Frame points into the bytes of the source.
// Units          Sizes and offsets are bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace meterbank::recording {

enum class FrameKind : std::uint8_t {
  kHead = 'H',     // who records, on which machine; first frame of a file
  kSchema = 'S',   // a counterset as its provider describes it
  kKey = 'K',      // a chunk begins
  kTick = 'T',     // one sample
  kGap = 'G',      // ticks that were missed, and why
  kMark = 'M',     // a text that belongs to a moment
  kSummary = 'P',  // the extremes of all counters in the parts of a chunk
  kIndex = 'I',    // where the chunks of this file begin; last frame
};

inline constexpr std::size_t kFrameHead = 9;
inline constexpr std::uint32_t kFrameBytesMax = std::uint32_t{256} << 20U;  // the longest payload

// Like that of PNG: not text, and different if a transfer changed line ends or the eighth bit.
using Marker = std::array<char, 8>;
inline constexpr Marker kHeadMarker{'\x8d', 'M', 'B', 'R', '\r', '\n', '\x1a', 'H'};
inline constexpr Marker kKeyMarker{'\x8d', 'M', 'B', 'R', '\r', '\n', '\x1a', 'K'};
inline constexpr Marker kIndexMarker{'\x8d', 'M', 'B', 'R', '\r', '\n', '\x1a', 'I'};
// The last bytes of a file that was ended in order: where its index frame begins, and the marker.
inline constexpr std::size_t kTrailer = 16;

inline constexpr std::uint32_t kFormatMajor = 1;   // a reader of another major version refuses
inline constexpr std::uint32_t kFormatMinor = 0;   // grows when frames get fields at their end
inline constexpr std::uint32_t kMinorOfHosts = 1;  // of a recording of several machines

struct Frame {
  FrameKind kind = FrameKind::kHead;
  std::uint64_t offset = 0;  // where it begins in the file
  std::span<const std::byte> payload;

  [[nodiscard]] std::uint64_t end() const noexcept { return offset + kFrameHead + payload.size(); }
};

// Makes room for the head of a frame; the payload is to be appended. Returns where it began.
[[nodiscard]] std::size_t begin_frame(std::string& out);
// Precondition: the payload has at most kFrameBytesMax.
void end_frame(std::string& out, std::size_t begin, FrameKind kind);

// Where the bytes of a file come from.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  // These bytes, or as many as there are. Valid until the next call. May throw std::bad_alloc.
  [[nodiscard]] virtual std::span<const std::byte> at(std::uint64_t offset, std::size_t bytes) = 0;
};

class MemoryBytes : public ByteSource {
 public:
  explicit MemoryBytes(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return bytes_.size(); }
  [[nodiscard]] std::span<const std::byte> at(std::uint64_t offset, std::size_t bytes) override {
    if (offset >= bytes_.size()) return {};
    const auto rest = bytes_.subspan(offset);
    return rest.first(bytes < rest.size() ? bytes : rest.size());
  }

 private:
  std::span<const std::byte> bytes_;
};

// Goes over the frames of a file.
class FrameWalk {
 public:
  explicit FrameWalk(ByteSource& file, std::uint64_t offset = 0) noexcept
      : file_(&file), offset_(offset) {}

  // Returns the next whole frame, which stays valid until the next call, or nothing at the end of
  // the file. It skips bytes that are not a frame, up to the next marker or schema frame.
  [[nodiscard]] std::optional<Frame> next();
  // Returns the frame that begins at offset(), or nothing where no frame begins. The frame stays
  // valid until the next call.
  [[nodiscard]] std::optional<Frame> here();
  // False once frames with a wrong CRC took too many bytes, each time they were read. Then the
  // search for frames behind damage ends, and offsets that a file claims are not worth reading.
  [[nodiscard]] bool may_go_on() const noexcept;
  // The next call reads from this offset.
  void go_to(std::uint64_t offset) noexcept { offset_ = offset; }

  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }  // of the next frame
  // Where the last whole frame ends.
  [[nodiscard]] std::uint64_t whole() const noexcept { return whole_; }
  // Bytes that are no frame and were skipped since it was asked last.
  struct Skipped {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
    bool is_cut = false;  // they begin like a frame that the file is too short for
  };
  [[nodiscard]] std::optional<Skipped> take_skipped() noexcept;

 private:
  [[nodiscard]] bool go_on_behind_damage();
  [[nodiscard]] bool is_schema_at(std::uint64_t offset, std::uint64_t end);
  [[nodiscard]] std::uint64_t next_schema(std::uint64_t from, std::uint64_t end);

  ByteSource* file_;
  std::uint64_t offset_;
  std::uint64_t whole_ = 0;
  std::optional<Skipped> skipped_;
  bool is_cut_ = false;        // what here() has found last
  std::uint64_t refused_ = 0;  // bytes whose CRC was wrong
};

}  // namespace meterbank::recording
