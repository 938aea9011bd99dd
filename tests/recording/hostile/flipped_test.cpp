// SPDX-License-Identifier: Apache-2.0
//
// Bytes that are not what was written. A moment is shown as it was recorded, or not at all.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "../../support/depth.hpp"
#include "made_recording.hpp"

namespace meterbank::recording {
namespace {

// Chunks of one file.
std::vector<std::vector<std::size_t>> chunks_of(const MadeRecording& made,
                                                std::size_t chunk_ticks) {
  std::vector<std::vector<std::size_t>> chunks((made.ticks.size() + chunk_ticks - 1) / chunk_ticks);
  for (std::size_t tick = 0; tick < made.ticks.size(); ++tick) {
    chunks[tick / chunk_ticks].push_back(tick);
  }
  return chunks;
}

bool is_in_schema(const MadeFile& file, std::uint64_t offset) {
  MemoryBytes source(std::as_bytes(std::span(file.bytes)));
  FrameWalk walk(source);
  while (const auto frame = walk.next()) {
    if (offset >= frame->offset && offset < frame->end()) return frame->kind == FrameKind::kSchema;
  }
  return false;
}

class FlippedRecording : public testing::Test {
 protected:
  static constexpr std::size_t kChunkTicks = 3;

  // Opens the recording with a byte changed, and reads it through and by seeking.
  void read_flipped(std::uint64_t offset, std::string bytes) {
    bytes[offset] =
        static_cast<char>(static_cast<unsigned char>(bytes[offset]) ^ (1U << (offset % 8)));
    write_file(path_, bytes);
    ShownRecording shown(path_);
    if (!shown.is_open()) {
      EXPECT_LT(offset, made_.ticks[0].begin) << shown.error().what;
      return;
    }
    const auto numbers = shown_ticks(shown, made_.ticks);
    const std::set<std::size_t> seen(numbers.begin(), numbers.end());
    const RecordingFile& file = shown.recording().files()[0];
    EXPECT_TRUE(!shown.recording().damages().empty() || file.unfinished != 0);
    if (!is_in_schema(made_.files.all()[0], offset)) expect_other_chunks(seen, offset);
    seek_all(shown, seen);
  }

  // A chunk is lost from the damage to its end, and no other.
  void expect_other_chunks(const std::set<std::size_t>& seen, std::uint64_t offset) {
    for (const auto& chunk : chunks_of(made_, kChunkTicks)) {
      const bool is_hit =
          offset >= made_.ticks[chunk.front()].begin && offset < made_.ticks[chunk.back()].end;
      for (const std::size_t tick : chunk) {
        if (!is_hit || made_.ticks[tick].end <= offset) {
          EXPECT_TRUE(seen.contains(tick)) << "tick " << tick;
        }
      }
    }
  }

  // A seek shows the last of the moments that can be shown.
  void seek_all(ShownRecording& shown, const std::set<std::size_t>& seen) {
    for (std::size_t back = made_.ticks.size(); back-- != 0;) {
      const bool found = shown.recording().seek(made_.ticks[back].time.realtime_ns);
      auto last = seen.upper_bound(back);
      ASSERT_EQ(found, last != seen.begin()) << "tick " << back;
      if (!found) continue;
      ASSERT_TRUE(shown.shows(made_.ticks[*--last])) << "tick " << back;
    }
  }

  const MadeRecording made_{{.ticks = 9, .chunk_ticks = kChunkTicks, .changes = 1}};
  const test::TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/flipped.mbr";
};

TEST_F(FlippedRecording, ShowsWhatWasRecordedOrNothing) {
  const std::string& bytes = made_.files.all()[0].bytes;
  const std::uint64_t step = test::runs_long() ? 1 : 1 + bytes.size() / test::tries(120);
  for (std::uint64_t offset = 0; offset < bytes.size(); offset += step) {
    SCOPED_TRACE("byte " + std::to_string(offset));
    read_flipped(offset, bytes);
    if (HasFailure()) return;
  }
}

TEST_F(FlippedRecording, WithoutAnIndexIsReadTheSameWay) {
  std::string bytes = made_.files.all()[0].bytes;
  bytes.resize(made_.ticks.back().end);
  const std::uint64_t step = test::runs_long() ? 1 : 1 + bytes.size() / test::tries(120);
  for (std::uint64_t offset = 0; offset < bytes.size(); offset += step) {
    SCOPED_TRACE("byte " + std::to_string(offset));
    read_flipped(offset, bytes);
    if (HasFailure()) return;
  }
}

// The control of these tests: a value that is changed behind the CRC is noticed by them.
TEST_F(FlippedRecording, TestNoticesAWrongValue) {
  auto ticks = made_.ticks;
  write_file(path_, made_.files.all()[0].bytes);
  ShownRecording shown(path_);
  ASSERT_TRUE(shown.is_open());
  ASSERT_TRUE(shown.recording().next());
  EXPECT_TRUE(shown.shows(ticks[0]));
  ticks[0].lines.back() += '1';
  EXPECT_FALSE(shown.shows(ticks[0]));
}

TEST_F(FlippedRecording, IsReadOnAfterForeignBytesOfAnyLength) {
  const std::string& bytes = made_.files.all()[0].bytes;
  const std::uint64_t place = made_.ticks[2].end;
  for (const std::size_t length : {1U, 8U, 9U, 10U, 1000U, 65527U, 65536U, 131080U}) {
    SCOPED_TRACE(length);
    std::string longer = bytes.substr(0, place);
    longer.append(length, '\x55');
    longer += bytes.substr(place, made_.ticks.back().end - place);
    write_file(path_, longer);
    ShownRecording shown(path_);
    ASSERT_TRUE(shown.is_open());
    // The chunk before and the one behind, whose schemas may have been in between.
    const auto numbers = shown_ticks(shown, made_.ticks);
    ASSERT_FALSE(numbers.empty());
    EXPECT_EQ(numbers.front(), 0U);
    EXPECT_EQ(numbers.back(), made_.ticks.size() - 1);
    ASSERT_EQ(shown.recording().damages().size(), 1U);
    EXPECT_EQ(shown.recording().damages()[0].offset, place);
  }
}

}  // namespace
}  // namespace meterbank::recording
