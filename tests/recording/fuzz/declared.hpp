// SPDX-License-Identifier: Apache-2.0
//
// How much a recording says that there is to read, found without the reader: the bytes of its
// frames, what packed bytes become, and each schema, provider, set and row, by what it takes. The
// fuzzer holds memory and time of the reader against this.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>

#include "../../../reader/recording/src/frames/bytes.hpp"
#include "../../../reader/recording/src/ticks/directory_events.hpp"
#include "../../../reader/recording/src/ticks/packed.hpp"
#include "meterbank/reader/schema_decoder.hpp"
#include "meterbank/recording/frame.hpp"
#include "meterbank/shm/schema_layout.hpp"

namespace meterbank::test {

class DeclaredByRecording {
 public:
  explicit DeclaredByRecording(std::span<const std::byte> bytes) {
    recording::MemoryBytes source(bytes);
    recording::FrameWalk walk(source);
    while (const auto frame = walk.next()) take(*frame);
    end_chunk();
    most_ += bytes.size() + schemas_;
    work_ += bytes.size() + schemas_;
  }

  // What has to be in memory at a time. Chunks follow one another, and views of the last one stay
  // until the next one is shown.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return most_; }
  // The sum over all moments: to show one costs at most what there is.
  [[nodiscard]] std::uint64_t work() const noexcept { return work_; }

 private:
  // What a reader keeps of each. A word: its last value and 48 bytes in the coder, 8 in the replay.
  static constexpr std::uint64_t kProviderBytes = 2048, kSetBytes = 2048, kRowBytes = 256,
                                 kWordBytes = 64, kCounterBytes = 512;
  // To begin a chunk: the coder forgets its 340 KiB, which costs as much as so many declared bytes.
  static constexpr std::uint64_t kCoderWork = 16 << 10U;
  // Of lists whose entries take a byte or two: an offset is read as 8 bytes, a name as 24.
  static constexpr std::uint64_t kIndexFactor = 8, kSummaryFactor = 16;

  void take(const recording::Frame& frame) {
    recording::ByteReader in(frame.payload);
    switch (frame.kind) {
      case recording::FrameKind::kSchema:
        return take_schema(in);
      case recording::FrameKind::kKey:
        return take_key(in);
      case recording::FrameKind::kTick:
        return take_tick(in);
      case recording::FrameKind::kIndex:
        chunk_ += kIndexFactor * frame.payload.size();
        return;
      case recording::FrameKind::kSummary:
        chunk_ += kSummaryFactor * frame.payload.size();
        return;
      default:
        return;
    }
  }

  void take_schema(recording::ByteReader in) {
    const std::uint64_t number = in.number();
    in.skip(sizeof(Guid));
    static_cast<void>(in.number());
    const std::uint64_t words = std::min<std::uint64_t>(in.number(), kBlockWordsMax);
    const std::uint64_t bytes = unpacked_bytes(in, kSchemaBytesMax);
    words_of_schema_[number] = std::max(words_of_schema_[number], words);
    schemas_ += bytes + bytes / sizeof(CounterRecord) * kCounterBytes + words + kSetBytes;
  }

  void take_key(recording::ByteReader in) {
    end_chunk();
    in.skip(sizeof(recording::Marker));
    for (int number = 0; number < 5; ++number) static_cast<void>(in.number());
    take_section(in.text(in.rest().size()));
    const std::uint64_t size = in.number();
    const std::string_view packed = in.text(in.rest().size());
    std::string bytes;
    recording::ByteWriter(bytes).number(size);
    recording::ByteWriter(bytes).text(packed);
    recording::ByteReader again(std::as_bytes(std::span(bytes)));
    if (const auto section = recording::read_packed(again, recording::kFrameBytesMax)) {
      chunk_ += section->size();
      take_section(*section);
    } else {
      chunk_ += unpacked_at_most(size, packed.size());
    }
    work_ += chunk_ + kCoderWork;
  }

  void take_tick(recording::ByteReader in) {
    for (int number = 0; number < 4; ++number) static_cast<void>(in.number());
    take_section(in.text(in.rest().size()));
    work_ += chunk_;
  }

  void take_section(std::string_view section) {
    recording::ByteReader in(std::as_bytes(std::span(section)));
    const std::uint64_t events = in.number();
    for (std::uint64_t event = 0; event < events && !in.failed(); ++event) take_event(in);
  }

  void take_event(recording::ByteReader& in) {
    using recording::DirectoryEvent;
    const auto event = static_cast<DirectoryEvent>(in.number());
    const std::uint64_t index = in.number();
    switch (event) {
      case DirectoryEvent::kProvider:
        chunk_ += kProviderBytes + 2 * in.text(in.rest().size()).size();
        return;
      case DirectoryEvent::kNoProvider:
      case DirectoryEvent::kNoSet:
        return;
      case DirectoryEvent::kSet:
        return take_set(in, index, 6);
      case DirectoryEvent::kAnsweredSet:
        return take_set(in, index, 2);
      case DirectoryEvent::kRows:
        return take_rows(in, index);
    }
    in.fail();
  }

  void take_set(recording::ByteReader& in, std::uint64_t index, int more_numbers) {
    static_cast<void>(in.number());
    const auto words = words_of_schema_.find(in.number());
    for (int number = 0; number < more_numbers; ++number) static_cast<void>(in.number());
    chunk_ += kSetBytes;
    std::uint64_t& of_set = words_of_set_[index];
    if (words != words_of_schema_.end()) of_set = std::max(of_set, words->second);
  }

  void take_rows(recording::ByteReader& in, std::uint64_t index) {
    const auto words = words_of_set_.find(index);
    for (std::uint64_t ended = in.number(); ended > 0 && !in.failed(); --ended) {
      static_cast<void>(in.number());
    }
    for (std::uint64_t begun = in.number(); begun > 0 && !in.failed(); --begun) {
      for (int number = 0; number < 4; ++number) static_cast<void>(in.number());
      chunk_ += kRowBytes + in.text(in.rest().size()).size();
      if (words != words_of_set_.end()) chunk_ += words->second * kWordBytes;
    }
  }

  // Of bytes that do not unpack: how far an unpacker may get. A byte takes two symbols, and each of
  // them at least this part of a bit.
  static std::uint64_t unpacked_at_most(std::uint64_t size, std::uint64_t packed) noexcept {
    constexpr std::uint64_t kBytesOfByte = 8192;
    return std::min(size, (packed + 8) * kBytesOfByte);
  }

  static std::uint64_t unpacked_bytes(recording::ByteReader& in, std::uint64_t most) {
    const std::uint64_t size = in.number();
    const std::string_view packed = in.text(in.rest().size());
    return size > most ? 0 : unpacked_at_most(size, packed.size());
  }

  void end_chunk() {
    most_ = std::max(most_, before_ + chunk_);
    before_ = chunk_;
    chunk_ = 0;
  }

  std::map<std::uint64_t, std::uint64_t> words_of_schema_, words_of_set_;
  std::uint64_t schemas_ = 0, before_ = 0, chunk_ = 0, most_ = 0, work_ = 0;
};

}  // namespace meterbank::test
