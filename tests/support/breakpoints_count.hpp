// SPDX-License-Identifier: Apache-2.0
//
// Some virtual machines have hardware breakpoints that can be set and never count.
#pragma once

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

#include "meterbank/base/unique_fd.hpp"

namespace meterbank::test {

// True also where none can be set: then that is what there is to say.
[[nodiscard]] inline bool breakpoints_count() {
  std::atomic<std::uint64_t> watched{0};
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_BREAKPOINT;
  attributes.bp_type = HW_BREAKPOINT_W;
  attributes.bp_addr = reinterpret_cast<std::uint64_t>(&watched);
  attributes.bp_len = HW_BREAKPOINT_LEN_8;
  attributes.exclude_kernel = 1;
  const UniqueFd event(static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)));
  if (!event) return true;
  for (std::uint64_t write = 1; write <= 3; ++write)
    watched.store(write, std::memory_order_relaxed);
  std::uint64_t count = 0;
  return ::read(event.get(), &count, sizeof count) != sizeof count || count != 0;
}

}  // namespace meterbank::test

#define SKIP_UNLESS_BREAKPOINTS_COUNT()                               \
  if (!meterbank::test::breakpoints_count()) {                        \
    GTEST_SKIP() << "this machine sets breakpoints that never count"; \
  }                                                                   \
  static_assert(true, "a semicolon follows")
