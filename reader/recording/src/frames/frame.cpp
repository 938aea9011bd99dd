// SPDX-License-Identifier: Apache-2.0
#include "meterbank/recording/frame.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "meterbank/base/crc32.hpp"

namespace meterbank::recording {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are written as they lie here");

struct Lengths {
  std::uint32_t payload;
  std::uint32_t crc;
};
static_assert(sizeof(Lengths) + 1 == kFrameHead);

// Bytes of a file may lie in many frames that claim each other's bytes, and each claim costs a CRC.
// A file that was damaged has few of them.
constexpr std::uint64_t kRefusedFactor = 8;
constexpr std::uint64_t kSearchStep = 64 << 10U;  // that is searched at a time

// Of the kind and the payload behind it.
std::uint32_t crc_of(const std::byte* kind, std::size_t payload) noexcept {
  return crc32({kind, payload + 1});
}

}  // namespace

std::size_t begin_frame(std::string& out) {
  const std::size_t begin = out.size();
  out.append(kFrameHead, '\0');
  return begin;
}

void end_frame(std::string& out, std::size_t begin, FrameKind kind) {
  char* const frame = out.data() + begin;
  const std::size_t payload = out.size() - begin - kFrameHead;
  frame[sizeof(Lengths)] = static_cast<char>(kind);
  const Lengths lengths{
      static_cast<std::uint32_t>(payload),
      crc_of(reinterpret_cast<const std::byte*>(frame) + sizeof(Lengths), payload)};
  std::memcpy(frame, &lengths, sizeof lengths);
}

// A whole frame with the right CRC.
std::optional<Frame> FrameWalk::here() {
  Lengths lengths{};
  is_cut_ = true;
  if (offset_ >= file_->size() || file_->size() - offset_ < kFrameHead) return std::nullopt;
  const auto head = file_->at(offset_, kFrameHead);
  if (head.size() < kFrameHead) return std::nullopt;
  std::memcpy(&lengths, head.data(), sizeof lengths);
  is_cut_ = lengths.payload <= kFrameBytesMax;
  if (!is_cut_ || lengths.payload > file_->size() - offset_ - kFrameHead) return std::nullopt;
  const auto bytes = file_->at(offset_, kFrameHead + lengths.payload);
  if (bytes.size() < kFrameHead + lengths.payload) return std::nullopt;
  is_cut_ = false;
  const std::byte* const kind = bytes.data() + sizeof lengths;
  if (crc_of(kind, lengths.payload) != lengths.crc) {
    refused_ += lengths.payload;
    return std::nullopt;
  }
  return Frame{static_cast<FrameKind>(*kind), offset_, bytes.subspan(kFrameHead)};
}

// Schemas have no marker, and chunks behind them need them.
bool FrameWalk::is_schema_at(std::uint64_t offset, std::uint64_t end) {
  const auto head = file_->at(offset, kFrameHead);
  if (head.size() < kFrameHead) return false;
  Lengths lengths{};
  std::memcpy(&lengths, head.data(), sizeof lengths);
  if (lengths.payload > end - offset - kFrameHead) return false;
  const std::uint64_t before = std::exchange(offset_, offset);
  if (here()) return true;
  offset_ = before;
  return false;
}

std::uint64_t FrameWalk::next_schema(std::uint64_t from, std::uint64_t end) {
  std::uint64_t kind = from + sizeof(Lengths);
  while (kind < end && may_go_on()) {
    const auto bytes = file_->at(kind, static_cast<std::size_t>(std::min(end - kind, kSearchStep)));
    if (bytes.empty()) break;
    const auto found = std::find(bytes.begin(), bytes.end(), std::byte{'S'});
    const bool is_found = found != bytes.end();
    kind += static_cast<std::uint64_t>(found - bytes.begin());
    if (!is_found) continue;
    if (is_schema_at(kind - sizeof(Lengths), end)) return kind - sizeof(Lengths);
    ++kind;
  }
  return end;
}

// After too much of what is no frame, the rest is not looked at.
bool FrameWalk::may_go_on() const noexcept { return refused_ / kRefusedFactor <= file_->size(); }

bool FrameWalk::go_on_behind_damage() {
  constexpr std::size_t kCommon = kKeyMarker.size() - 1;
  const std::uint64_t from = offset_;
  // The frame that failed may be one with a marker, so the search begins behind its own.
  std::uint64_t next = file_->size();
  for (std::uint64_t at = from + kFrameHead + 1; may_go_on() && at < file_->size();
       at += kSearchStep) {
    const auto bytes = file_->at(at, static_cast<std::size_t>(kSearchStep) + kCommon - 1);
    if (bytes.empty()) break;
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    const std::size_t found = text.find(std::string_view(kKeyMarker.data(), kCommon));
    if (found == std::string_view::npos) continue;
    next = at + found - kFrameHead;
    break;
  }
  const bool is_cut = is_cut_;
  next = next_schema(from + 1, next);
  if (!skipped_) skipped_ = Skipped{from, 0, is_cut};
  skipped_->bytes = next - skipped_->offset;
  offset_ = next;
  return next < file_->size();
}

std::optional<Frame> FrameWalk::next() {
  while (offset_ < file_->size()) {
    if (const auto frame = here()) {
      offset_ = whole_ = frame->end();
      return frame;
    }
    if (!go_on_behind_damage()) return std::nullopt;
  }
  return std::nullopt;
}

std::optional<FrameWalk::Skipped> FrameWalk::take_skipped() noexcept {
  return std::exchange(skipped_, std::nullopt);
}

}  // namespace meterbank::recording
