// SPDX-License-Identifier: Apache-2.0
#include "pdh_query.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <system_error>

#include "winbase.h"

namespace meterbank::pdh {

const PdhQuery::Counter* PdhQuery::find(std::uintptr_t number) const noexcept {
  const auto found =
      std::find_if(counters_.begin(), counters_.end(),
                   [number](const Counter& counter) { return counter.number == number; });
  return found == counters_.end() ? nullptr : &*found;
}

PDH_STATUS PdhQuery::add(std::uintptr_t number, const PathElements& path, std::uintptr_t user) {
  const std::lock_guard lock(mutex_);
  Counter counter;
  counter.number = number;
  counter.facts.path = path;
  counter.facts.user = user;
  counter.facts.query_user = user_;
  const PDH_STATUS status = source_->find(path, counter.facts.found);
  if (status == ERROR_SUCCESS) counters_.push_back(std::move(counter));
  return status;
}

PDH_STATUS PdhQuery::remove(std::uintptr_t number) {
  const std::lock_guard lock(mutex_);
  const auto removed = std::erase_if(
      counters_, [number](const Counter& counter) { return counter.number == number; });
  return removed == 0 ? PDH_INVALID_HANDLE : ERROR_SUCCESS;
}

PDH_STATUS PdhQuery::set_scale(std::uintptr_t number, LONG scale) {
  const std::lock_guard lock(mutex_);
  for (Counter& counter : counters_) {
    if (counter.number != number) continue;
    counter.facts.scale = scale;
    return ERROR_SUCCESS;
  }
  return PDH_INVALID_HANDLE;
}

PDH_STATUS PdhQuery::collect(std::int64_t& local_time) {
  const std::lock_guard lock(mutex_);
  return collect_locked(local_time);
}

void PdhQuery::end_repetition() noexcept {
  const std::lock_guard lock(repeating_);
  repeated_.reset();
}

PDH_STATUS PdhQuery::collect_repeatedly(DWORD seconds, HANDLE event) {
  // Whatever comes of a collection, the program looks at the status of its counters.
  const auto collect_and_tell = [this, event] {
    try {
      std::int64_t local_time = 0;
      static_cast<void>(collect(local_time));
    } catch (const std::bad_alloc&) {  // the counters have no values until the next collection
    }
    if (event != nullptr) SetEvent(event);
  };
  const std::lock_guard lock(repeating_);
  repeated_.reset();
  if (seconds == 0) return ERROR_SUCCESS;
  {
    const std::lock_guard counters_lock(mutex_);
    if (counters_.empty()) return PDH_NO_DATA;
  }
  try {
    repeated_ =
        std::make_unique<RepeatedCollection>(std::chrono::seconds(seconds), collect_and_tell);
  } catch (const std::system_error&) {
    return PDH_MEMORY_ALLOCATION_FAILURE;
  }
  return ERROR_SUCCESS;
}

PDH_STATUS PdhQuery::collect_locked(std::int64_t& local_time) {
  local_time = 0;
  if (counters_.empty()) return PDH_NO_DATA;
  std::vector<FoundCounter> counters;
  counters.reserve(counters_.size());
  for (const Counter& counter : counters_) counters.push_back(counter.facts.found);
  readings_ = {};
  for (Counter& counter : counters_) counter.sampled_as.reset();
  const PDH_STATUS status = source_->collect(std::move(counters));
  if (status != ERROR_SUCCESS && status != PDH_NO_DATA) return status;
  local_time = source_->local_time();
  for (std::size_t index = 0; index < counters_.size(); ++index) {
    counters_[index].sampled_as = index;
  }
  return status;
}

LastValues PdhQuery::last_values(const Counter& counter, CookOptions options) {
  if (!counter.sampled_as) return {};
  std::optional<Readings>& known = readings_[options.cap_percent ? 1 : 0];
  if (!known) known = source_->readings(options);
  const std::size_t at = *counter.sampled_as;
  return {(*known)[at], source_->why_absent(at), source_->local_time()};
}

}  // namespace meterbank::pdh
