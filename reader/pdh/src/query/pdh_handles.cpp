// SPDX-License-Identifier: Apache-2.0
#include "pdh_handles.hpp"

#include <utility>

namespace meterbank::pdh {

std::uintptr_t PdhHandles::insert_query(std::shared_ptr<PdhQuery> query) {
  const std::lock_guard lock(mutex_);
  const std::uintptr_t handle = last_ + kStep;
  queries_.emplace(handle, std::move(query));
  last_ = handle;
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
  std::shared_ptr<PdhQuery> last;  // so that the query is destroyed without the lock
  const std::lock_guard lock(mutex_);
  const auto found = queries_.find(handle);
  if (found == queries_.end()) return false;
  last = std::move(found->second);
  queries_.erase(found);
  std::erase_if(counters_, [handle](const auto& counter) { return counter.second == handle; });
  return true;
}

std::uintptr_t PdhHandles::next_counter() {
  const std::lock_guard lock(mutex_);
  last_ += kStep;
  return last_;
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

std::uintptr_t PdhHandles::insert_log(std::shared_ptr<OpenLog> log) {
  const std::lock_guard lock(mutex_);
  const std::uintptr_t handle = last_ + kStep;
  logs_.emplace(handle, std::move(log));
  last_ = handle;
  return handle;
}

std::shared_ptr<OpenLog> PdhHandles::log(std::uintptr_t handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = logs_.find(handle);
  return found == logs_.end() ? nullptr : found->second;
}

bool PdhHandles::close_log(std::uintptr_t handle) {
  std::shared_ptr<OpenLog> last;  // so that its file is closed without the lock
  const std::lock_guard lock(mutex_);
  const auto found = logs_.find(handle);
  if (found == logs_.end()) return false;
  last = std::move(found->second);
  logs_.erase(found);
  return true;
}

PdhHandles& PdhHandles::all() {
  static PdhHandles& handles = *new PdhHandles;
  return handles;
}

}  // namespace meterbank::pdh
