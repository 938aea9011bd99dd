// SPDX-License-Identifier: Apache-2.0
//
// Where the last moment at or before a time is. The wall clock may have been set while a recording
// was made, so moments that follow one another need not rise.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "file_bytes.hpp"
#include "meterbank/recording/recording.hpp"

namespace meterbank::recording {

struct SeekPlace {
  static constexpr std::uint64_t kAnyFrame = ~std::uint64_t{0};

  std::size_t file = 0;
  std::uint64_t chunk = 0;          // offset of its key frame
  std::uint64_t frame = kAnyFrame;  // of the moment; any: times rise in the chunk
};

class SeekOrder {
 public:
  SeekOrder() = default;
  explicit SeekOrder(std::span<const RecordingFile> files);

  // Whether times rise from the beginning of the recording to its end.
  [[nodiscard]] bool is_even() const noexcept { return is_even_; }
  // The best place first; the others are for when it cannot be read. Of an uneven recording it
  // reads when the ticks of some chunks are.
  [[nodiscard]] std::vector<SeekPlace> before(std::uint64_t realtime_ns,
                                              std::span<const RecordingFile> files,
                                              std::span<FileBytes> bytes) const;

 private:
  bool is_even_ = true;
};

}  // namespace meterbank::recording
