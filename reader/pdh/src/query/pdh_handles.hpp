// SPDX-License-Identifier: Apache-2.0
//
// Handles of queries and of their counters, which end with them. Logs have a table of their own:
// LogHandles.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "pdh_query.hpp"

namespace meterbank::pdh {

// Thread safety: any thread may call any function. Errors: may throw std::bad_alloc only, and is
// then as it was.
class PdhHandles {
 public:
  [[nodiscard]] std::uintptr_t insert_query(std::shared_ptr<PdhQuery> query);
  // Null for a handle that is not open. What is returned outlives a close by another thread.
  [[nodiscard]] std::shared_ptr<PdhQuery> query(std::uintptr_t handle) const;
  // The query of a counter.
  [[nodiscard]] std::shared_ptr<PdhQuery> query_of_counter(std::uintptr_t handle) const;
  // With its counters and its thread, if it collects by itself. False: it was not open.
  [[nodiscard]] bool close_query(std::uintptr_t handle);

  // The number is next_handle()'s. False: the query was closed meanwhile.
  [[nodiscard]] bool insert_counter(std::uintptr_t counter, std::uintptr_t query);
  [[nodiscard]] bool close_counter(std::uintptr_t handle);

  // Of this process. Never destroyed: threads may still read while the process exits.
  static PdhHandles& all();

 private:
  mutable std::mutex mutex_;
  std::unordered_map<std::uintptr_t, std::shared_ptr<PdhQuery>> queries_;
  std::unordered_map<std::uintptr_t, std::uintptr_t> counters_;  // to their queries
};

}  // namespace meterbank::pdh
