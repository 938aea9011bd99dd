// SPDX-License-Identifier: Apache-2.0
//
// What a reader can see of a provider, taken apart far enough for a test to judge every word. It
// uses the mapping and the block protocol only, so that it shares no decoding with the library
// whose promises depend on what is checked here.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "meterbank/base/result.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank::test {

// A slot that is LIVE or CLOSED.
struct SeenSlot {
  std::string set;
  std::string name;
  std::uint64_t generation = 0;
  SlotState state = SlotState::kFree;
  BlockForm form;
  BlockParts<const SharedWord> block;  // of shard 0
  const SharedWord* slot = nullptr;
};

class SegmentEye {
 public:
  // Opens the segment that the record at `path` points at. kGone: the process is no more.
  static Result<SegmentEye> of_record(const std::string& path);
  // The one record of `directory` that leads to a running process; stale ones are passed over.
  static Result<SegmentEye> of_directory(const std::string& directory);
  // A new mapping of the same memory through the descriptors that this eye has kept.
  [[nodiscard]] Result<SegmentEye> again() const;

  // Every registration, group and slot. Maps extents that were added meanwhile. Empty: all is well
  // formed and `slots` holds it; else what is wrong.
  [[nodiscard]] std::string walk(std::vector<SeenSlot>& slots);
  [[nodiscard]] const SegmentHeader& header() const noexcept { return segment_->header(); }
  [[nodiscard]] std::size_t extents() const noexcept { return segment_->extents(); }

 private:
  using Files = std::vector<std::shared_ptr<const UniqueFd>>;

  SegmentEye(std::shared_ptr<const MappedSegment> segment, Files files, pid_t pid)
      : segment_(std::move(segment)), files_(std::move(files)), pid_(pid) {}
  [[nodiscard]] std::string map_new_extents();
  [[nodiscard]] std::string walk_registration(Ref place, std::vector<SeenSlot>& slots) const;
  [[nodiscard]] std::string walk_group(Ref place, const BlockForm& form, const std::string& set,
                                       std::vector<SeenSlot>& slots) const;

  std::shared_ptr<const MappedSegment> segment_;
  Files files_;  // one an extent
  pid_t pid_ = 0;
};

// The block of the one slot that there is; a test that finds another number of them fails.
[[nodiscard]] BlockParts<const SharedWord> only_block(SegmentEye& eye);

// Paths of the pointer records in `directory`.
[[nodiscard]] std::vector<std::string> records_in(const std::string& directory);

}  // namespace meterbank::test
