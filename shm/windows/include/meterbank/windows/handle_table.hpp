// SPDX-License-Identifier: Apache-2.0
//
// Handles that can be used after their end: numbers, never given twice, that lead to an object
// while it is open. All handles that programs for Windows hold here are numbered by next_handle(),
// so that one of a query is never one of an event.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>

namespace meterbank::windows {

// Unlike any other handle of this process, and unlike the small numbers that mistakes are made of.
inline std::uintptr_t next_handle() noexcept {
  static std::atomic<std::uintptr_t> last{0x10000};
  return last.fetch_add(16, std::memory_order_relaxed);  // relaxed: only has to be unique
}

template <typename Object>
class HandleTable {
 public:
  // Of the process. Never destroyed: a program may close what it has while it ends.
  static HandleTable& shared() {
    static auto* const table = new HandleTable;
    return *table;
  }

  std::uintptr_t insert(std::shared_ptr<Object> object) {
    const std::uintptr_t handle = next_handle();
    const std::lock_guard lock(mutex_);
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  // The same for handles that are addresses on Windows, where programs may look at the memory
  // there. It is 8 bytes, and never given back, so that the handle is never given twice.
  std::uintptr_t insert_at_address(std::shared_ptr<Object> object) {
    const std::lock_guard lock(mutex_);
    const auto handle = reinterpret_cast<std::uintptr_t>(&addresses_.emplace_back(0));
    objects_.emplace(handle, std::move(object));
    return handle;
  }
  // Null: the handle is invalid or closed.
  [[nodiscard]] std::shared_ptr<Object> find(const void* handle) const {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(reinterpret_cast<std::uintptr_t>(handle));
    return found == objects_.end() ? nullptr : found->second;
  }
  // For the thread that closes it.
  std::shared_ptr<Object> take(const void* handle) noexcept {
    return take(reinterpret_cast<std::uintptr_t>(handle));
  }
  std::shared_ptr<Object> take(std::uintptr_t handle) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<Object> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::uintptr_t, std::shared_ptr<Object>> objects_;
  std::deque<std::uint64_t> addresses_;  // which never moves what it holds
};

}  // namespace meterbank::windows
