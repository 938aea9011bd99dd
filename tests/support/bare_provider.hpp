// SPDX-License-Identifier: Apache-2.0
//
// The least that a catalog takes for a provider: sealed memory with a header, and a record. Costs
// one descriptor and no thread, so that one process can be a thousand of them.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include "meterbank/shm/pointer_record.hpp"
#include "meterbank/shm/segment.hpp"
#include "own_record.hpp"

namespace meterbank::test {

class BareProvider {
 public:
  explicit BareProvider(std::string name)
      : name_(std::move(name)), extent_(*OwnedExtent::create(name_, kExtentBytesMin)) {
    auto* const header = new (extent_.data()) SegmentHeader{};
    header->layout_major = kLayoutMajor;
    header->abi_mark = kAbiMark;
    header->header_bytes = sizeof(SegmentHeader);
    header->pid = static_cast<std::uint32_t>(::getpid());
    header->start_time = own_start_time();
    header->boot_id = boot_id();
    header->time_namespace = own_time_namespace();
    header->segment_id = {extent_.inode(), static_cast<std::uint64_t>(::getpid())};
    header->name_bytes = static_cast<std::uint32_t>(name_.size());
    std::memcpy(header->name.data(), name_.data(), name_.size());
    header->extents[0] = {extent_.size(), extent_.inode(),
                          static_cast<std::uint32_t>(extent_.descriptor()), 0};
    header->extents_count.store(1, std::memory_order_relaxed);  // relaxed: the magic publishes it
    header->magic.store(kSegmentMagic, std::memory_order_release);  // [P1]
  }

  [[nodiscard]] const OwnedExtent& memory() const noexcept { return extent_; }
  [[nodiscard]] PointerRecord record() const { return own_record(name_, extent_); }

 private:
  std::string name_;
  OwnedExtent extent_;
};

}  // namespace meterbank::test
