// SPDX-License-Identifier: Apache-2.0
//
// Memory of a descriptor, mapped for as long as its owner lives.
//
// Not boost::interprocess::mapped_region: its header initialises a variable before main() in every
// object that includes it, and the libraries do without that (tests/before_main).
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "meterbank/base/result.hpp"

namespace meterbank {

enum class Access : int { kRead = PROT_READ, kReadWrite = PROT_READ | PROT_WRITE };

// Default-constructed: no memory. A region in a place of its maker's does not unmap it.
class MappedRegion {
 public:
  MappedRegion() noexcept = default;
  MappedRegion(MappedRegion&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        unmaps_(other.unmaps_) {}
  MappedRegion& operator=(MappedRegion other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(unmaps_, other.unmaps_);
    return *this;
  }
  ~MappedRegion() {
    if (data_ != nullptr && unmaps_) ::munmap(data_, size_);
  }

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

 private:
  friend Result<MappedRegion> map_region(int descriptor, std::uint64_t bytes, Access access,
                                         std::byte* place);
  MappedRegion(std::byte* data, std::uint64_t size, bool unmaps) noexcept
      : data_(data), size_(size), unmaps_(unmaps) {}

  std::byte* data_ = nullptr;
  std::uint64_t size_ = 0;
  bool unmaps_ = true;
};

// The first `bytes` bytes of what the descriptor stands for, shared with all processes that map it.
// `place`: memory of the caller, which unmaps it in one piece with what lies around it; or null for
// wherever there is room.
inline Result<MappedRegion> map_region(int descriptor, std::uint64_t bytes, Access access,
                                       std::byte* place = nullptr) {
  const int flags = MAP_SHARED | (place == nullptr ? 0 : MAP_FIXED);
  void* const memory = ::mmap(place, bytes, static_cast<int>(access), flags, descriptor, 0);
  if (memory == MAP_FAILED) {
    return fail(ErrorCode::kNoSpace, "map " + std::to_string(bytes) + " bytes",
                "raise RLIMIT_AS or vm.max_map_count", errno);
  }
  return MappedRegion(static_cast<std::byte*>(memory), bytes, place == nullptr);
}

}  // namespace meterbank
