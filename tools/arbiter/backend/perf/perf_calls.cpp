// SPDX-License-Identifier: Apache-2.0
#include "arbiter/backend/perf/perf_calls.hpp"

#include <linux/hw_breakpoint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace meterbank::arbiter {

int PerfCalls::open(const perf_event_attr& attributes, pid_t task, int cpu) {
  return open_in_group(attributes, task, cpu, -1);
}

int PerfCalls::open_in_group(const perf_event_attr& attributes, pid_t task, int cpu, int leader) {
  const long descriptor =
      ::syscall(SYS_perf_event_open, &attributes, task, cpu, leader, PERF_FLAG_FD_CLOEXEC);
  return descriptor < 0 ? -errno : static_cast<int>(descriptor);
}

std::int64_t PerfCalls::read(int descriptor, std::span<std::uint64_t> words) {
  for (;;) {
    const ssize_t bytes = ::read(descriptor, words.data(), words.size_bytes());
    if (bytes >= 0) return bytes;
    if (errno != EINTR) return -errno;
  }
}

int PerfCalls::control(int descriptor, unsigned long request, void* argument) {
  return ::ioctl(descriptor, request, argument) < 0 ? -errno : 0;
}

void PerfCalls::close(int descriptor) { ::close(descriptor); }

bool PerfCalls::has_counting_breakpoints() {
  std::atomic<std::uint64_t> watched{0};
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = PERF_TYPE_BREAKPOINT;
  attributes.bp_type = HW_BREAKPOINT_W;
  attributes.bp_addr = reinterpret_cast<std::uint64_t>(&watched);
  attributes.bp_len = HW_BREAKPOINT_LEN_8;
  attributes.exclude_kernel = 1;
  const EventFile event(*this, PerfCalls::open(attributes, 0, -1));
  if (!event) return true;
  // Relaxed: only this thread looks, and that the store is made is all that counts.
  watched.store(1, std::memory_order_relaxed);
  std::uint64_t count = 0;
  return PerfCalls::read(event.get(), {&count, 1}) != sizeof count || count != 0;
}

}  // namespace meterbank::arbiter
