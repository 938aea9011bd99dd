// SPDX-License-Identifier: Apache-2.0
//
// Handles are numbers that are never used twice, so a stale or invented one is an error and not
// another query, counter or log.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "../log/open_log.hpp"
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
  // With its counters. False: it was not open.
  [[nodiscard]] bool close_query(std::uintptr_t handle);

  // A number for a counter of the query, which is not open yet.
  [[nodiscard]] std::uintptr_t next_counter();
  // False: the query was closed meanwhile.
  [[nodiscard]] bool insert_counter(std::uintptr_t counter, std::uintptr_t query);
  [[nodiscard]] bool close_counter(std::uintptr_t handle);

  [[nodiscard]] std::uintptr_t insert_log(std::shared_ptr<OpenLog> log);
  [[nodiscard]] std::shared_ptr<OpenLog> log(std::uintptr_t handle) const;
  [[nodiscard]] bool close_log(std::uintptr_t handle);

  // Of this process. Never destroyed: threads may still read while the process exits.
  static PdhHandles& all();

 private:
  static constexpr std::uintptr_t kStep = 4;  // the low bits of a handle are zero, as on Windows

  mutable std::mutex mutex_;
  std::uintptr_t last_ = std::uintptr_t{0x706468} << 32;  // far from handles of kernel objects
  std::unordered_map<std::uintptr_t, std::shared_ptr<PdhQuery>> queries_;
  std::unordered_map<std::uintptr_t, std::uintptr_t> counters_;  // to their queries
  std::unordered_map<std::uintptr_t, std::shared_ptr<OpenLog>> logs_;
};

}  // namespace meterbank::pdh
