// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cstring>

#include "mapping.hpp"
#include "meterbank/shm/segment.hpp"

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

namespace meterbank {

struct MappedExtent::Mapping {
  MappedRegion region;
  MappedBytes bytes;
  std::uint64_t inode = 0;
  std::uint32_t uid = 0;
};

MappedExtent::MappedExtent() noexcept = default;
MappedExtent::MappedExtent(MappedExtent&&) noexcept = default;
MappedExtent& MappedExtent::operator=(MappedExtent&&) noexcept = default;
MappedExtent::~MappedExtent() = default;

Result<std::uint64_t> pass_attach_gate(int descriptor, std::uint64_t bytes_max) {
  // Seals first: once SEAL is set, nothing checked below can change any more.
  const int seals = ::fcntl(descriptor, F_GET_SEALS);
  if (seals < 0) {
    return fail(ErrorCode::kNotSealable,
                "descriptor is not a memfd (device, pipe, directory, file)",
                "only a provider's own memfd can be attached");
  }
  constexpr int kNeeded = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  if ((seals & kNeeded) != kNeeded || (seals & (F_SEAL_WRITE | F_SEAL_FUTURE_WRITE)) == 0) {
    return fail(ErrorCode::kUnsealed, "memfd without the seals that keep readers alive",
                "the provider must seal SHRINK, GROW, FUTURE_WRITE and SEAL");
  }
  struct statfs filesystem {};
  if (::fstatfs(descriptor, &filesystem) != 0) {
    return fail(ErrorCode::kSystem, "filesystem of a memfd", {}, errno);
  }
  if (filesystem.f_type != TMPFS_MAGIC) {
    return fail(ErrorCode::kWrongFilesystem, "memfd on hugetlbfs or another filesystem",
                "the provider must use ordinary pages");
  }
  struct stat facts {};
  if (::fstat(descriptor, &facts) != 0) {
    return fail(ErrorCode::kSystem, "size of a memfd", {}, errno);
  }
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const auto bytes = static_cast<std::uint64_t>(facts.st_size);
  if (!S_ISREG(facts.st_mode) || facts.st_size <= 0 || bytes % page != 0 || bytes > bytes_max) {
    return fail(ErrorCode::kBadSize,
                "memfd of " + std::to_string(facts.st_size) + " bytes (cap " +
                    std::to_string(bytes_max) + ")",
                "raise segment_bytes_max if the provider is trusted");
  }
  // Not st_blocks: pages beyond the end count in it and make up for holes. In memory that passed
  // the seals no hole can appear later: neither FALLOC_FL_PUNCH_HOLE nor MADV_REMOVE is allowed,
  // not even to a process that mapped it writable before.
  if (::lseek(descriptor, 0, SEEK_HOLE) != facts.st_size) {
    return fail(ErrorCode::kSparse, "memfd with holes, which would be charged to this reader",
                "the provider must write every page before it seals");
  }
  return bytes;
}

Result<MappedExtent> MappedExtent::map(UniqueFd descriptor, std::uint64_t bytes_max) {
  const auto bytes = pass_attach_gate(descriptor.get(), bytes_max);
  if (!bytes) return tl::make_unexpected(bytes.error());
  auto region = map_region(descriptor.get(), *bytes, Access::kRead);
  if (!region) return tl::make_unexpected(region.error());
  struct stat facts {};
  if (::fstat(descriptor.get(), &facts) != 0) {
    return fail(ErrorCode::kSystem, "owner of a memfd", {}, errno);
  }
  ::madvise(region->data(), *bytes, MADV_DONTDUMP);
  MappedExtent extent;
  extent.mapping_ = std::make_unique<Mapping>();
  extent.mapping_->region = std::move(*region);
  extent.mapping_->bytes = {extent.mapping_->region.data(), extent.mapping_->region.size()};
  extent.mapping_->inode = facts.st_ino;
  extent.mapping_->uid = facts.st_uid;
  return extent;
}

MappedExtent MappedExtent::over(MappedBytes bytes) {
  MappedExtent extent;
  extent.mapping_ = std::make_unique<Mapping>();
  extent.mapping_->bytes = bytes;
  return extent;
}

MappedBytes MappedExtent::bytes() const noexcept { return mapping_->bytes; }
std::uint64_t MappedExtent::inode() const noexcept { return mapping_->inode; }
std::uint32_t MappedExtent::uid() const noexcept { return mapping_->uid; }

Result<std::shared_ptr<const MappedSegment>> MappedSegment::attach(MappedExtent first) {
  const auto* header = first.bytes().at<SegmentHeader>(0);
  if (header == nullptr) {
    return fail(ErrorCode::kBadSize, "extent smaller than a segment header");
  }
  // [Q1] pairs with [P1]. Without it the fields below could be older than the magic word.
  if (header->magic.load(std::memory_order_acquire) != kSegmentMagic) {
    return fail(ErrorCode::kNotASegment, "no segment magic: another file, or a provider starting");
  }
  const std::uint32_t abi = header->abi_mark;
  if (abi != kAbiMark) {
    return fail(ErrorCode::kWrongAbi, "segment of another byte order or word size");
  }
  const std::uint16_t major = header->layout_major;
  if (major != kLayoutMajor) {
    const bool newer = major > kLayoutMajor;
    return fail(newer ? ErrorCode::kNewerLayout : ErrorCode::kCorrupt,
                "segment layout " + std::to_string(major) + ", this reader knows " +
                    std::to_string(kLayoutMajor),
                newer ? "upgrade this reader" : "restart the provider with a current library");
  }
  const std::uint32_t header_bytes = header->header_bytes;
  if (header_bytes < kHeaderBytesMin) {
    return fail(ErrorCode::kCorrupt, "segment header shorter than its layout version says");
  }
  auto segment = std::shared_ptr<MappedSegment>(new MappedSegment);
  segment->extents_.push_back(std::make_shared<MappedExtent>(std::move(first)));
  segment->header_ = header;
  segment->has_change_log_ = header_bytes >= sizeof(SegmentHeader);
  return std::shared_ptr<const MappedSegment>(std::move(segment));
}

std::shared_ptr<const MappedSegment> MappedSegment::with(MappedExtent next) const {
  auto grown = std::shared_ptr<MappedSegment>(new MappedSegment(*this));
  grown->extents_.push_back(std::make_shared<MappedExtent>(std::move(next)));
  return grown;
}

std::shared_ptr<const MappedSegment> MappedSegment::with(std::vector<MappedExtent> next) const {
  auto grown = std::shared_ptr<MappedSegment>(new MappedSegment(*this));
  grown->extents_.reserve(extents_.size() + next.size());
  for (MappedExtent& extent : next) {
    grown->extents_.push_back(std::make_shared<MappedExtent>(std::move(extent)));
  }
  return grown;
}

std::shared_ptr<const MappedSegment> MappedSegment::first_alone() const {
  auto first = std::shared_ptr<MappedSegment>(new MappedSegment);
  first->extents_.push_back(extents_.front());
  first->header_ = header_;
  first->has_change_log_ = has_change_log_;
  return first;
}

std::uint64_t MappedSegment::bytes() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& extent : extents_) sum += extent->bytes().size();
  return sum;
}

bool MappedSegment::copy_out(Ref ref, std::uint64_t count, std::byte* target) const noexcept {
  if (extent_of(ref) >= extents_.size()) return false;
  const std::byte* source = extents_[extent_of(ref)]->bytes().span_at(offset_of(ref), count, 1);
  if (source == nullptr) return false;
  if (count == 0) return true;  // memcpy may not be given the null pointer of an empty vector
  std::memcpy(target, source, count);
  // Keeps the compiler from reading the source again when the copy is checked.
  asm volatile("" : : "r"(target) : "memory");
  return true;
}

}  // namespace meterbank
