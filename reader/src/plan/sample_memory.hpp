// SPDX-License-Identifier: Apache-2.0
//
// Memory for the words of samples. It begins at a cache line, so that storing a
// register of 64 bytes writes to one line. Memory of at least one huge page begins at a huge page,
// and the kernel is asked to use huge pages for it.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

#include "meterbank/shm/segment_layout.hpp"

namespace meterbank {

template <typename T>
struct LineAllocator {
  using value_type = T;

  LineAllocator() noexcept = default;
  template <typename U>
  LineAllocator(const LineAllocator<U>&) noexcept {}

  [[nodiscard]] T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    void* const memory = ::operator new(bytes, alignment_of(bytes));
    // Without huge pages the kernel refuses, which does no harm.
    if (bytes >= kHugePage) static_cast<void>(::madvise(memory, bytes, MADV_HUGEPAGE));
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    ::operator delete(memory, alignment_of(count * sizeof(T)));
  }
  template <typename U>
  bool operator==(const LineAllocator<U>&) const noexcept {
    return true;
  }

 private:
  static constexpr std::size_t kHugePage = std::size_t{2} << 20;

  static std::align_val_t alignment_of(std::size_t bytes) noexcept {
    return std::align_val_t{bytes >= kHugePage ? kHugePage : kCacheLine};
  }
};

using SampleWords = std::vector<std::uint64_t, LineAllocator<std::uint64_t>>;

}  // namespace meterbank
