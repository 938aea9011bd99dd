// SPDX-License-Identifier: Apache-2.0
//
// Handles are numbers that are never used twice, so a stale or invented one is an error and not
// another query.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "perf_query.hpp"

namespace meterbank {

class QueryHandles {
 public:
  [[nodiscard]] std::uintptr_t insert(std::shared_ptr<PerfQuery> query);
  // Null for a handle that is not open. What is returned outlives a close by another thread.
  [[nodiscard]] std::shared_ptr<PerfQuery> find(std::uintptr_t handle) const;
  // False: it was not open.
  [[nodiscard]] bool erase(std::uintptr_t handle);

  // Of this process. Never destroyed: threads may still read while the process exits.
  static QueryHandles& all();

 private:
  static constexpr std::uintptr_t kStep = 4;  // the low bits of a handle are zero, as on Windows

  mutable std::mutex mutex_;
  std::uintptr_t last_ = 0;
  std::unordered_map<std::uintptr_t, std::shared_ptr<PerfQuery>> queries_;
};

}  // namespace meterbank
