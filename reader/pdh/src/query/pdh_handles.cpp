// SPDX-License-Identifier: Apache-2.0
#include "pdh_handles.hpp"

#include <utility>

#include "meterbank/windows/handle_table.hpp"

namespace meterbank::pdh {

std::uintptr_t PdhHandles::insert_query(std::shared_ptr<PdhQuery> query) {
  const std::uintptr_t handle = windows::next_handle();
  const std::lock_guard lock(mutex_);
  queries_.emplace(handle, std::move(query));
  return handle;
}

std::shared_ptr<PdhQuery> PdhHandles::query(std::uintptr_t handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = queries_.find(handle);
  return found == queries_.end() ? nullptr : found->second;
}

std::shared_ptr<PdhQuery> PdhHandles::query_of_counter(std::uintptr_t handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = counters_.find(handle);
  return found == counters_.end() ? nullptr : queries_.at(found->second);
}

bool PdhHandles::close_query(std::uintptr_t handle) {
  std::shared_ptr<PdhQuery> closed;  // without the lock: its thread is waited for
  {
    const std::lock_guard lock(mutex_);
    const auto found = queries_.find(handle);
    if (found == queries_.end()) return false;
    closed = std::move(found->second);
    queries_.erase(found);
    std::erase_if(counters_, [handle](const auto& counter) { return counter.second == handle; });
  }
  closed->end_repetition();
  return true;
}

bool PdhHandles::insert_counter(std::uintptr_t counter, std::uintptr_t query) {
  const std::lock_guard lock(mutex_);
  if (!queries_.contains(query)) return false;
  counters_.emplace(counter, query);
  return true;
}

bool PdhHandles::close_counter(std::uintptr_t handle) {
  const std::lock_guard lock(mutex_);
  return counters_.erase(handle) != 0;
}

PdhHandles& PdhHandles::all() {
  static PdhHandles& handles = *new PdhHandles;
  return handles;
}

}  // namespace meterbank::pdh
