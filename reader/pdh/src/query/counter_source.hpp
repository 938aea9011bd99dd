// SPDX-License-Identifier: Apache-2.0
//
// Where the counters of a query come from: the providers of this machine, or logs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../names/found_counter.hpp"
#include "readings.hpp"

namespace meterbank::pdh {

// Thread safety: one thread at a time. Errors: may throw std::bad_alloc only.
class CounterSource {
 public:
  CounterSource() = default;
  CounterSource(const CounterSource&) = delete;
  CounterSource& operator=(const CounterSource&) = delete;
  virtual ~CounterSource() = default;

  [[nodiscard]] virtual bool is_real_time() const noexcept = 0;
  // Samples lie between these two moments from now on, beginning with the first. Only of logs.
  [[nodiscard]] virtual PDH_STATUS set_range(std::int64_t begin, std::int64_t end) = 0;
  // What the path means here.
  [[nodiscard]] virtual PDH_STATUS find(const PathElements& path, FoundCounter& found) = 0;
  // Takes the next sample of these counters. What the functions below say is about this sample.
  [[nodiscard]] virtual PDH_STATUS collect(std::vector<FoundCounter> counters) = 0;
  // As Windows' clocks on the wall count it.
  [[nodiscard]] virtual std::int64_t local_time() const noexcept = 0;
  // By counter.
  [[nodiscard]] virtual std::vector<std::vector<Reading>> readings(CookOptions options) const = 0;
  // The status of a counter without readings.
  [[nodiscard]] virtual DWORD why_absent(std::size_t counter) const noexcept = 0;
};

}  // namespace meterbank::pdh
