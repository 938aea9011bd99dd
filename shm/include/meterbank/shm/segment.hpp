// SPDX-License-Identifier: Apache-2.0
//
// Extents: how the memory of a segment is made by its owner and mapped by its readers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "meterbank/base/known_fd.hpp"
#include "meterbank/base/result.hpp"
#include "meterbank/base/unique_fd.hpp"
#include "meterbank/shm/mapped_bytes.hpp"
#include "meterbank/shm/segment_layout.hpp"

namespace meterbank {

// ---- Owner ----

// One memfd of the owner: allocated and written to the last page, mapped writable, left out of core
// dumps, sealed. Moving it does not move the memory. Children have private zero pages in its place:
// those of fork() after detach(), those of _Fork() and clone() as far as
// room_for_extent.hpp says.
class OwnedExtent {
 public:
  // `bytes` is rounded up to pages. Errors: kNoSpace (memory, tmpfs, RLIMIT_FSIZE), kSystem.
  // Never raises SIGXFSZ.
  static Result<OwnedExtent> create(const std::string& name, std::uint64_t bytes);
  OwnedExtent(OwnedExtent&&) noexcept;
  OwnedExtent& operator=(OwnedExtent&&) noexcept;
  ~OwnedExtent();

  [[nodiscard]] std::byte* data() const noexcept;
  [[nodiscard]] std::uint64_t size() const noexcept;
  [[nodiscard]] int descriptor() const noexcept;
  // False: the program has closed it, and its number may stand for another file. One system call.
  [[nodiscard]] bool has_descriptor() const noexcept;
  [[nodiscard]] std::uint64_t inode() const noexcept;

  // The caller's from now on. It keeps the memory when this object is gone.
  [[nodiscard]] KnownFd take_descriptor() noexcept;

  // Private zero pages take the place of the shared ones, and the descriptor is closed: in the
  // child of a fork, and at the end, while threads may still count. Async-signal-safe. False: the
  // kernel refused, and the pages stay as they are.
  bool detach() noexcept;

 private:
  struct Mapping;
  OwnedExtent() noexcept;
  std::unique_ptr<Mapping> mapping_;
};

// ---- Reader ----

// The attach gate: nothing is mapped that could fault, change size or charge the reader. Checks in
// this order: seals, filesystem, kind and size, holes. `bytes_max` is the caller's cap.
//
//   seal             with it, for as long as the memory exists
//   SHRINK, GROW     the size stays: no load beyond the end, no SIGBUS
//   FUTURE_WRITE     no new writable mapping, and no holes: PUNCH_HOLE and MADV_REMOVE fail with
//   or WRITE         EPERM, also for a process that still has a writable mapping
//   SEAL             the other three stay
//
// So memory without a hole has none ever after. A hole is a page that does not exist: a load from
// it allocates one and charges the reader's memory control group. A page that was allocated but
// never written counts as a hole. Pages in swap space are not holes; reading one in is charged to
// the provider again. What can still fault is memory that the hardware reports as broken.
// Errors: kNotSealable kUnsealed kWrongFilesystem kBadSize kSparse kDenied kSystem.
[[nodiscard]] Result<std::uint64_t> pass_attach_gate(int descriptor, std::uint64_t bytes_max);

class MappedExtent {
 public:
  // The mapping alone keeps the memory: the descriptor is closed.
  static Result<MappedExtent> map(UniqueFd descriptor, std::uint64_t bytes_max);
  // Memory that the caller keeps, aligned to a cache line: an image from a file, or a fuzzer's.
  static MappedExtent over(MappedBytes bytes);
  MappedExtent(MappedExtent&&) noexcept;
  MappedExtent& operator=(MappedExtent&&) noexcept;
  ~MappedExtent();

  [[nodiscard]] MappedBytes bytes() const noexcept;
  [[nodiscard]] std::uint64_t inode() const noexcept;
  [[nodiscard]] std::uint32_t uid() const noexcept;  // st_uid

 private:
  struct Mapping;
  MappedExtent() noexcept;
  std::unique_ptr<Mapping> mapping_;
};

// All extents of one provider that a reader has mapped. Immutable; a grown segment is a new
// MappedSegment that shares the extents of the old one.
class MappedSegment {
 public:
  // Checks magic, ABI, layout version. Errors: kNotASegment kWrongAbi kNewerLayout kCorrupt.
  static Result<std::shared_ptr<const MappedSegment>> attach(MappedExtent first);
  [[nodiscard]] std::shared_ptr<const MappedSegment> with(MappedExtent next) const;
  [[nodiscard]] std::shared_ptr<const MappedSegment> with(std::vector<MappedExtent> next) const;
  // Only the first extent, which holds the header. attach() checked it, so this cannot fail.
  [[nodiscard]] std::shared_ptr<const MappedSegment> first_alone() const;

  // Its last member, `changes`, is part of it only if has_change_log() says so.
  [[nodiscard]] const SegmentHeader& header() const noexcept { return *header_; }
  [[nodiscard]] bool has_change_log() const noexcept { return has_change_log_; }
  [[nodiscard]] std::size_t extents() const noexcept { return extents_.size(); }
  [[nodiscard]] const MappedExtent& extent(std::size_t index) const noexcept {
    return *extents_[index];
  }
  [[nodiscard]] std::uint64_t bytes() const noexcept;

  // A whole T at `ref`, or null. The one way from a number in a segment to memory.
  template <typename T>
  [[nodiscard]] const T* at(Ref ref) const noexcept {
    if (extent_of(ref) >= extents_.size()) return nullptr;
    return extents_[extent_of(ref)]->bytes().template at<T>(offset_of(ref));
  }
  // `count` bytes at `ref`, aligned to a cache line, or null.
  [[nodiscard]] const std::byte* lines_at(Ref ref, std::uint64_t count) const noexcept {
    if (extent_of(ref) >= extents_.size()) return nullptr;
    return extents_[extent_of(ref)]->bytes().span_at(offset_of(ref), count, kCacheLine);
  }
  // Copies `count` bytes at `ref` out; false if they are not all there. For bytes that are
  // constant since their publication; a copy can still be anything and is to be checked.
  [[nodiscard]] bool copy_out(Ref ref, std::uint64_t count, std::byte* target) const noexcept;

 private:
  MappedSegment() = default;
  std::vector<std::shared_ptr<const MappedExtent>> extents_;
  const SegmentHeader* header_ = nullptr;
  bool has_change_log_ = false;
};

}  // namespace meterbank
