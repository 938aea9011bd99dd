// SPDX-License-Identifier: Apache-2.0
#include "query_handles.hpp"

#include <utility>

namespace meterbank {

std::uintptr_t QueryHandles::insert(std::shared_ptr<PerfQuery> query) {
  const std::lock_guard lock(mutex_);
  const std::uintptr_t handle = last_ + kStep;
  queries_.emplace(handle, std::move(query));
  last_ = handle;
  return handle;
}

std::shared_ptr<PerfQuery> QueryHandles::find(std::uintptr_t handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = queries_.find(handle);
  return found == queries_.end() ? nullptr : found->second;
}

bool QueryHandles::erase(std::uintptr_t handle) {
  std::shared_ptr<PerfQuery> last;  // so that the query is destroyed without the lock
  const std::lock_guard lock(mutex_);
  const auto found = queries_.find(handle);
  if (found == queries_.end()) return false;
  last = std::move(found->second);
  queries_.erase(found);
  return true;
}

QueryHandles& QueryHandles::all() {
  static QueryHandles& handles = *new QueryHandles;
  return handles;
}

}  // namespace meterbank
