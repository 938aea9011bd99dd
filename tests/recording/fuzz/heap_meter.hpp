// SPDX-License-Identifier: Apache-2.0
//
// How much of the heap a part of a fuzzer takes at most, counted at each allocation.
#pragma once

#include <sanitizer/allocator_interface.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace meterbank::test {

// One at a time.
class HeapMeter {
 public:
  HeapMeter() {
    static const bool is_installed =
        ::__sanitizer_install_malloc_and_free_hooks(count_allocated, count_freed) != 0;
    if (!is_installed) std::abort();
    now_ = most_ = 0;
  }
  // More than there was when this began.
  [[nodiscard]] static std::uint64_t most() noexcept {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(most_, 0));
  }

 private:
  template <typename Pointer>
  static void count_allocated(Pointer /*memory*/, std::size_t size) {
    // relaxed, all of this file: sums, read by the thread that joined the others.
    const std::int64_t now =
        now_.fetch_add(static_cast<std::int64_t>(size), std::memory_order_relaxed) +
        static_cast<std::int64_t>(size);
    if (now > most_.load(std::memory_order_relaxed)) most_.store(now, std::memory_order_relaxed);
  }
  template <typename Pointer>
  static void count_freed(Pointer memory) {
    if (memory == nullptr) return;
    const std::size_t size = ::__sanitizer_get_allocated_size(const_cast<const void*>(memory));
    now_.fetch_sub(static_cast<std::int64_t>(size), std::memory_order_relaxed);
  }

  static inline std::atomic<std::int64_t> now_{0}, most_{0};
};

}  // namespace meterbank::test
