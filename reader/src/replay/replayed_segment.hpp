// SPDX-License-Identifier: Apache-2.0
//
// The memory of one provider of a recording, in the shape of a segment. Extent 0 is a header of its
// own; each registration has an extent with its record, and one for each group of rows.
//
// The number of a record's extent is never used for another registration: by it two samples know
// that their rows are of the same one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "../catalog/memory/recorded_rows.hpp"
#include "meterbank/shm/segment.hpp"

namespace meterbank {

class ReplayedSegment {
 public:
  ReplayedSegment();

  // The bytes must stay until remove(). Returns the number of the extent.
  [[nodiscard]] std::uint32_t add(MappedBytes bytes);
  // The number may stand for other memory from now on.
  void remove(std::uint32_t extent) noexcept;
  // The number stays, without memory until replace().
  void empty(std::uint32_t extent) noexcept { replace(extent, {}); }
  void replace(std::uint32_t extent, MappedBytes bytes) noexcept;

  // All extents; the same object as long as they are the same.
  [[nodiscard]] const std::shared_ptr<const MappedSegment>& mapped();
  // Keeps the header.
  [[nodiscard]] std::shared_ptr<const RecordedProvider> recorded() const noexcept {
    return {head_, &head_->recorded};
  }

  void set_version(std::uint64_t directory_version) noexcept;
  void set_liveness(std::uint64_t heartbeat_age_ns, std::uint64_t refused) noexcept;

 private:
  struct Head {
    SegmentHeader header{};
    RecordedProvider recorded{};
  };

  std::shared_ptr<Head> head_;
  std::vector<MappedBytes> extents_;  // those behind the header
  std::vector<std::uint32_t> free_;
  std::shared_ptr<const MappedSegment> first_;
  std::shared_ptr<const MappedSegment> mapped_;  // null: to be made
};

}  // namespace meterbank
