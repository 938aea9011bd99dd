// SPDX-License-Identifier: Apache-2.0
//
// What a PDH query handle stands for: counters by path, and their values in the last sample.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "counter_source.hpp"
#include "pdh.h"
#include "repeated_collection.hpp"

namespace meterbank::pdh {

// A counter of a query as it was added.
struct CounterFacts {
  PathElements path;
  FoundCounter found;
  std::uintptr_t user = 0;
  std::uintptr_t query_user = 0;
  LONG scale = 0;
};

// Of the instances that a counter's path means, in the last sample.
struct LastValues {
  std::span<const Reading> readings;
  DWORD absent = PDH_CSTATUS_ITEM_NOT_VALIDATED;  // why there are none
  std::int64_t local_time = 0;
};

// Thread safety: any thread may call any function; calls wait for each other. Errors: may throw
// std::bad_alloc only; the query then has the counters that it had. A counter that is not in the
// query is PDH_INVALID_HANDLE.
class PdhQuery {
 public:
  PdhQuery(std::unique_ptr<CounterSource> source, std::uintptr_t user)
      : source_(std::move(source)), user_(user) {}

  [[nodiscard]] bool is_real_time() const noexcept { return source_->is_real_time(); }

  // The number is that of the counter's handle.
  [[nodiscard]] PDH_STATUS add(std::uintptr_t number, const PathElements& path,
                               std::uintptr_t user);
  [[nodiscard]] PDH_STATUS remove(std::uintptr_t number);
  [[nodiscard]] PDH_STATUS set_scale(std::uintptr_t number, LONG scale);

  [[nodiscard]] PDH_STATUS set_range(std::int64_t begin, std::int64_t end) {
    const std::lock_guard lock(mutex_);
    return source_->set_range(begin, end);
  }

  // The time is that of the sample, even where there is no data.
  [[nodiscard]] PDH_STATUS collect(std::int64_t& local_time);

  // On a thread of its own, every so many seconds, each time setting the event. Ends the thread of
  // an earlier call; 0 seconds: that alone.
  [[nodiscard]] PDH_STATUS collect_repeatedly(DWORD seconds, HANDLE event);
  // Ends that thread, and waits for a collection that runs.
  void end_repetition() noexcept;

  // Calls `use(facts, last)` with the last values of a counter. The result is that of `use`.
  template <typename F>
  [[nodiscard]] PDH_STATUS read(std::uintptr_t number, CookOptions options, F&& use) {
    const std::lock_guard lock(mutex_);
    const Counter* const counter = find(number);
    return counter == nullptr ? PDH_INVALID_HANDLE
                              : use(counter->facts, last_values(*counter, options));
  }
  // Collects, and calls `use(facts, last)` for each counter in the order in which they were added.
  template <typename F>
  [[nodiscard]] PDH_STATUS collect_all(std::int64_t& local_time, F&& use) {
    const std::lock_guard lock(mutex_);
    const PDH_STATUS status = collect_locked(local_time);
    if (status != ERROR_SUCCESS && status != PDH_NO_DATA) return status;
    for (const Counter& counter : counters_) use(counter.facts, last_values(counter, {}));
    return status;
  }

 private:
  struct Counter {
    std::uintptr_t number = 0;
    CounterFacts facts;
    std::optional<std::size_t> sampled_as;  // its position in the last sample
  };
  using Readings = std::vector<std::vector<Reading>>;

  [[nodiscard]] const Counter* find(std::uintptr_t number) const noexcept;
  [[nodiscard]] LastValues last_values(const Counter& counter, CookOptions options);
  [[nodiscard]] PDH_STATUS collect_locked(std::int64_t& local_time);

  mutable std::mutex mutex_;
  const std::unique_ptr<CounterSource> source_;
  const std::uintptr_t user_;
  std::vector<Counter> counters_;
  std::array<std::optional<Readings>, 2> readings_;  // of the sample, without a cap and with it

  std::mutex repeating_;                          // for the next member
  std::unique_ptr<RepeatedCollection> repeated_;  // last: its thread uses the others
};

}  // namespace meterbank::pdh
