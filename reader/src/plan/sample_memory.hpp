// SPDX-License-Identifier: Apache-2.0
//
// Memory for what is copied of many blocks. It begins at a cache line, so that a register of a
// whole line is stored to one line. What is larger than a huge page begins at one and asks for huge
// pages: first touch and address translation cost a share of it.
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
    // A kernel without huge pages refuses, and the memory is as good.
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
