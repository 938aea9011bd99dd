// SPDX-License-Identifier: Apache-2.0
#include "replayed_segment.hpp"

#include <utility>

namespace meterbank {

// relaxed, all stores of this file: this thread reads what it writes.
ReplayedSegment::ReplayedSegment() : head_(std::make_shared<Head>()) {
  SegmentHeader& header = head_->header;
  header.layout_major = kLayoutMajor;
  header.layout_minor = kLayoutMinor;
  header.abi_mark = kAbiMark;
  header.header_bytes = sizeof(SegmentHeader);
  header.state.store(static_cast<std::uint32_t>(SegmentState::kLive), std::memory_order_relaxed);
  header.magic.store(kSegmentMagic, std::memory_order_relaxed);
  const auto* const bytes = reinterpret_cast<const std::byte*>(&header);
  first_ = *MappedSegment::attach(MappedExtent::over({bytes, sizeof header}));
}

std::uint32_t ReplayedSegment::add(MappedBytes bytes) {
  if (free_.empty()) {
    extents_.emplace_back();
    free_.reserve(extents_.capacity());  // so that remove() needs no memory
    free_.push_back(static_cast<std::uint32_t>(extents_.size()));
  }
  const std::uint32_t extent = free_.back();
  free_.pop_back();
  replace(extent, bytes);
  return extent;
}

void ReplayedSegment::remove(std::uint32_t extent) noexcept {
  empty(extent);
  free_.push_back(extent);
}

void ReplayedSegment::replace(std::uint32_t extent, MappedBytes bytes) noexcept {
  extents_[extent - 1] = bytes;
  mapped_ = nullptr;
}

const std::shared_ptr<const MappedSegment>& ReplayedSegment::mapped() {
  if (mapped_ != nullptr) return mapped_;
  std::vector<MappedExtent> extents;
  extents.reserve(extents_.size());
  for (const MappedBytes& bytes : extents_) extents.push_back(MappedExtent::over(bytes));
  mapped_ = first_->with(std::move(extents));
  return mapped_;
}

void ReplayedSegment::set_version(std::uint64_t directory_version) noexcept {
  head_->header.directory_version.store(directory_version, std::memory_order_relaxed);
}

void ReplayedSegment::set_liveness(std::uint64_t heartbeat_age_ns, std::uint64_t refused) noexcept {
  head_->recorded.heartbeat_age_ns.store(heartbeat_age_ns, std::memory_order_relaxed);
  head_->header.refused.front().store(refused, std::memory_order_relaxed);
}

}  // namespace meterbank
