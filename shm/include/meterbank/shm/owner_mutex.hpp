// SPDX-License-Identifier: Apache-2.0
//
// How a reader learns with one load that the owner of shared memory has died. A thread of the owner
// holds a robust mutex in that memory until an orderly end. If the thread ends before, in whatever
// way, the kernel marks the mutex.
#pragma once

#include <array>
#include <cstdint>

#include "meterbank/shm/segment_layout.hpp"

namespace meterbank {

using OwnerMutexWords = decltype(SegmentHeader::owner_mutex);

// Thread safety: both by the thread that stands for the owner's life. Errors: none.
void hold_owner_mutex(OwnerMutexWords& words) noexcept;
void release_owner_mutex(OwnerMutexWords& words) noexcept;

// A hint: a hostile owner can forge it. Wait-free: one load.
[[nodiscard]] inline bool has_owner_died(const OwnerMutexWords& words) noexcept {
  // The C library owns the other words of the mutex; the first one is a futex, an atomic by nature.
  const auto& futex = *reinterpret_cast<const SharedWord32*>(words.data());
  return (futex.load(std::memory_order_relaxed) & kOwnerDied) != 0;  // relaxed: orders nothing
}

// A thread holds it, and has not died. Wait-free: one load.
[[nodiscard]] inline bool is_owner_held(const OwnerMutexWords& words) noexcept {
  const auto& futex = *reinterpret_cast<const SharedWord32*>(words.data());
  const std::uint32_t word = futex.load(std::memory_order_relaxed);  // relaxed: orders nothing
  return (word & kOwnerDied) == 0 && (word & kOwnerThread) != 0;
}

}  // namespace meterbank
